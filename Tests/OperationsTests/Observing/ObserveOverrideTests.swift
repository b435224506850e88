import Operations
import TestSupport
import Testing

/// Rule A2 for every spelling of an override: an observer is notified of each announcement, also of one without a change.
@Suite(.timeLimit(.minutes(5))) struct ObserveOverrideTests {
    typealias Base = ValuesOperation

    // Each class overrides all states. The overrides are open, final, or in a final class.
    class OpenOverrides: Base, @unchecked Sendable {
        override var isReady: Bool { values.isReady }
        override var isExecuting: Bool { values.isExecuting }
        override var isFinished: Bool { values.isFinished }
        override var isCancelled: Bool { values.isCancelled }
        override var isAsynchronous: Bool { values.isAsynchronous }
        override var queuePriority: QueuePriority {
            get { values.queuePriority }
            set { values.queuePriority = newValue }
        }
        override var name: String? {
            get { values.name }
            set { values.name = newValue }
        }
    }

    class FinalOverrides: Base, @unchecked Sendable {
        override final var isReady: Bool { values.isReady }
        override final var isExecuting: Bool { values.isExecuting }
        override final var isFinished: Bool { values.isFinished }
        override final var isCancelled: Bool { values.isCancelled }
        override final var isAsynchronous: Bool { values.isAsynchronous }
        override final var queuePriority: QueuePriority {
            get { values.queuePriority }
            set { values.queuePriority = newValue }
        }
        override final var name: String? {
            get { values.name }
            set { values.name = newValue }
        }
    }

    /// Inherits the final overrides, so that the key paths are spelled with one class and the object has another.
    final class FinalSubclass: FinalOverrides, @unchecked Sendable {}

    /// The key path of a property, as one class spells it. A literal in generic code would mean the property of the base class.
    struct Spelled<Object: Base> {
        let name: String
        let observe: (Object, Calls) -> NSKeyValueObservation
        let announce: (Object) -> Void

        init<Value>(_ name: String, _ path: KeyPath<Object, Value>) {
            self.name = name
            observe = { object, calls in object.observe(path) { _, _ in calls.note(name) } }
            announce = { object in
                object.willChangeValue(for: path)
                object.didChangeValue(for: path)
            }
        }
    }

    static var open: [Spelled<OpenOverrides>] {
        [
            .init("isReady", \.isReady), .init("isExecuting", \.isExecuting), .init("isFinished", \.isFinished),
            .init("isCancelled", \.isCancelled), .init("isAsynchronous", \.isAsynchronous),
            .init("queuePriority", \.queuePriority), .init("name", \.name),
        ]
    }

    static var final: [Spelled<FinalOverrides>] {
        [
            .init("isReady", \.isReady), .init("isExecuting", \.isExecuting), .init("isFinished", \.isFinished),
            .init("isCancelled", \.isCancelled), .init("isAsynchronous", \.isAsynchronous),
            .init("queuePriority", \.queuePriority), .init("name", \.name),
        ]
    }

    static var subclass: [Spelled<FinalSubclass>] {
        [
            .init("isReady", \.isReady), .init("isExecuting", \.isExecuting), .init("isFinished", \.isFinished),
            .init("isCancelled", \.isCancelled), .init("isAsynchronous", \.isAsynchronous),
            .init("queuePriority", \.queuePriority), .init("name", \.name),
        ]
    }

    final class FinalClass: Base, @unchecked Sendable {
        override var isReady: Bool { super.isReady && values.isReady }
        override var isFinished: Bool { values.isFinished }

        func observations(_ calls: Calls) -> [NSKeyValueObservation] {
            [
                observe(\.isReady, options: [.new]) { _, change in calls.note("isReady \(change.newValue as Any)") },
                observe(\.isFinished, options: [.old, .new]) { _, change in
                    calls.note("isFinished \(change.oldValue as Any) \(change.newValue as Any)")
                },
            ]
        }
    }

    static let names = [
        "isReady", "isExecuting", "isFinished", "isCancelled", "isAsynchronous", "queuePriority", "name",
    ]

    @Test(arguments: names, [false, true])
    func `an announcement without a change reaches observers of open and final overrides`(_ name: String, byPath: Bool)
    {
        let (open, final, sub) = (OpenOverrides(), FinalOverrides(), FinalSubclass())
        let calls = [Calls(), Calls(), Calls(), Calls()]
        let tokens =
            Self.open.map { $0.observe(open, calls[0]) } + Self.final.map { $0.observe(final, calls[1]) }
            + Self.final.map { $0.observe(sub, calls[2]) } + Self.subclass.map { $0.observe(sub, calls[3]) }
        for _ in 0..<3 {
            if byPath {
                for property in Self.open where property.name == name { property.announce(open) }
                for property in Self.final where property.name == name { property.announce(final) }
                for property in Self.final where property.name == name { property.announce(sub) }
                continue
            }
            for operation in [open, final, sub] as [Base] {
                operation.willChangeValue(forKey: name)
                operation.didChangeValue(forKey: name)
            }
        }
        for calls in calls { #expect(calls.entries == Array(repeating: name, count: 3)) }
        withExtendedLifetime(tokens) {}
    }

    @Test
    func `an observer of an override in a final class is notified of announcements, with the values of each change`() {
        let operation = FinalClass()
        let calls = Calls()
        let tokens = operation.observations(calls)
        operation.willChangeValue(forKey: "isReady")
        operation.didChangeValue(forKey: "isReady")
        operation.willChangeValue(for: \.isReady)
        operation.values.isReady = true
        operation.didChangeValue(for: \.isReady)
        operation.willChangeValue(for: \.isFinished)
        operation.values.isFinished = true
        operation.didChangeValue(for: \.isFinished)
        #expect(
            calls.entries == [
                "isReady Optional(false)", "isReady Optional(true)", "isFinished Optional(false) Optional(true)",
            ])
        withExtendedLifetime(tokens) {}
    }

    // The classes of a VPN app: a state announces itself, and readiness depends on it.

    class StateOperation: Operation, @unchecked Sendable {
        let storage = Guarded(0)
        var state: Int { storage.withLock { $0 } }
        @KeyValueObserved var wrapped = 0

        func set(_ new: Int, _ spelling: Spelling) {
            switch spelling {
            case .name:
                willChangeValue(forKey: "state")
                storage.withLock { $0 = new }
                didChangeValue(forKey: "state")
            case .path:
                willChangeValue(for: \.state)
                storage.withLock { $0 = new }
                didChangeValue(for: \.state)
            case .wrapper:
                storage.withLock { $0 = new }
                wrapped = new
            }
        }

        override class func keyPathsForValuesAffectingValue(forKey key: String) -> Set<String> {
            key == "isReady" ? ["state", "wrapped"] : []
        }
    }

    enum Spelling: CaseIterable { case name, path, wrapper }

    class OpenReady: StateOperation, @unchecked Sendable {
        override var isReady: Bool { super.isReady && state >= 2 }
        func token(_ calls: Calls) -> NSKeyValueObservation { observe(\.isReady) { _, _ in calls.note("") } }
    }

    class FinalReady: StateOperation, @unchecked Sendable {
        override final var isReady: Bool { super.isReady && state >= 2 }
        func token(_ calls: Calls) -> NSKeyValueObservation { observe(\.isReady) { _, _ in calls.note("") } }
    }

    @Test(arguments: Spelling.allCases)
    func `an announcement of a state on which isReady depends reaches observers by name and by key path`(
        _ spelling: Spelling
    ) {
        for isFinal in [false, true] {
            let (byPath, byName) = (Calls(), Calls())
            let operation = isFinal ? FinalReady() : OpenReady()
            let token = (operation as? FinalReady)?.token(byPath) ?? (operation as? OpenReady)?.token(byPath)
            let observer = NameObserver { byName.note("") }
            operation.addObserver(observer, forKeyPath: "isReady", context: nil)
            for (number, state) in [1, 2, 3].enumerated() {
                operation.set(state, spelling)
                #expect(byPath.entries.count == number + 1 && byName.entries.count == number + 1, "\(isFinal)")
            }
            operation.willChangeValue(forKey: "isReady")
            operation.didChangeValue(forKey: "isReady")
            operation.cancel()
            #expect(byPath.entries.count == 5 && byName.entries.count == 5, "\(isFinal)")
            operation.removeObserver(observer, forKeyPath: "isReady")
            withExtendedLifetime(token) {}
        }
    }

    /// All states depend on one state, and follow it.
    class OpenStates: StateOperation, @unchecked Sendable {
        override var isExecuting: Bool { state == 2 }
        override var isFinished: Bool { state >= 3 }
        override var isCancelled: Bool { false }
        override class func keyPathsForValuesAffectingValue(forKey key: String) -> Set<String> { ["state", "wrapped"] }

        func tokens(_ calls: Calls) -> [NSKeyValueObservation] {
            [
                observe(\.isExecuting) { _, _ in calls.note("isExecuting") },
                observe(\.isFinished) { _, _ in calls.note("isFinished") },
                observe(\.isCancelled) { _, _ in calls.note("isCancelled") },
            ]
        }
    }

    final class FinalStates: OpenStates, @unchecked Sendable {
        override var isFinished: Bool { super.isFinished }

        override func tokens(_ calls: Calls) -> [NSKeyValueObservation] {
            [
                observe(\.isExecuting) { _, _ in calls.note("isExecuting") },
                observe(\.isFinished) { _, _ in calls.note("isFinished") },
                observe(\.isCancelled) { _, _ in calls.note("isCancelled") },
            ]
        }
    }

    @Test(arguments: Spelling.allCases)
    func `an announcement of a state reaches observers of every state that depends on it, changed or not`(
        _ spelling: Spelling
    ) {
        for operation in [OpenStates(), FinalStates()] {
            let (byPath, byName) = (Calls(), Calls())
            let tokens = operation.tokens(byPath)
            let names = ["isExecuting", "isFinished", "isCancelled"]
            let observers = names.map { name in NameObserver { byName.note(name) } }
            for (observer, name) in zip(observers, names) {
                operation.addObserver(observer, forKeyPath: name, context: nil)
            }
            for (number, state) in [1, 2, 2, 3, 3].enumerated() {
                operation.set(state, spelling)
                for (calls, kind) in [(byPath, "path"), (byName, "name")] {
                    for name in names {
                        let count = calls.entries.count { $0 == name }
                        #expect(count == number + 1, "\(type(of: operation)) \(kind) \(name)")
                    }
                }
            }
            for (observer, name) in zip(observers, names) { operation.removeObserver(observer, forKeyPath: name) }
            withExtendedLifetime(tokens) {}
        }
    }

    /// The operation evaluates its conditions when it is notified of its readiness, although an override still says false.
    final class Evaluating: StateOperation, @unchecked Sendable {
        private let token = Guarded<NSKeyValueObservation?>(nil)
        override var isReady: Bool { super.isReady && state == 2 }

        func enqueue(in queue: OperationQueue) {
            let observation = observe(\.isReady) { operation, _ in operation.evaluate() }
            token.withLock { $0 = observation }
            queue.addOperation(self)
            set(1, .path)
        }

        private func evaluate() {
            guard state == 1, dependencies.allSatisfy({ $0.isFinished }) else { return }
            set(2, .path)
        }
    }

    @Test func `an operation that observes its own readiness starts when its dependencies have finished`() async {
        let queue = OperationQueue()
        let (dependency, operation) = (BlockOperation {}, Evaluating())
        operation.addDependency(dependency)
        operation.enqueue(in: queue)
        #expect(!operation.isReady)
        queue.addOperation(dependency)
        await operation.waitUntilFinished()
    }
}

/// An operation whose subclasses read their states from here.
class ValuesOperation: Operation, @unchecked Sendable {
    struct Values {
        var isReady = false
        var isExecuting = false
        var isFinished = false
        var isCancelled = false
        var isAsynchronous = true
        var queuePriority = QueuePriority.normal
        var name: String?
    }

    private let stored = Guarded(Values())
    var values: Values {
        get { stored.withLock { $0 } }
        set { stored.withLock { $0 = newValue } }
    }
}

/// The calls that observers have received.
final class Calls: Sendable {
    private let journal = Journal<String>()
    var entries: [String] { journal.entries }

    func note(_ entry: String) { journal.append(entry) }
}

private final class NameObserver: KeyValueObserver, Sendable {
    private let handler: @Sendable () -> Void

    init(_ handler: @escaping @Sendable () -> Void) { self.handler = handler }

    func observeValue(
        forKeyPath keyPath: String?, of object: Any?, change: [NSKeyValueChangeKey: Any]?,
        context: UnsafeMutableRawPointer?
    ) { handler() }
}
