import Operations
import Synchronization
import TestSupport
import Testing

/// Rule A1: an announcement of a property counts as one of every state that depends on it.
@Suite(.timeLimit(.minutes(5))) struct DependentStatesTests {
    /// The way in which a subclass announces the property from which its states derive.
    enum Spelling: CaseIterable {
        case name, keyPath, registered, wrapper, generic, set
    }

    private static func operation(_ spelling: Spelling, _ log: Journal<String> = Journal()) -> Deriving {
        switch spelling {
        case .name: DerivingByName(log)
        case .keyPath: DerivingByKeyPath(log)
        case .registered: DerivingByRegisteredKeyPath(log)
        case .wrapper: DerivingByWrapper(log)
        case .generic: DerivingGenerically(log)
        case .set: DerivingBySet(log)
        }
    }

    @Test(arguments: Spelling.allCases)
    func `a queue starts, ends and completes an operation that announces only its state property`(spelling: Spelling) {
        let (queue, log) = (OperationQueue(), Journal<String>())
        let operation = Self.operation(spelling, log)
        let dependent = BlockOperation { log.append("dependent") }
        dependent.addDependency(operation)
        let completed = Gate()
        operation.completionBlock = { completed.open() }
        queue.addOperation(operation)
        queue.addOperation(dependent)
        #expect(!operation.isReady)
        operation.change(to: .ready)
        queue.waitUntilAllOperationsAreFinished()
        completed.pass()
        #expect(log.entries == ["start", "dependent"])
    }

    @Test(arguments: Spelling.allCases)
    func `a waiter and a dependent of an operation in no queue are notified of its end`(spelling: Spelling) {
        let operation = Self.operation(spelling)
        let (queue, dependent) = (OperationQueue(), BlockOperation {})
        dependent.addDependency(operation)
        queue.addOperation(dependent)
        let waiter = TestThread { operation.waitUntilFinished() }
        operation.change(to: .ready)
        operation.start()
        waiter.join()
        dependent.waitUntilFinished()
        #expect(operation.isFinished && dependent.isFinished)
    }

    @Test(arguments: Spelling.allCases)
    func `observers of derived states are notified when the base property is announced`(spelling: Spelling) {
        let (operation, log) = (Self.operation(spelling), Journal<String>())
        let tokens = [
            operation.observe(\.isReady, options: [.old, .new]) { log.append("ready \($1.oldValue!) \($1.newValue!)") },
            operation.observe(\.isExecuting, options: .new) { log.append("executing \($1.newValue!)") },
            operation.observe(\.isFinished, options: .new) { log.append("finished \($1.newValue!)") },
        ]
        operation.change(to: .ready)
        #expect(log.entries.contains("ready false true"))
        operation.change(to: .executing)
        #expect(log.entries.contains("executing true") && !log.entries.contains("finished true"))
        operation.change(to: .finished)
        #expect(log.entries.contains("finished true") && log.entries.contains("executing false"))
        #expect(log.entries.filter { $0 == "finished true" }.count == 1)
        for token in tokens { token.invalidate() }
    }

    /// The same for an own flag from which `isCancelled` derives.
    @Test func `announcing an operation's own cancelled flag makes the waiting operation ready`() {
        let (queue, operation) = (OperationQueue(), Stopping())
        operation.addDependency(BlockOperation {})
        queue.addOperation(operation)
        operation.cancel()
        queue.waitUntilAllOperationsAreFinished()
        #expect(operation.isFinished && operation.isCancelled)
    }

    /// A state may also derive from a property of `Operation` itself.
    @Test func `a state that depends on the name follows the name`() {
        let (queue, operation) = (OperationQueue(), Named())
        queue.addOperation(operation)
        operation.name = "go"
        queue.waitUntilAllOperationsAreFinished()
        #expect(operation.isFinished)
    }

    /// A path of names leads to a property of another object.
    @Test func `the queue, a dependent and a waiter follow a property of another object`() {
        let (queue, model, log) = (OperationQueue(), Model(), Journal<String>())
        let (queued, byHand) = (Modelled(model, log), Modelled(Model(), log))
        let dependent = BlockOperation { log.append("dependent") }
        dependent.addDependency(byHand)
        queue.addOperation(queued)
        queue.addOperation(dependent)
        let waiter = TestThread { byHand.waitUntilFinished() }
        model.step = 1
        queued.waitUntilFinished()
        byHand.model = Model(step: 1)
        byHand.start()
        waiter.join()
        queue.waitUntilAllOperationsAreFinished()
        #expect(log.entries == ["start", "start", "dependent"])
    }

    @Test func `a waiter finds an end that came before the other object was observed`() {
        let model = Model()
        let operation = Modelled(model, Journal())
        model.step = 2
        operation.waitUntilFinished()
        #expect(operation.isFinished)
    }

    @Test func `announcing a property that no state depends on reads no state`() {
        let (queue, operation) = (OperationQueue(), Counting())
        queue.isSuspended = true
        queue.addOperation(operation)
        let asked = operation.asked.value
        operation.willChangeValue(forKey: "label")
        operation.didChangeValue(forKey: "label")
        operation.willChangeValue(for: \.label)
        operation.didChangeValue(for: \.label)
        #expect(operation.asked.value == asked)
        queue.isSuspended = false
        queue.waitUntilAllOperationsAreFinished()
    }
}

