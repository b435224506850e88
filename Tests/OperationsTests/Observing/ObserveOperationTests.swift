import Operations
import TestSupport
import Testing

/// Rules K1–K3, K6 on operations.
struct ObserveOperationTests {
    private final class Quiet: Operation, @unchecked Sendable {}

    @Test func `a run announces isExecuting and isFinished, each change once, with both values`() {
        let (operation, log) = (BlockOperation {}, Journal<String>())
        let tokens = [
            operation.observe(\.isExecuting, options: [.old, .new]) {
                log.append("executing \($1.oldValue!) \($1.newValue!)")
            },
            operation.observe(\.isFinished, options: [.old, .new]) {
                log.append("finished \($1.oldValue!) \($1.newValue!)")
            },
            operation.observe(\.isReady, options: [.old, .new]) { _, _ in log.append("ready") },
            operation.observe(\.isCancelled, options: [.old, .new]) { _, _ in log.append("cancelled") },
        ]
        let queue = OperationQueue()
        queue.addOperation(operation)
        queue.waitUntilAllOperationsAreFinished()
        #expect(
            log.entries == ["executing false true", "executing true false", "finished false true"])
        for token in tokens { token.invalidate() }
    }

    /// Rule K3.
    @Test func `a key path means the same property for every class in its spelling`() {
        let (operation, log) = (Quiet(), Journal<String>())
        let tokens = [
            operation.observe(\.isFinished) { _, _ in log.append("inferred") },
            operation.observe(\Quiet.isFinished) { _, _ in log.append("own") },
            (operation as Operation).observe(\.isFinished) { _, _ in log.append("Operation") },
            (operation as Operation).observe(\Operation.isFinished) { _, _ in log.append("spelled") },
        ]
        operation.start()
        #expect(log.entries == ["inferred", "own", "Operation", "spelled"])
        for token in tokens { token.invalidate() }
    }

    @Test(arguments: ["isFinished", "finished"])
    func `an observer of a name in either spelling is notified`(name: String) {
        let (operation, observer) = (Quiet(), ChangeRecorder())
        operation.addObserver(observer, forKeyPath: name, options: [.old, .new], context: nil)
        operation.start()
        #expect(observer.changes.entries == ["\(name) false true"])
        operation.removeObserver(observer, forKeyPath: name)
    }

    /// Rule K6.
    @Test func `cancelling an operation that waits announces isCancelled and isReady`() {
        let (operation, dependency, log) = (Quiet(), Quiet(), Journal<String>())
        operation.addDependency(dependency)
        let tokens = [
            operation.observe(\.isCancelled, options: [.old, .new]) {
                log.append("cancelled \($1.oldValue!) \($1.newValue!) \($0.isCancelled)")
            },
            operation.observe(\.isReady, options: [.old, .new]) {
                log.append("ready \($1.oldValue!) \($1.newValue!) \($0.isReady)")
            },
        ]
        operation.cancel()
        operation.cancel()
        #expect(log.entries == ["cancelled false true true", "ready false true true"])
        for token in tokens { token.invalidate() }
    }

    @Test func `isReady is announced in both directions as dependencies are added, removed and finished`() {
        let (operation, log) = (Quiet(), Journal<String>())
        let token = operation.observe(\.isReady, options: [.old, .new, .prior]) {
            log.append("\($1.isPrior ? "will" : "did") \($1.oldValue!) \($1.newValue.map { "\($0)" } ?? "-")")
        }
        let dependencies = [Quiet(), Quiet()]
        for dependency in dependencies { operation.addDependency(dependency) }
        operation.removeDependency(dependencies[0])
        dependencies[1].start()
        #expect(log.entries == ["will true -", "did true false", "will false -", "did false true"])
        token.invalidate()
    }

    @Test func `an operation without other references may be observed while its dependency finishes`() {
        let dependency = Quiet()
        let log = Journal<Bool>()
        var operation: Quiet? = Quiet()
        operation!.addDependency(dependency)
        let token = operation!.observe(\.isReady, options: .new) { log.append($1.newValue!) }
        operation = nil
        dependency.start()
        #expect(log.entries == [])
        token.invalidate()
    }

    @Test func `setters announce with the values they exchange`() {
        let (operation, dependency, log) = (Quiet(), Quiet(), Journal<String>())
        let tokens = [
            operation.observe(\.queuePriority, options: [.old, .new]) {
                log.append("\($1.oldValue!.rawValue) \($1.newValue!.rawValue)")
            },
            operation.observe(\.name, options: [.old, .new]) {
                log.append("\($1.oldValue! ?? "-") \($1.newValue! ?? "-")")
            },
            operation.observe(\.qualityOfService, options: [.old, .new]) {
                log.append("\($1.oldValue == .default) \($1.newValue == .utility)")
            },
            operation.observe(\.dependencies, options: [.old, .new]) {
                log.append("\($1.oldValue!.count) \($1.newValue!.count)")
            },
            operation.observe(\.completionBlock, options: [.old, .new]) {
                log.append("\($1.oldValue! == nil) \($1.newValue! == nil)")
            },
        ]
        operation.queuePriority = .high
        operation.name = "a"
        operation.qualityOfService = .utility
        operation.addDependency(dependency)
        operation.addDependency(dependency)
        operation.removeDependency(dependency)
        operation.removeDependency(dependency)
        operation.completionBlock = {}
        #expect(
            log.entries == [
                "0 4", "- a", "true true", "0 1", "1 0", "true false",
            ])
        operation.start()
        // Removed before it runs.
        #expect(log.entries.last == "false true")
        for token in tokens { token.invalidate() }
    }

    @Test func `prior calls come before the change`() {
        let (operation, log) = (Quiet(), Journal<String>())
        let tokens = [
            operation.observe(\.name, options: [.prior, .old]) {
                log.append("\($1.isPrior) \($0.name ?? "-") \(($1.oldValue ?? nil) ?? "-")")
            },
            operation.observe(\.isCancelled, options: .prior) { log.append("\($1.isPrior) \($0.isCancelled)") },
        ]
        operation.name = "a"
        operation.cancel()
        #expect(log.entries == ["true - -", "false a -", "true false", "false true"])
        for token in tokens { token.invalidate() }
    }

    /// Rule L14: observers see overridden values.
    enum FlippedState: CaseIterable {
        case executing, finished, cancelled

        var path: KeyPath<Operation, Bool> {
            switch self {
            case .executing: \.isExecuting
            case .finished: \.isFinished
            case .cancelled: \.isCancelled
            }
        }
    }

    /// Rule K6: an observer's call before a change may add another observer, which then has the state before the change.
    @Test(arguments: FlippedState.allCases)
    func `an observer that begins before a state changes is notified, with both values`(state: FlippedState) {
        let (operation, log) = (Quiet(), Journal<[Bool?]>())
        let late = Guarded<[NSKeyValueObservation]>([])
        let early = (operation as Operation).observe(state.path, options: .prior) { operation, change in
            guard change.isPrior, late.withLock({ $0.isEmpty }) else { return }
            let token = operation.observe(state.path, options: [.initial, .old, .new]) {
                log.append([$1.oldValue, $1.newValue])
            }
            late.withLock { $0.append(token) }
        }
        if state == .cancelled { operation.cancel() } else { operation.start() }
        #expect(log.entries.prefix(2) == [[nil, false], [false, true]])
        early.invalidate()
        late.withLock { $0 = [] }
    }

    @Test func `an overridden state is announced with its overridden value`() {
        let (operation, log) = (SpellingOperation(.keyPath), Journal<String>())
        let tokens = [
            operation.observe(\.isExecuting, options: [.old, .new]) {
                log.append("executing \($1.oldValue!) \($1.newValue!)")
            },
            operation.observe(\.isFinished, options: [.old, .new]) {
                log.append("finished \($1.oldValue!) \($1.newValue!)")
            },
        ]
        operation.start()
        operation.finish()
        #expect(log.entries.first == "executing false true")
        #expect(Set(log.entries.dropFirst()) == ["executing true false", "finished false true"])
        #expect(log.entries.count == 3)
        for token in tokens { token.invalidate() }
    }

    /// Rule K4.
    /// In such a class its key paths differ from those of `Operation`.
    private final class Final: Operation, @unchecked Sendable {
        // Sendable: the states are guarded.
        private let states = Guarded((isReady: false, isExecuting: false, isFinished: false, isCancelled: false))

        override var isReady: Bool { super.isReady && states.withLock { $0.isReady } }
        override var isExecuting: Bool { states.withLock { $0.isExecuting } }
        override var isFinished: Bool { states.withLock { $0.isFinished } }
        override var isCancelled: Bool { states.withLock { $0.isCancelled } }

        func beReady(_ isReady: Bool) {
            willChangeValue(for: \.isReady)
            states.withLock { $0.isReady = isReady }
            didChangeValue(for: \.isReady)
        }

        override func start() {
            willChangeValue(for: \.isExecuting)
            states.withLock { $0.isExecuting = true }
            didChangeValue(for: \.isExecuting)
            willChangeValue(for: \.isExecuting)
            willChangeValue(for: \.isFinished)
            states.withLock { ($0.isExecuting, $0.isFinished) = (false, true) }
            didChangeValue(for: \.isFinished)
            didChangeValue(for: \.isExecuting)
        }

        override func cancel() {
            willChangeValue(for: \.isCancelled)
            states.withLock { $0.isCancelled = true }
            didChangeValue(for: \.isCancelled)
        }
    }

    /// Rule K3.
    @Test func `an announcement by a key path of a final class reaches observers by key paths of every class`() {
        let (operation, own, base, named) = (Final(), Journal<String>(), Journal<String>(), ChangeRecorder())
        let asBase: Operation = operation
        let tokens = [
            operation.observe(\.isReady, options: [.old, .new]) {
                own.append("isReady \($1.oldValue!) \($1.newValue!)")
            },
            asBase.observe(\.isReady, options: [.old, .new]) { base.append("isReady \($1.oldValue!) \($1.newValue!)") },
            operation.observe(\.isExecuting, options: [.old, .new]) {
                own.append("isExecuting \($1.oldValue!) \($1.newValue!)")
            },
            asBase.observe(\.isExecuting, options: [.old, .new]) {
                base.append("isExecuting \($1.oldValue!) \($1.newValue!)")
            },
            operation.observe(\.isFinished, options: [.old, .new]) {
                own.append("isFinished \($1.oldValue!) \($1.newValue!)")
            },
            asBase.observe(\.isFinished, options: [.old, .new]) {
                base.append("isFinished \($1.oldValue!) \($1.newValue!)")
            },
            asBase.observe(\.isCancelled, options: [.old, .new]) {
                base.append("isCancelled \($1.oldValue!) \($1.newValue!)")
            },
        ]
        for name in ["isReady", "isExecuting", "isFinished", "isCancelled"] {
            operation.addObserver(named, forKeyPath: name, options: [.old, .new], context: nil)
        }
        let dependency = Quiet()
        operation.beReady(true)
        operation.addDependency(dependency)
        operation.removeDependency(dependency)
        operation.start()
        operation.cancel()
        let expected = [
            "isReady false true", "isReady true false", "isReady false true", "isExecuting false true",
            "isExecuting true false", "isFinished false true", "isCancelled false true",
        ]
        // Two properties that change together are announced one after the other, in no defined order.
        #expect(base.entries.sorted() == expected.sorted())
        #expect(named.changes.entries.sorted() == expected.sorted())
        #expect(own.entries.sorted() == expected.dropLast().sorted())
        #expect(base.entries.prefix(4) == expected.prefix(4) && own.entries.prefix(4) == expected.prefix(4))
        for token in tokens { token.invalidate() }
        for name in ["isReady", "isExecuting", "isFinished", "isCancelled"] {
            operation.removeObserver(named, forKeyPath: name)
        }
    }

    @Test func `a subclass's own properties take part, by key path and by name`() {
        let (download, log, observer) = (Download(), Journal<String>(), ChangeRecorder())
        let tokens = [
            download.observe(\.bytes, options: [.old, .new]) { log.append("bytes \($1.oldValue!) \($1.newValue!)") },
            download.observe(\.summary, options: .new) { log.append($1.newValue!) },
        ]
        download.addObserver(observer, forKeyPath: "summary", options: [.old, .new], context: nil)
        download.receive(7)
        download.name = "x"
        #expect(log.entries == ["bytes 0 7", "-: 7", "x: 7"])
        #expect(observer.changes.entries == ["summary -: 0 -: 7", "summary -: 7 x: 7"])
        #expect(download.value(forKey: "bytes") as? Int == 7)
        download.removeObserver(observer, forKeyPath: "summary")
        for token in tokens { token.invalidate() }
    }

    /// Rule K5.
    @Test func `the documented properties are read and set by name`() throws {
        let operation = Quiet()
        operation.setValue("a", forKey: "name")
        operation.setValue(Operation.QueuePriority.low, forKey: "queuePriority")
        #expect(operation.value(forKey: "name") as? String == "a")
        #expect(operation.value(forKey: "queuePriority") as? Operation.QueuePriority == .low)
        for name in ["isReady", "ready", "isFinished", "finished", "isExecuting", "isCancelled", "isAsynchronous"] {
            #expect(try operation.tryValue(forKey: name) is Bool)
            #expect(throws: KeyValueError.self) { try operation.trySetValue(true, forKey: name) }
        }
        #expect(throws: KeyValueError.unknownKey(class: "Quiet", key: "isFinishd", nearest: ["isFinished"])) {
            try operation.tryValue(forKey: "isFinishd")
        }
    }

    /// Rule K6: no lock is held, so a handler may do anything.
    @Test func `a handler may start, cancel, add, reprioritize and wait`() {
        let (queue, other, operation) = (OperationQueue(), Quiet(), BlockOperation {})
        let ran = Journal<String>()
        let tokens = Guarded<[NSKeyValueObservation]>([])
        let token = operation.observe(\.isFinished) { operation, _ in
            other.start()
            operation.cancel()
            operation.queuePriority = .high
            operation.name = "done"
            let added = BlockOperation { ran.append("added") }
            queue.addOperation(added)
            added.waitUntilFinished()
            tokens.withLock { $0 = [] }
            ran.append("notified")
        }
        tokens.withLock { $0 = [token] }
        queue.addOperation(operation)
        queue.waitUntilAllOperationsAreFinished()
        #expect(ran.entries == ["added", "notified"])
        #expect(other.isFinished && operation.name == "done")
    }
}

/// A subclass with its own property, and a property that depends on it.
final class Download: Operations.Operation, @unchecked Sendable {
    @KeyValueObserved private(set) var bytes = 0
    var summary: String { "\(name ?? "-"): \(bytes)" }

    func receive(_ count: Int) { bytes += count }

    override class var additionalKeyValueKeys: [KeyValueKey] {
        [KeyValueKey("bytes", \Download.bytes), KeyValueKey("summary", \Download.summary)]
    }

    override class func keyPathsForValuesAffectingValue(forKey key: String) -> Set<String> {
        key == "summary" ? ["name", "bytes"] : []
    }
}

/// Records the calls of an observer of names.
final class ChangeRecorder: KeyValueObserver, Sendable {
    let changes = Journal<String>()

    func observeValue(
        forKeyPath keyPath: String?, of object: Any?, change: [NSKeyValueChangeKey: Any]?,
        context: UnsafeMutableRawPointer?
    ) {
        changes.append("\(keyPath!) \(change![.oldKey] ?? "nil") \(change![.newKey] ?? "nil")")
    }
}
