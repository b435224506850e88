import Operations
import OperationsTesting
import TestSupport
import Testing

/// Operations with inner queues run on the executor of their own queue.
@Suite(.timeLimit(.minutes(5))) struct InnerQueueTests {
    private let executor = ManualExecutor()
    private let clock = VirtualClock()

    @Test func `groups, nested groups and later children run in steps`() {
        let queue = executor.makeQueue()
        let log = Journal<String>()
        let clock = clock
        let inner = GroupOperation()
        inner.addChildTask {
            try await clock.sleep(for: .seconds(3600))
            log.append("inner")
        }
        let outer = GroupOperation { [inner] }
        outer.addChild(BlockOperation { log.append("outer") })
        queue.addOperation(outer)
        let late = GroupOperation()
        late.addChild(BlockOperation { log.append("late") })
        outer.addChild(late)
        #expect(log.entries.isEmpty)
        executor.runUntilIdle(advancing: clock)
        #expect(outer.isFinished)
        #expect(log.entries.sorted() == ["inner", "late", "outer"] && log.entries.last == "inner")
        #expect(clock.now.offset == .seconds(3600))
    }

    @Test func `a retry and its delays run in steps`() throws {
        struct Failure: Error {}
        let queue = executor.makeQueue()
        let policy = RetryPolicy(retries: 3, backoff: .constant(.seconds(60)), jitter: .none)
        let attempts = Journal<Int>()
        let operation = RetryOperation(policy, clock: clock) { number in
            TaskOperation {
                attempts.append(number)
                if number < 3 { throw Failure() }
            }
        }
        queue.addOperation(operation)
        executor.runUntilIdle(advancing: clock)
        #expect(operation.isFinished && attempts.entries == [1, 2, 3])
        #expect(clock.now.offset == .seconds(120))
    }
}
