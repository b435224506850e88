import Operations
import Synchronization
import TestSupport
import Testing

/// Rules C5 and C6: cancelling a whole queue, and overridden `cancel()`.
@Suite(.timeLimit(.minutes(5)), .tags(.threads)) struct CancelAllTests {
    /// Rule C5.
    @Test func `all waiting and executing operations are cancelled, and later ones are not`() {
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 2
        let running = [GatedOperation(), GatedOperation()]
        let waiting = (0..<50).map { _ in CountingOperation() }
        running.forEach(queue.addOperation)
        running.forEach { $0.began.pass() }
        for operation in waiting {
            operation.addDependency(running[0])
            queue.addOperation(operation)
        }
        queue.cancelAllOperations()
        #expect(running.allSatisfy { $0.isCancelled && $0.isExecuting })
        #expect(waiting.allSatisfy { $0.isCancelled })
        let later = CountingOperation()
        queue.addOperation(later)
        running.forEach { $0.mayEnd.open() }
        queue.waitUntilAllOperationsAreFinished()
        #expect(waiting.allSatisfy { $0.isFinished && $0.runCount == 0 })
        #expect(!later.isCancelled && later.runCount == 1)
    }

    private final class CancelsOthers: Operation, @unchecked Sendable {
        let queue: OperationQueue
        let added = CountingOperation()
        init(_ queue: OperationQueue) { self.queue = queue }
        override func cancel() {
            super.cancel()
            queue.addOperation(added)
        }
    }

    /// Rule C5: an operation that arrives during the call is not part of the snapshot.
    @Test func `an operation that is added from inside an overridden cancel is not cancelled`() {
        let queue = OperationQueue.suspended()
        let operations = (0..<20).map { _ in CancelsOthers(queue) }
        operations.forEach(queue.addOperation)
        queue.cancelAllOperations()
        queue.isSuspended = false
        queue.waitUntilAllOperationsAreFinished()
        #expect(operations.allSatisfy { $0.isCancelled && !$0.added.isCancelled && $0.added.runCount == 1 })
    }

    /// Rule C5.
    @Test func `barrier blocks are not cancelled and keep their place`() {
        let queue = OperationQueue.suspended()
        let log = Journal<String>()
        queue.addOperation { log.append("cancelled") }
        queue.addBarrierBlock { log.append("barrier") }
        let behind = CountingOperation()
        behind.completionBlock = { log.append("behind") }
        queue.addOperation(behind)
        queue.addBarrierBlock { log.append("last") }
        queue.cancelAllOperations()
        queue.isSuspended = false
        queue.waitUntilAllOperationsAreFinished()
        #expect(log.entries.filter { $0 != "behind" } == ["barrier", "last"])
        #expect(behind.isCancelled && behind.runCount == 0)
    }

    /// Rule C5.
    @Test func `an operation may cancel the queue it runs in`() {
        let queue = OperationQueue.serial()
        let waiting = (0..<10).map { _ in CountingOperation() }
        let canceller = BlockOperation { [unowned queue] in queue.cancelAllOperations() }
        let start = GatedOperation()
        queue.addOperation(start)
        queue.addOperation(canceller)
        waiting.forEach(queue.addOperation)
        start.mayEnd.open()
        queue.waitUntilAllOperationsAreFinished()
        #expect(canceller.isCancelled && canceller.isFinished)
        #expect(waiting.allSatisfy { $0.isCancelled && $0.runCount == 0 })
    }

    /// Rule C5.
    @Test func `a queue that is cancelled repeatedly while operations arrive becomes empty`() {
        let queue = OperationQueue()
        let isDone = Atomic(false)
        let canceller = TestThread { while !isDone.load(ordering: .relaxed) { queue.cancelAllOperations() } }
        let operations = (0..<Stress.rounds(3000, least: 900)).map { _ in CountingOperation() }
        for (index, operation) in operations.enumerated() {
            if index % 3 == 2 { operation.addDependency(operations[index - 1]) }
            queue.addOperation(operation)
        }
        queue.waitUntilAllOperationsAreFinished()
        isDone.store(true, ordering: .relaxed)
        canceller.join()
        #expect(operations.allSatisfy { $0.isFinished && ($0.isCancelled || $0.runCount == 1) })
    }

    /// Rule C5: in a separate process, because all tests share the main queue.
    @Test func `the main queue can be cancelled too`() async {
        await #expect(processExitsWith: .success) {
            let operations = (0..<5).map { _ in CountingOperation() }
            await MainActor.run {
                operations.forEach(OperationQueue.main.addOperation)
                OperationQueue.main.cancelAllOperations()
            }
            for operation in operations { await operation.waitUntilFinished() }
            guard operations.allSatisfy({ $0.isCancelled && $0.isFinished && $0.runCount == 0 }) else { fatalError() }
            let later = CountingOperation()
            OperationQueue.main.addOperation(later)
            await later.waitUntilFinished()
            guard later.runCount == 1 else { fatalError() }
        }
    }

    /// Rule C6.
    @Test(arguments: Spelling.allCases)
    func `an asynchronous operation may finish itself from inside cancel`(spelling: Spelling) {
        let queue = OperationQueue.serial()
        let operation = FinishesInCancel(spelling)
        let next = CountingOperation()
        queue.addOperation(operation)
        operation.began.pass()
        queue.addOperation(next)
        operation.cancel()
        #expect(operation.isCancelled && operation.isFinished)
        operation.waitUntilFinished()
        next.waitUntilFinished()
        #expect(next.runCount == 1)
    }

    /// Rule C6.
    @Test func `operations that finish inside cancel survive a race of start and cancelAllOperations`() {
        for width in [1, 2, -1] {
            let queue = OperationQueue()
            queue.maxConcurrentOperationCount = width
            for _ in 0..<100 {
                let operations = (0..<10).map { _ in FinishesInCancel() }
                operations.forEach(queue.addOperation)
                queue.cancelAllOperations()
                queue.waitUntilAllOperationsAreFinished()
                #expect(operations.allSatisfy { $0.isFinished && $0.isCancelled })
                #expect(queue.countNow == 0)
            }
        }
    }

    /// Gives the workers time to start operations during `cancelAllOperations`.
    private final class LingersInCancel: CountingOperation, @unchecked Sendable {
        override func cancel() {
            super.cancel()
            OperationQueue.settle()
        }
    }

    /// Rule C5: meanwhile the first operation is cancelled and ready, and its end would make the second one ready.
    @Test func `an operation whose dependency is cancelled in the same call does not start in between`() {
        let queue = OperationQueue()
        let (first, second) = (LingersInCancel(), CountingOperation())
        first.addDependency(Operation())
        second.addDependency(first)
        queue.addOperations([first, second], waitUntilFinished: false)
        queue.cancelAllOperations()
        queue.waitUntilAllOperationsAreFinished()
        #expect(first.runCount == 0 && second.runCount == 0)
        #expect(second.isCancelled)
    }
}
