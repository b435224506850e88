import Operations
import OperationsTesting
import TestSupport
import Testing

/// Rules N1, A12: an operation that waits between attempts gives its slot and its key's turn to others.
@Suite(.timeLimit(.minutes(5))) struct SlotReleaseTests {
    private let executor = ManualExecutor()
    private let clock = VirtualClock()

    private final class Attempts: AsyncOperation, @unchecked Sendable {
        let log: Journal<String>
        let clock: VirtualClock

        init(_ log: Journal<String>, _ clock: VirtualClock) { (self.log, self.clock) = (log, clock) }

        override func run() async throws {
            log.append("first")
            try await releaseSlot(for: .seconds(10), clock: clock)
            log.append("second")
        }
    }

    @Test func `other operations use the slot and the turn meanwhile`() {
        let queue = executor.makeQueue()
        queue.maxConcurrentOperationCount = 1
        queue.setLimitPerKey(1)
        let log = Journal<String>()
        let attempts = Attempts(log, clock)
        queue.addOperation(attempts, limitKey: "host")
        for name in ["a", "b"] { queue.addOperation(name: name, limitKey: "host") { log.append(name) } }
        executor.runUntilIdle()
        #expect(log.entries == ["first", "a", "b"])
        #expect(!attempts.isExecuting && !attempts.isPaused && !attempts.isFinished)
        #expect(queue.explain(attempts).reasons == [.slotReleased(for: .seconds(10))] && queue.stallReport() == nil)
        executor.runUntilIdle(advancing: clock)
        #expect(log.entries == ["first", "a", "b", "second"] && attempts.operationOutcome == .succeeded)
        #expect(clock.now.offset == .seconds(10))
    }

    @Test func `a pause during the time holds, and a resume does not end the time`() {
        let queue = executor.makeQueue()
        let log = Journal<String>()
        let attempts = Attempts(log, clock)
        queue.addOperation(attempts)
        executor.runUntilIdle()
        attempts.pause()
        #expect(attempts.isPaused)
        attempts.resume()
        executor.runUntilIdle()
        #expect(log.entries == ["first"])
        attempts.pause()
        executor.runUntilIdle(advancing: clock)
        #expect(log.entries == ["first"] && queue.explain(attempts).reasons == [.paused])
        attempts.resume()
        executor.runUntilIdle()
        #expect(log.entries == ["first", "second"] && attempts.isFinished)
    }

    @Test func `a cancellation ends the time`() {
        let queue = executor.makeQueue()
        let log = Journal<String>()
        let attempts = Attempts(log, clock)
        queue.addOperation(attempts)
        executor.runUntilIdle()
        attempts.cancel()
        executor.runUntilIdle()
        #expect(log.entries == ["first"] && attempts.operationOutcome == .cancelled && clock.sleeperCount == 0)
    }

    @Test func `an operation without a queue only sleeps`() async {
        let log = Journal<String>()
        let attempts = Attempts(log, clock)
        attempts.start()
        await clock.sleepers(atLeast: 1)
        #expect(attempts.isExecuting)
        clock.advance(by: .seconds(10))
        await attempts.waitUntilFinished()
        #expect(log.entries == ["first", "second"])
    }

    @Test func `a task with a retry runs others in its slot between its attempts`() async throws {
        let queue = OperationQueue(name: "work", maxConcurrentOperationCount: 1)
        let (log, failed) = (Journal<String>(), Guarded(0))
        let policy = RetryPolicy(retries: 3, backoff: .constant(.milliseconds(20)), jitter: .none)
        let task = queue.addTask(retry: policy) {
            let number = failed.withLock {
                $0 += 1; return $0
            }
            log.append("attempt \(number)")
            if number < 3 { throw Failed() }
            return number
        }
        for _ in 0..<3 { queue.addOperation { log.append("other") } }
        #expect(try await task.value == 3)
        // The others wait in line when the first delay begins.
        #expect(log.entries == ["attempt 1", "other", "other", "other", "attempt 2", "attempt 3"])
        await #expect(throws: Failed.self) {
            try await queue.run(retry: RetryPolicy(retries: 1, backoff: .none)) { throw Failed() }
        }
    }

    @Test func `a retry operation runs others in its slot between its attempts, and only then`() {
        let queue = executor.makeQueue()
        queue.maxConcurrentOperationCount = 1
        queue.setLimitPerKey(1)
        let log = Journal<String>()
        let policy = RetryPolicy(retries: 1, backoff: .constant(.seconds(10)), jitter: .none)
        let retry = RetryOperation(policy, clock: clock) { number in
            TaskOperation {
                log.append("attempt \(number)")
                if number == 1 { throw Failed() }
            }
        }
        queue.addOperation(retry, limitKey: "host")
        for name in ["a", "b"] { queue.addOperation(name: name, limitKey: "host") { log.append(name) } }
        executor.runUntilIdle()
        #expect(log.entries == ["attempt 1", "a", "b"] && !retry.isExecuting)
        #expect(queue.explain(retry).reasons == [.slotReleased(for: .seconds(10))] && queue.stallReport() == nil)
        executor.runUntilIdle(advancing: clock)
        #expect(log.entries == ["attempt 1", "a", "b", "attempt 2"] && retry.operationOutcome == .succeeded)
        #expect(clock.now.offset == .seconds(10))
    }

    @Test func `a cancelled retry operation ends during a delay, without another attempt`() {
        let queue = executor.makeQueue()
        let log = Journal<Int>()
        let policy = RetryPolicy(retries: 3, backoff: .constant(.seconds(10)), jitter: .none)
        let retry = RetryOperation(policy, clock: clock) { number in
            TaskOperation {
                log.append(number)
                throw Failed()
            }
        }
        queue.addOperation(retry)
        executor.runUntilIdle()
        retry.cancel()
        executor.runUntilIdle()
        #expect(log.entries == [1] && retry.operationOutcome == .cancelled && clock.sleeperCount == 0)
    }

    @Test func `a retry without a delay keeps its slot`() {
        let queue = executor.makeQueue()
        queue.maxConcurrentOperationCount = 1
        let log = Journal<String>()
        let retry = RetryOperation(RetryPolicy(retries: 2, backoff: .none)) { number in
            TaskOperation {
                log.append("attempt \(number)")
                throw Failed()
            }
        }
        queue.addOperation(retry)
        queue.addOperation { log.append("other") }
        executor.runUntilIdle()
        #expect(log.entries == ["attempt 1", "attempt 2", "attempt 3", "other"])
    }

    private struct Failed: Error {}
}
