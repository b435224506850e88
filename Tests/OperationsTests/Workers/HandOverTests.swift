import SchedulerCore
import TestSupport
import Testing

@testable import Operations

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Rules Q5 and D2 for an operation that a thread of another service level has claimed, and that waits for a thread of
/// its own. Serialized: each test needs all threads of one level.
@Suite(.serialized, .timeLimit(.minutes(5))) struct HandOverTests {
    /// Adds an operation at a level without a free thread, so that the operation is claimed and does not start. Then it
    /// makes a change, and frees the threads of that level. Returns whether the operation has run.
    private func runs(
        _ operation: Operations.Operation, in queue: OperationQueue, whenChangedBy change: () -> Void
    ) -> Bool {
        let (busy, begun) = (OperationQueue(), Gate(WorkerPool.eagerLimit))
        let mayEnd = Guarded(false)
        busy.qualityOfService = .utility
        busy.maxConcurrentOperationCount = WorkerPool.eagerLimit
        for _ in 0..<WorkerPool.eagerLimit {
            busy.addOperation {
                begun.open()
                // The operations compute, because the monitor adds threads for blocked ones.
                while !mayEnd.withLock({ $0 }) { sched_yield() }
            }
        }
        begun.pass()
        operation.qualityOfService = .utility
        queue.addOperation(operation)
        while operation.word.lifecycle.phase != .starting { sched_yield() }
        change()
        mayEnd.withLock { $0 = true }
        busy.waitUntilAllOperationsAreFinished()
        // Each earlier request for a thread of the level has received its thread.
        for _ in 0..<3 { busy.addOperations([BlockOperation {}], waitUntilFinished: true) }
        OperationQueue.settle()
        return operation.isFinished
    }

    @Test func `a queue that is suspended does not start an operation that waits for its thread`() {
        let queue = OperationQueue()
        let hasRun = runs(BlockOperation {}, in: queue) { queue.isSuspended = true }
        #expect(!hasRun)
        queue.isSuspended = false
        queue.waitUntilAllOperationsAreFinished()
    }

    @Test func `a width of 0 does not start an operation that waits for its thread`() {
        let queue = OperationQueue()
        let hasRun = runs(BlockOperation {}, in: queue) { queue.maxConcurrentOperationCount = 0 }
        #expect(!hasRun)
        queue.maxConcurrentOperationCount = 1
        queue.waitUntilAllOperationsAreFinished()
    }

    @Test func `a dependency delays an operation that waits for its thread`() {
        let (queue, operation, dependency) = (OperationQueue(), BlockOperation {}, BlockOperation {})
        let hasRun = runs(operation, in: queue) { operation.addDependency(dependency) }
        #expect(!hasRun)
        dependency.start()
        queue.waitUntilAllOperationsAreFinished()
    }

    @Test func `a width that shrinks does not start more operations than it allows`() {
        let (queue, begun, mayEnd) = (OperationQueue(), Gate(), Gate())
        queue.maxConcurrentOperationCount = 2
        queue.addOperation {
            begun.open()
            mayEnd.pass()
        }
        begun.pass()
        let hasRun = runs(BlockOperation {}, in: queue) { queue.maxConcurrentOperationCount = 1 }
        #expect(!hasRun)
        mayEnd.open()
        queue.waitUntilAllOperationsAreFinished()
    }

    @Test func `an operation starts in the end although its queue is closed again and again and puts it back`() {
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 2
        let counter = ConcurrencyCounter()
        let operations = (0..<300).map { number in
            let operation = BlockOperation {
                counter.enter()
                counter.leave()
            }
            operation.qualityOfService = number % 2 == 0 ? .utility : .userInitiated
            return operation
        }
        queue.addOperations(operations, waitUntilFinished: false)
        while !operations.allSatisfy(\.isFinished) {
            queue.isSuspended = true
            queue.maxConcurrentOperationCount = 0
            queue.isSuspended = false
            queue.maxConcurrentOperationCount = 2
            sched_yield()
        }
        queue.waitUntilAllOperationsAreFinished()
        #expect(operations.allSatisfy(\.isFinished) && counter.most <= 2)
    }
}
