import Testing

#if PLAIN_FOUNDATION
import Foundation
#else
import OperationsFoundation
#endif

/// The style of a `cancel()` that does not call super. The operation keeps its own flag, and ends in `main()`.
final class OwnCancelOperation: Operation, @unchecked Sendable {
    // Sendable: locks guard the flags.
    private let cancelled = Kept(false)
    private let finished = Kept(false)
    private let log: Log

    init(_ log: Log) { self.log = log }

    override var isCancelled: Bool { cancelled() }
    override var isFinished: Bool { finished() }

    override func cancel() {
        guard !isFinished else { return }
        willChangeValue(forKey: "isCancelled")
        cancelled.set(true)
        didChangeValue(forKey: "isCancelled")
    }

    override func main() {
        log.append(isCancelled ? "stopped" : "worked")
        willChangeValue(forKey: "isFinished")
        finished.set(true)
        didChangeValue(forKey: "isFinished")
    }
}

@Suite(.timeLimit(.minutes(1))) struct OwnCancelStyle {
    @Test func `main runs, and the operation leaves its queue`() {
        let (queue, log) = (OperationQueue(), Log())
        queue.isSuspended = true
        let operations = [OwnCancelOperation(log), OwnCancelOperation(log)]
        queue.maxConcurrentOperationCount = 1
        queue.addOperations(operations, waitUntilFinished: false)
        operations[0].cancel()
        queue.isSuspended = false
        queue.waitUntilAllOperationsAreFinished()
        #expect(log.entries == ["stopped", "worked"])
    }

    @Test func `a dependent waits for the end, and not for the cancellation`() {
        let (queue, log) = (OperationQueue(), Log())
        let operation = OwnCancelOperation(log)
        let dependent = BlockOperation { log.append("dependent") }
        dependent.addDependency(operation)
        queue.addOperation(dependent)
        operation.cancel()
        queue.addOperation(operation)
        queue.waitUntilAllOperationsAreFinished()
        #expect(log.entries == ["stopped", "dependent"])
    }
}
