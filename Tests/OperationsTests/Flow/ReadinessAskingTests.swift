import Operations
import TestSupport
import Testing

/// Rules A2, A3: the announcements of `isReady`, and the reads of an override.
@Suite(.timeLimit(.minutes(5))) struct ReadinessAskingTests {
    /// Not ready until the test makes it ready. Counts the reads.
    private class Reluctant: Operation, @unchecked Sendable {
        private let mayStart = Guarded(false)
        let asked = Atomic64()
        /// The values of `super.isReady` at each read.
        let inherited = Journal<Bool>()

        override var isReady: Bool {
            asked.add(1)
            inherited.append(super.isReady)
            return mayStart.withLock { $0 }
        }

        func letGo() {
            willChangeValue(forKey: "isReady")
            mayStart.withLock { $0 = true }
            didChangeValue(forKey: "isReady")
        }
    }

    private class Quiet: Operation, @unchecked Sendable {}

    // MARK: - A3

    @Test(arguments: [false, true])
    func `an overridden isReady is read when a dependency finishes, and finds it finished`(isQueued: Bool) {
        let (operation, queue, dependencies) = (Reluctant(), OperationQueue(), [Quiet(), Quiet()])
        for dependency in dependencies { operation.addDependency(dependency) }
        if isQueued { queue.addOperation(operation) }
        for (index, dependency) in dependencies.enumerated() {
            let asked = operation.asked.value
            dependency.start()
            #expect(operation.asked.value > asked)
            #expect(operation.inherited.entries.last == (index == 1))
        }
        operation.letGo()
        queue.waitUntilAllOperationsAreFinished()
        #expect(operation.isFinished == isQueued)
    }

    @Test(arguments: [false, true]) func `an overridden isReady is read when a dependency is removed`(isQueued: Bool) {
        let (operation, queue, dependency) = (Reluctant(), OperationQueue(), Quiet())
        operation.addDependency(dependency)
        if isQueued { queue.addOperation(operation) }
        let asked = operation.asked.value
        operation.removeDependency(dependency)
        #expect(operation.asked.value > asked && operation.inherited.entries.last == true)
        operation.letGo()
        queue.waitUntilAllOperationsAreFinished()
    }

    @Test(arguments: [false, true]) func `an overridden isReady is read after cancel`(isQueued: Bool) {
        let (operation, queue) = (Reluctant(), OperationQueue())
        operation.addDependency(Quiet())
        if isQueued { queue.addOperation(operation) }
        let asked = operation.asked.value
        operation.cancel()
        #expect(operation.asked.value > asked && operation.inherited.entries.last == true)
        operation.letGo()
        queue.waitUntilAllOperationsAreFinished()
    }

    @Test(.tags(.threads, .release))
    func `the isReady of an operation that is released while its dependency finishes is not read`() {
        for _ in 0..<1000 {
            let dependency = Quiet()
            let operation = Guarded<Reluctant?>(Reluctant())
            operation.withLock { $0!.addDependency(dependency) }
            let meeting = Gate(2)
            let thread = TestThread {
                meeting.meet()
                dependency.start()
            }
            meeting.meet()
            var last = operation.withLock { $0.take() }
            last = nil
            thread.join()
            #expect(last == nil)
        }
    }

    // MARK: - A2

    @Test func `an announcement notifies whether or not the value has changed`() {
        let (operation, log) = (Quiet(), Journal<String>())
        for name in ["isReady", "isExecuting", "isFinished", "isCancelled"] {
            let observer = Recorder(log)
            operation.addObserver(observer, forKeyPath: name, context: nil)
            operation.willChangeValue(forKey: name)
            operation.didChangeValue(forKey: name)
            operation.willChangeValue(forKey: name)
            operation.didChangeValue(forKey: name)
            operation.removeObserver(observer, forKeyPath: name)
        }
        #expect(log.entries == ["isReady", "isExecuting", "isFinished", "isCancelled"].flatMap { [$0, $0] })
    }

    @Test func `cancelling a ready operation announces isCancelled and isReady`() {
        let (operation, log) = (Quiet(), Journal<String>())
        let tokens = [
            operation.observe(\.isReady, options: [.old, .new]) { log.append("ready \($1.oldValue!) \($1.newValue!)") },
            operation.observe(\.isCancelled, options: .new) { log.append("cancelled \($1.newValue!)") },
        ]
        operation.cancel()
        operation.cancel()
        #expect(log.entries == ["cancelled true", "ready true true"])
        for token in tokens { token.invalidate() }
    }

    @Test func `the last dependency that finishes announces isReady of an override that stays false`() {
        let (operation, log, dependencies) = (Reluctant(), Journal<Bool>(), [Quiet(), Quiet()])
        for dependency in dependencies { operation.addDependency(dependency) }
        let token = operation.observe(\.isReady, options: .new) { log.append($1.newValue!) }
        dependencies[0].start()
        #expect(log.entries == [])
        dependencies[1].start()
        #expect(log.entries == [false])
        token.invalidate()
    }

    @Test func `addDependency announces isReady before dependencies, and so does removeDependency`() {
        let (operation, dependency, log) = (Quiet(), Quiet(), Journal<String>())
        let tokens = [
            operation.observe(\.dependencies, options: .new) { log.append("dependencies \($1.newValue!.count)") },
            operation.observe(\.isReady, options: .new) { log.append("ready \($1.newValue!)") },
        ]
        operation.addDependency(dependency)
        operation.removeDependency(dependency)
        #expect(log.entries == ["ready false", "dependencies 1", "ready true", "dependencies 0"])
        for token in tokens { token.invalidate() }
    }

    private final class Recorder: KeyValueObserver {
        private let log: Journal<String>

        init(_ log: Journal<String>) { self.log = log }

        func observeValue(
            forKeyPath keyPath: String?, of object: Any?, change: [NSKeyValueChangeKey: Any]?,
            context: UnsafeMutableRawPointer?
        ) { log.append(keyPath ?? "") }
    }

    // MARK: - A4

    /// Rule A4.
    @Test func `an operation whose cancel does not call super runs main, and ends there`() {
        let (queue, operation) = (OperationQueue(), Unyielding())
        queue.isSuspended = true
        queue.addOperation(operation)
        operation.cancel()
        queue.isSuspended = false
        queue.waitUntilAllOperationsAreFinished()
        #expect(operation.isCancelled && operation.isFinished)
    }

    /// Its end comes from `main()` alone.
    private final class Unyielding: Operation, @unchecked Sendable {
        private let states = Guarded((cancelled: false, finished: false))

        override var isCancelled: Bool { states.withLock { $0.cancelled } }
        override var isFinished: Bool { states.withLock { $0.finished } }

        override func cancel() {
            willChangeValue(forKey: "isCancelled")
            states.withLock { $0.cancelled = true }
            didChangeValue(forKey: "isCancelled")
        }

        override func main() {
            willChangeValue(forKey: "isFinished")
            states.withLock { $0.finished = true }
            didChangeValue(forKey: "isFinished")
        }
    }
}
