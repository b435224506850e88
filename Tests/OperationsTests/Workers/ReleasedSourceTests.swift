@testable import Operations
import TestSupport
import Testing

/// A queue whose `deinit` calls a closure.
private final class LastQueue: OperationQueue, @unchecked Sendable {
    private let atEnd: @Sendable () -> Void

    init(atEnd: @escaping @Sendable () -> Void) {
        self.atEnd = atEnd
        super.init()
    }

    deinit { atEnd() }
}

@Suite(.timeLimit(.minutes(5)), .tags(.threads, .release)) struct ReleasedSourceTests {
    /// Rule Q1. The worker that releases the queue must not be the one that the pool wakes for the other queue.
    @Test func `the deinit of a queue that a worker releases may add work and wait for it`() async {
        for _ in 0..<50 {
            let ended = AsyncGate()
            do {
                let queue = LastQueue {
                    let other = OperationQueue()
                    other.addOperations([BlockOperation {}], waitUntilFinished: true)
                    ended.open()
                }
                queue.addOperation {}
            }
            await ended.pass()
        }
    }

    /// Rule A10: while no helper gets a thread, its request keeps nothing alive. In a process of its own, because all queues of a
    /// process share the pool.
    @Test func `a helper that was requested and never came keeps no finished operation`() async {
        await #expect(processExitsWith: .success) {
            let pool = WorkerPool[.background]
            // The pool grants no helper, as if it had too many threads.
            pool.state.withLock { $0[.eager].busy += WorkerPool.ceiling }
            let queue = OperationQueue()
            queue.qualityOfService = .background
            let gone: Weak
            do {
                let operation = BlockOperation {}
                operation.addExecutionBlock {}
                gone = Weak(operation)
                queue.addOperation(operation)
                // A wait for the operation itself would lend it the level of this task (rule A17).
                await queue.waitUntilAllOperationsAreFinished()
                let requests = pool.state.withLock { $0.requestCount }
                #expect(requests == 1)
            }
            while !gone.isGone { await Task.yield() }
        }
    }
}
