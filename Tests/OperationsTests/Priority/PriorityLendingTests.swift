@testable import Operations
import TestSupport
import Testing

/// Lent priorities before and after the waiting.
@Suite(.timeLimit(.minutes(5))) struct PriorityLendingTests {
    @Test func `an operation that has waited for another one holds no reference to it`() throws {
        let (queue, other) = (OperationQueue(), OperationQueue())
        queue.priorityPolicy = .init(inheritsPriority: true)
        let operation = BlockOperation()
        let awaitedCount = Guarded(-1)
        operation.addExecutionBlock { [unowned operation] in
            let awaited = BlockOperation {}
            other.addOperation(awaited)
            awaited.waitUntilFinished()
            awaitedCount.withLock { $0 = operation.operationsWaitedFor.count }
        }
        queue.addOperations([operation], waitUntilFinished: true)
        #expect(awaitedCount.withLock { $0 } == 0)
    }

    /// In a separate process: other tests of this process use inheritance, so that all operations lend priorities when they
    /// are added.
    @Test func `operations that are in a queue when it begins to inherit lend their priority`() async {
        await #expect(processExitsWith: .success) {
            let held = HeldQueue()
            let log = Journal<String>()
            let (low, normal, urgent) = (
                BlockOperation { log.append("low") }, BlockOperation { log.append("normal") },
                BlockOperation { log.append("urgent") }
            )
            (low.queuePriority, urgent.queuePriority) = (.low, .veryHigh)
            urgent.addDependency(low)
            await held.queue.addOperations([low, normal, urgent], waitUntilFinished: false)
            held.queue.priorityPolicy = .init(inheritsPriority: true)
            held.release()
            precondition(log.entries == ["low", "urgent", "normal"], "\(log.entries)")
        }
    }

    @Test func `an operation started by hand lends nothing to a dependency that is added while it runs`() {
        let held = HeldQueue()
        held.queue.priorityPolicy = .init(inheritsPriority: true)
        let log = Journal<String>()
        let (low, urgent) = (BlockOperation { log.append("low") }, BlockOperation { log.append("urgent") })
        urgent.queuePriority = .veryHigh
        let running = AsynchronousOperation()
        running.start()
        running.addDependency(low)
        urgent.addDependency(running)
        held.queue.addOperations([low, urgent], waitUntilFinished: false)
        running.finish()
        held.release()
        #expect(log.entries == ["urgent", "low"])
    }
}
