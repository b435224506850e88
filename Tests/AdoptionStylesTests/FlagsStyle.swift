import Testing

#if PLAIN_FOUNDATION
import Foundation
#else
import OperationsFoundation
#endif

/// The style of three Boolean variables. Each variable is announced by hand, by its name.
class FlagsOperation: Operation, @unchecked Sendable {
    // Sendable: a lock guards the flags.
    private let flags = Kept((ready: true, executing: false, finished: false))

    override var isAsynchronous: Bool { true }
    override var isReady: Bool { super.isReady && flags().ready }
    override var isExecuting: Bool { flags().executing }
    override var isFinished: Bool { flags().finished }

    func setReady(_ isReady: Bool) {
        willChangeValue(forKey: "isReady")
        flags.set((isReady, flags().executing, flags().finished))
        didChangeValue(forKey: "isReady")
    }

    override func start() {
        guard !isCancelled else { return finish() }
        willChangeValue(forKey: "isExecuting")
        flags.set((true, true, false))
        didChangeValue(forKey: "isExecuting")
        work()
    }

    /// Does the work of a subclass. The override calls `finish()`, at once or later.
    func work() { DispatchQueue.global().async { self.finish() } }

    func finish() {
        willChangeValue(forKey: "isExecuting")
        willChangeValue(forKey: "isFinished")
        flags.set((true, false, true))
        didChangeValue(forKey: "isExecuting")
        didChangeValue(forKey: "isFinished")
    }
}

@Suite(.timeLimit(.minutes(1))) struct FlagsStyle {
    private final class Step: FlagsOperation, @unchecked Sendable {
        private let log: Log

        init(_ name: String, _ log: Log) {
            self.log = log
            super.init()
            self.name = name
        }

        override func work() {
            log.append(name ?? "")
            super.work()
        }
    }

    @Test func `steps run one after the other by their dependencies`() {
        let (queue, log) = (OperationQueue(), Log())
        let steps = (0..<10).map { Step("\($0)", log) }
        for (step, next) in zip(steps, steps.dropFirst()) { next.addDependency(step) }
        queue.addOperations(steps.reversed(), waitUntilFinished: true)
        #expect(log.entries == (0..<10).map(String.init))
    }

    @Test func `a step starts when its own readiness is announced`() {
        let (queue, log) = (OperationQueue(), Log())
        let (first, second) = (Step("first", log), Step("second", log))
        first.setReady(false)
        queue.maxConcurrentOperationCount = 1
        queue.addOperation(first)
        queue.addOperation(second)
        second.waitUntilFinished()
        #expect(log.entries == ["second"])
        first.setReady(true)
        queue.waitUntilAllOperationsAreFinished()
        #expect(log.entries == ["second", "first"])
    }

    @Test func `a cancelled step skips its work, and frees its dependents`() {
        let (queue, log) = (OperationQueue(), Log())
        let (first, second) = (Step("first", log), Step("second", log))
        second.addDependency(first)
        queue.isSuspended = true
        queue.addOperations([first, second], waitUntilFinished: false)
        first.cancel()
        queue.isSuspended = false
        queue.waitUntilAllOperationsAreFinished()
        #expect(log.entries == ["second"] && first.isFinished)
    }
}