/// Keeps one state, from which the others derive. The subclasses announce it, each in its own way.
private class Deriving: Operation, @unchecked Sendable {
    // Sendable: the state is behind a lock.
    enum State { case waiting, ready, executing, finished }

    private let log: Journal<String>
    private let kept = Guarded(State.waiting)

    init(_ log: Journal<String> = Journal()) { self.log = log }

    var current: State { kept.withLock { $0 } }

    func keep(_ state: State) { kept.withLock { $0 = state } }

    /// Announces and changes the state.
    func change(to state: State) {}

    override class func keyPathsForValuesAffectingValue(forKey key: String) -> Set<String> {
        ["isReady", "isExecuting", "isFinished"].contains(key) ? ["state"] : []
    }

    override var isReady: Bool { super.isReady && current == .ready }
    override var isExecuting: Bool { current == .executing }
    override var isFinished: Bool { current == .finished }

    override func start() {
        log.append("start")
        change(to: .executing)
        change(to: .finished)
    }
}

private final class DerivingByName: Deriving, @unchecked Sendable {
    override func change(to state: State) {
        willChangeValue(forKey: "state")
        keep(state)
        didChangeValue(forKey: "state")
    }
}

private class DerivingByKeyPath: Deriving, @unchecked Sendable {
    var state: State { current }

    override func change(to state: State) {
        willChangeValue(for: \.state)
        keep(state)
        didChangeValue(for: \.state)
    }
}

private final class DerivingByRegisteredKeyPath: DerivingByKeyPath, @unchecked Sendable {
    override class var additionalKeyValueKeys: [KeyValueKey] {
        [KeyValueKey("state", \DerivingByKeyPath.state), KeyValueKey("state", \DerivingByRegisteredKeyPath.state)]
    }
}

private final class DerivingByWrapper: Deriving, @unchecked Sendable {
    // Sendable: one thread after the other uses the state in these tests.
    @KeyValueObserved private var state = State.waiting

    override var current: State { state }

    override func change(to state: State) { self.state = state }
}

private final class DerivingGenerically: Deriving, @unchecked Sendable {
    override func change(to state: State) { Self.announce(in: self) { keep(state) } }

    /// A class without knowledge of operations.
    private static func announce(in object: some KeyValueObservable, _ change: () -> Void) {
        object.willChangeValue(forKey: "state")
        change()
        object.didChangeValue(forKey: "state")
    }
}

/// Announces its state as the mutation of a set.
private final class DerivingBySet: Deriving, @unchecked Sendable {
    override func change(to state: State) {
        willChangeValue(forKey: "state", withSetMutation: .set, using: [state])
        keep(state)
        didChangeValue(forKey: "state", withSetMutation: .set, using: [state])
    }
}

private final class Stopping: Operation, @unchecked Sendable {
    private let flag = Guarded(false)

    override var isCancelled: Bool { flag.withLock { $0 } }

    override class func keyPathsForValuesAffectingValue(forKey key: String) -> Set<String> {
        key == "isCancelled" ? ["flag"] : []
    }

    override func cancel() {
        willChangeValue(forKey: "flag")
        flag.withLock { $0 = true }
        didChangeValue(forKey: "flag")
    }
}

private final class Named: Operation, @unchecked Sendable {
    override var isReady: Bool { super.isReady && name == "go" }

    override class func keyPathsForValuesAffectingValue(forKey key: String) -> Set<String> {
        key == "isReady" ? ["name"] : []
    }
}

private final class Counting: Operation, @unchecked Sendable {
    let asked = Atomic64()
    let label = "label"

    override var isReady: Bool {
        asked.add(1)
        return super.isReady
    }
}

private final class Model: KeyValueObservable, @unchecked Sendable {
    // Sendable: the number is behind a lock.
    let keyValueRegistrar = KeyValueRegistrar()
    private let kept: Guarded<Int>

    init(step: Int = 0) { kept = Guarded(step) }

    var step: Int {
        get { kept.withLock { $0 } }
        set {
            willChangeValue(for: \.step)
            kept.withLock { $0 = newValue }
            didChangeValue(for: \.step)
        }
    }

    static var keyValueKeys: [KeyValueKey] { [KeyValueKey("step", \Model.step)] }
}

/// Ready at the model's step 1, finished at 2.
private final class Modelled: Operation, @unchecked Sendable {
    // Sendable: the model is behind a lock.
    private let kept: Guarded<Model>
    private let log: Journal<String>

    init(_ model: Model, _ log: Journal<String>) {
        kept = Guarded(model)
        self.log = log
    }

    var model: Model {
        get { kept.withLock { $0 } }
        set {
            willChangeValue(for: \.model)
            kept.withLock { $0 = newValue }
            didChangeValue(for: \.model)
        }
    }

    override class var additionalKeyValueKeys: [KeyValueKey] { [KeyValueKey("model", \Modelled.model)] }

    override class func keyPathsForValuesAffectingValue(forKey key: String) -> Set<String> {
        ["isReady", "isFinished"].contains(key) ? ["model.step"] : []
    }

    override var isReady: Bool { super.isReady && model.step >= 1 }
    override var isFinished: Bool { model.step >= 2 }

    override func start() {
        log.append("start")
        model.step = 2
    }
}
