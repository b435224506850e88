import Operations
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(5)), .tags(.release)) struct FailureHandlerTests {
    @Test func `an unread failure reaches the queue's handler once, when the operation is released`()
        async
    {
        let queue = OperationQueue()
        queue.name = "careless"
        let notified = Journal<String>()
        queue.unhandledFailureHandler = { notified.append("\($0)") }
        queue.addTask(name: "unseen") { throw Failure.expected }
        queue.addTask(name: "fine") {}
        queue.addTask(name: "cancelled") { throw CancellationError() }
        let block = BlockOperation {}
        block.name = "block"
        block.addExecutionBlock { [unowned block] in block.reportFailure(Failure.other) }
        queue.addOperation(block)
        _ = await queue.addTask(name: "seen") { throw Failure.expected }.result
        await queue.waitUntilAllOperationsAreFinished()
        #expect(block.isFinished)
        // The thread that ran it may hold it for a moment longer. After that, the test checks for a second call.
        while notified.entries.isEmpty, !Task.isCancelled { await Task.yield() }
        await OperationQueue.settleAsync()
        #expect(
            notified.entries
                == ["TaskOperation 'unseen' in 'careless' failed, and its error was never read: expected"])
        withExtendedLifetime(block) {}
    }

    @Test func `a dependent with a policy reads the failure, and so does a group`() async {
        let queue = OperationQueue()
        let notified = Journal<String>()
        queue.unhandledFailureHandler = { notified.append($0.operation) }
        do {
            let group = GroupOperation(policy: .waitForAll)
            group.addChildTask { throw Failure.expected }
            let failing = TaskOperation { throw Failure.expected }
            let dependent = BlockOperation {}
            dependent.dependencyFailurePolicy = .cancel
            dependent.addDependency(failing)
            await queue.addOperations([group, failing, dependent], waitUntilFinished: true)
            _ = group.operationOutcome
        }
        await OperationQueue.settleAsync()
        #expect(notified.entries.isEmpty)
    }

    @Test func `reading the outcome before the end does not mark the failure as read`() async {
        let queue = OperationQueue()
        let notified = Journal<String>()
        queue.unhandledFailureHandler = { notified.append($0.operation) }
        do {
            let operation = TaskOperation {}
            operation.reportFailure(Failure.expected)
            #expect(operation.operationOutcome == nil)
            await queue.addOperations([operation], waitUntilFinished: true)
        }
        while notified.entries.isEmpty { await Task.yield() }
    }

    @Test func `without a handler an unread failure has no effect`() async {
        let queue = OperationQueue()
        queue.unhandledFailureHandler = nil
        queue.addTask { throw Failure.expected }
        await queue.waitUntilAllOperationsAreFinished()
        #expect(queue.unhandledFailureHandler == nil)
    }
}
