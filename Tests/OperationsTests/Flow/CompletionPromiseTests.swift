import SchedulerCore
import TestSupport
import Testing

@testable import Operations

/// Rule W1: a completion block delays no other operation of its queue, regardless of its duration.
@Suite(.timeLimit(.minutes(5)), .tags(.threads)) struct CompletionPromiseTests {
    @Test func `a worker passes on its duty to look for work before it runs a completion block`() async {
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 1
        let promises = Guarded<[Bool]>([])
        for _ in 0..<100 {
            queue.isSuspended = true
            let first = BlockOperation {}
            let hasCompleted = Gate()
            first.completionBlock = {
                let promise = ThreadContext.current.worker?.looksSoon(into: queue)
                promises.withLock { $0.append(promise ?? true) }
                hasCompleted.open()
            }
            queue.addOperation(first)
            queue.addOperation {}
            queue.isSuspended = false
            await queue.waitUntilAllOperationsAreFinished()
            await withCheckedContinuation { continuation in
                _ = TestThread {
                    hasCompleted.pass()
                    continuation.resume()
                }
            }
        }
        // The monitor may have taken over the duty in some rounds, but not in all.
        #expect(promises.withLock { $0 } == Array(repeating: false, count: 100))
    }
}
