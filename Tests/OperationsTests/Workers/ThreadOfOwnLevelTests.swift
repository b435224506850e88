import SchedulerCore
import Synchronization
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

/// Rules Q5 and D2 for an operation that has a slot and waits for a thread of its own service level. Serialized: each test
/// needs all threads of one level.
@Suite(.serialized, .timeLimit(.minutes(5)), .tags(.threads)) struct ThreadOfOwnLevelTests {
    private final class Flag: Sendable {
        private let value = Atomic(false)
        var isSet: Bool { value.load(ordering: .acquiring) }
        func set() { value.store(true, ordering: .releasing) }
    }

    /// Adds an operation at a level without a free thread, so that it waits for one although it could start. Then it
    /// closes the queue or the operation, and frees the threads of that level. Returns whether the operation ran while
    /// it was closed.
    ///
    /// Another test can free a thread of the level. When a worker claims the operation before it is closed, the operation
    /// may run at any later moment. The function then starts again with another queue.
    private func runsWhileClosed(
        prepare: (OperationQueue) -> Void = { _ in }, close: (OperationQueue, BlockOperation) -> Void,
        reopen: (OperationQueue) -> Void
    ) -> Bool {
        while true {
            let queue = OperationQueue()
            prepare(queue)
            let (busy, mayEnd) = occupyAllThreads()
            let (isClosed, ranEarly, ranLate) = (Flag(), Flag(), Flag())
            let operation = BlockOperation { isClosed.isSet ? ranLate.set() : ranEarly.set() }
            operation.qualityOfService = .utility
            queue.addOperation(operation)
            close(queue, operation)
            let wasClaimed = queue.withState { $0.runningOperations }.contains { $0 === operation }
            isClosed.set()
            mayEnd.set()
            busy.waitUntilAllOperationsAreFinished()
            // Each earlier request for a thread of the level has received its thread.
            for _ in 0..<3 { busy.addOperations([BlockOperation {}], waitUntilFinished: true) }
            OperationQueue.settle()
            let hasRun = ranLate.isSet
            reopen(queue)
            queue.waitUntilAllOperationsAreFinished()
            if !ranEarly.isSet, !wasClaimed { return hasRun }
        }
    }

    /// Returns a queue whose operations compute on all threads of a level, and the flag that ends them.
    ///
    /// The operations take no lock. The pool replaces a thread that sleeps, for example on a lock.
    private func occupyAllThreads() -> (OperationQueue, mayEnd: Flag) {
        let (queue, mayEnd) = (OperationQueue(), Flag())
        queue.qualityOfService = .utility
        queue.maxConcurrentOperationCount = WorkerPool.eagerLimit
        for _ in 0..<WorkerPool.eagerLimit { queue.addOperation { while !mayEnd.isSet { sched_yield() } } }
        while WorkerPool[.utility].state.withLock({ $0.mayGrant(.eager) }) { sched_yield() }
        return (queue, mayEnd)
    }

    @Test func `a queue that is suspended does not start an operation that waits for its thread`() {
        let hasRun = runsWhileClosed { queue, _ in
            queue.isSuspended = true
        } reopen: { queue in
            queue.isSuspended = false
        }
        #expect(!hasRun)
    }

    @Test func `a width of 0 does not start an operation that waits for its thread`() {
        let hasRun = runsWhileClosed { queue, _ in
            queue.maxConcurrentOperationCount = 0
        } reopen: { queue in
            queue.maxConcurrentOperationCount = 1
        }
        #expect(!hasRun)
    }

    @Test func `a dependency delays an operation that waits for its thread`() {
        var dependency = BlockOperation {}
        let hasRun = runsWhileClosed { _, operation in
            dependency = BlockOperation {}
            operation.addDependency(dependency)
        } reopen: { _ in
            dependency.start()
        }
        #expect(!hasRun)
    }

    @Test func `a width that shrinks does not start more operations than it allows`() {
        var mayEnd = Gate()
        let hasRun = runsWhileClosed { queue in
            let (begun, end) = (Gate(), Gate())
            mayEnd = end
            queue.maxConcurrentOperationCount = 2
            queue.addOperation {
                begun.open()
                end.pass()
            }
            begun.pass()
        } close: { queue, _ in
            queue.maxConcurrentOperationCount = 1
        } reopen: { _ in
            mayEnd.open()
        }
        #expect(!hasRun)
    }

    @Test(.tags(.release))
    func `an operation starts in the end although its queue is closed again and again and puts it back`() {
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
