import Operations
import Synchronization
import TestSupport
import Testing

/// Rules C1–C4: cancelling one operation.
@Suite(.timeLimit(.minutes(5)), .tags(.threads)) struct CancellationTests {
    private final class Polling: Operation, @unchecked Sendable {
        let began = Gate()
        let cancelled = Gate()
        let endedBecauseCancelled = Atomic(false)

        override func main() {
            began.open()
            cancelled.pass()
            endedBecauseCancelled.store(isCancelled, ordering: .relaxed)
        }
    }

    /// Rule C1.
    @Test func `cancelling does not stop running code by force, and running code can see it`() {
        let operation = Polling()
        let queue = OperationQueue()
        queue.addOperation(operation)
        operation.began.pass()
        operation.cancel()
        #expect(operation.isCancelled && operation.isExecuting && !operation.isFinished)
        operation.cancelled.open()
        operation.waitUntilFinished()
        let saw = operation.endedBecauseCancelled.load(ordering: .relaxed)
        #expect(saw)
    }

    /// Rule C1.
    @Test func `cancelling a finished operation has no effect`() {
        let operation = CountingOperation()
        operation.start()
        operation.cancel()
        #expect(operation.isFinished && !operation.isCancelled)
        let asynchronous = AsynchronousOperation()
        asynchronous.start()
        asynchronous.finish()
        asynchronous.cancel()
        #expect(!asynchronous.isCancelled)
    }

    /// Rule C1.
    @Test func `cancelling twice has the effect of cancelling once`() {
        let operation = CountingOperation()
        operation.cancel()
        operation.cancel()
        #expect(operation.isCancelled)
        OperationQueue().addOperation(operation)
        operation.waitUntilFinished()
        #expect(operation.runCount == 0)
    }

    private final class Starting: CountingOperation, @unchecked Sendable {
        let starts = Atomic(0)
        override func start() {
            starts.add(1, ordering: .relaxed)
            super.start()
        }
    }

    /// Rule C2.
    @Test func `a cancelled operation does not wait for its dependencies`() {
        let queue = OperationQueue()
        let operation = Starting()
        let never = Operation()
        let dependent = CountingOperation()
        let completed = Gate()
        operation.completionBlock = { completed.open() }
        operation.addDependency(never)
        dependent.addDependency(operation)
        queue.addOperations([operation, dependent], waitUntilFinished: false)
        #expect(!operation.isReady)
        operation.cancel()
        operation.waitUntilFinished()
        completed.pass()
        dependent.waitUntilFinished()
        #expect(operation.starts.load(ordering: .relaxed) == 1)
        #expect(operation.runCount == 0 && operation.isFinished && operation.isReady)
        #expect(dependent.runCount == 1)
        #expect(!never.isFinished && operation.dependencies == [never])
    }

    /// Rule C2.
    @Test func `a dependency that is added to a cancelled operation does not hold it back`() {
        let queue = OperationQueue.suspended()
        let operation = CountingOperation()
        queue.addOperation(operation)
        operation.cancel()
        operation.addDependency(Operation())
        #expect(operation.isReady)
        queue.isSuspended = false
        operation.waitUntilFinished()
        #expect(operation.runCount == 0)
    }

    /// Rule C2.
    @Test func `a chain of waiting operations that is cancelled from its end finishes`() {
        let queue = OperationQueue()
        let head = GatedOperation()
        var chain: [Operation] = [head]
        for _ in 0..<200 {
            let next = CountingOperation()
            next.addDependency(chain.last!)
            chain.append(next)
        }
        queue.addOperations(chain, waitUntilFinished: false)
        head.began.pass()
        for operation in chain.dropFirst().reversed() { operation.cancel() }
        for operation in chain.dropFirst() { operation.waitUntilFinished() }
        #expect(chain.dropFirst().allSatisfy { ($0 as? CountingOperation)?.runCount == 0 })
        #expect(!head.isFinished)
        head.mayEnd.open()
        queue.waitUntilAllOperationsAreFinished()
    }

    /// Rule C2.
    @Test func `a block operation that is cancelled runs no block`() {
        let log = Journal<Int>()
        let operation = BlockOperation { log.append(1) }
        operation.addExecutionBlock { log.append(2) }
        operation.cancel()
        OperationQueue().addOperation(operation)
        operation.waitUntilFinished()
        #expect(log.entries.isEmpty)
    }

    /// Rule C3.
    @Test func `a suspended queue keeps its cancelled operations`() {
        let queue = OperationQueue()
        let blocker = GatedOperation()
        queue.addOperation(blocker)
        blocker.began.pass()
        queue.isSuspended = true
        let operations = (0..<10).map { _ in CountingOperation() }
        operations.forEach(queue.addOperation)
        queue.cancelAllOperations()
        #expect(operations.allSatisfy { $0.isCancelled && $0.isReady })
        // The thread that ends an operation of the queue looks for the next operation to start.
        blocker.mayEnd.open()
        blocker.waitUntilFinished()
        #expect(queue.countNow == 10)
        #expect(operations.allSatisfy { !$0.isFinished })
        queue.isSuspended = false
        queue.waitUntilAllOperationsAreFinished()
        #expect(operations.allSatisfy { $0.isFinished && $0.runCount == 0 })
    }

    /// Rule C4.
    @Test func `cancelling an operation in no queue makes it ready and finishes it when it is started`() throws {
        let operation = CountingOperation()
        operation.addDependency(Operation())
        #expect(!operation.isReady)
        operation.cancel()
        #expect(operation.isCancelled && operation.isReady && !operation.isFinished)
        try operation.tryStart()
        #expect(operation.isFinished && operation.runCount == 0)
    }

    /// Rule C4.
    @Test func `a cancelled operation may be queued and skips main`() {
        let queue = OperationQueue.serial()
        let operation = CountingOperation()
        operation.addDependency(Operation())
        let dependent = CountingOperation()
        dependent.addDependency(operation)
        operation.cancel()
        #expect(!operation.isFinished)
        queue.addOperations([dependent, operation], waitUntilFinished: true)
        #expect(operation.isFinished && operation.runCount == 0 && dependent.runCount == 1)
    }

    /// Rules C2 and L1.
    @Test func `cancelling while the queue starts it runs main at most once and always finishes`() {
        let queue = OperationQueue()
        let completions = Journal<Int>()
        let rounds = Stress.rounds(2000, least: 400)
        for round in 0..<rounds {
            let operation = CountingOperation()
            let completed = Gate()
            operation.completionBlock = {
                completions.append(round)
                completed.open()
            }
            let canceller = round % 2 == 0 ? nil : TestThread { operation.cancel() }
            queue.addOperation(operation)
            if canceller == nil { operation.cancel() }
            operation.waitUntilFinished()
            completed.pass()
            canceller?.join()
            if operation.runCount > 1 { Issue.record("ran twice") }
        }
        #expect(completions.entries == Array(0..<rounds))
    }
}
