@testable import Operations
import Synchronization
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

/// The end of computing jobs. With a lock, the jobs would sleep, and the monitor would find them blocked.
private final class End: Sendable {
    let isReached = Atomic(false)
}

@Suite(.timeLimit(.minutes(5))) struct ReleasedSourceTests {
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

    /// Rule A10: while no helper gets a thread, its request keeps nothing alive.
    @Test func `a helper that was requested and never came keeps no finished operation`() async {
        let end = End()
        let level = ServiceLevel.background
        for _ in 0..<WorkerPool.eagerLimit {
            WorkerPool[level].request(
                PoolJob(urgency: .eager, threadName: "test") { while !end.isReached.load(ordering: .relaxed) {} })
        }
        let queue = OperationQueue()
        queue.qualityOfService = .background
        let gone: Weak
        do {
            let operation = BlockOperation {}
            operation.addExecutionBlock {}
            gone = Weak(operation)
            queue.addOperation(operation)
            await operation.waitUntilFinished()
            #expect(WorkerPool[level].state.withLock { $0.requestCount } == 1)
        }
        await queue.waitUntilAllOperationsAreFinished()
        while !gone.isGone { await Task.yield() }
        end.isReached.store(true, ordering: .relaxed)
    }
}
