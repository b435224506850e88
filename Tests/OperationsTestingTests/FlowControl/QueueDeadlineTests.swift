import Operations
import OperationsTesting
import TestSupport
import Testing

/// Rules N1, A7: a deadline of all operations of a queue.
@Suite(.timeLimit(.minutes(5))) struct QueueDeadlineTests {
    private let executor = ManualExecutor()
    private let clock = VirtualClock()

    private func deadline(_ seconds: Int) -> VirtualClock.Instant { .init(offset: .seconds(seconds)) }

    private func isOverdue(_ operation: Operations.Operation) -> Bool {
        guard case .failed(let error)? = operation.operationOutcome else { return false }
        return error as? OperationTimeout == .deadline
    }

    @Test func `operations that execute, wait or come later fail at the deadline, and earlier ones do not`() {
        let queue = executor.makeQueue(maxConcurrentOperationCount: 2)
        let clock = clock
        queue.setDeadline(deadline(10), clock: clock)
        let early = queue.addTask { try await clock.sleep(for: .seconds(5)) }
        let late = queue.addTask { try await clock.sleep(for: .seconds(100)) }
        let waiting = (0..<3).map { _ in queue.addTask { try await clock.sleep(for: .seconds(100)) } }
        executor.run(until: deadline(9), of: clock)
        #expect(early.operationOutcome == .succeeded && !late.isFinished)
        executor.runUntilIdle(advancing: clock)
        #expect(clock.now == deadline(10))
        #expect(isOverdue(late) && waiting.allSatisfy { isOverdue($0) })
        let later = BlockOperation { Issue.record("runs") }
        queue.addOperation(later)
        let batch = [BlockOperation { Issue.record("runs") }, BlockOperation { Issue.record("runs") }]
        queue.addOperations(batch, waitUntilFinished: false)
        executor.runUntilIdle()
        #expect(isOverdue(later) && batch.allSatisfy { isOverdue($0) })
        // Removed.
        queue.setDeadline(nil, clock: clock)
        let free = BlockOperation {}
        queue.addOperation(free)
        executor.runUntilIdle()
        #expect(free.operationOutcome == .succeeded)
    }

    @Test func `a new deadline replaces the old one, and a removed one leaves no sleeper`() {
        let queue = executor.makeQueue()
        let clock = clock
        queue.setDeadline(deadline(10), clock: clock)
        let work = queue.addTask { try await clock.sleep(for: .seconds(15)) }
        executor.runUntilIdle()
        queue.setDeadline(deadline(20), clock: clock)
        executor.runUntilIdle(advancing: clock)
        #expect(work.operationOutcome == .succeeded)
        queue.setDeadline(deadline(1000), clock: clock)
        executor.runUntilIdle()
        queue.setDeadline(nil, clock: clock)
        executor.runUntilIdle()
        #expect(clock.sleeperCount == 0)
    }

    @Test func `the release of a queue ends the wait for its deadline`() {
        var queue: OperationQueue? = executor.makeQueue()
        queue?.setDeadline(deadline(1000), clock: clock)
        executor.runUntilIdle()
        #expect(clock.sleeperCount == 1)
        queue = nil
        executor.runUntilIdle()
        #expect(clock.sleeperCount == 0)
    }

    @Test func `each operation that is added while the time ends either finishes or fails`() {
        for _ in 0..<Stress.rounds(50) {
            let queue = OperationQueue()
            queue.setDeadline(.now + .microseconds(200))
            let operations = (0..<50).map { _ in BlockOperation {} }
            for operation in operations { queue.addOperation(operation) }
            let last = TaskOperation { try await Task.sleep(for: .seconds(1000)) }
            queue.addOperation(last)
            queue.waitUntilAllOperationsAreFinished()
            #expect(isOverdue(last))
        }
    }
}
