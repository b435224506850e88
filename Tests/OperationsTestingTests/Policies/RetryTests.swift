import Operations
import OperationsTesting
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(5))) struct RetryTests {
    @Test func `delays grow according to the backoff, up to the cap`() throws {
        func delays(_ backoff: RetryPolicy.Backoff) throws -> [Duration] {
            let policy = RetryPolicy(retries: 5, backoff: backoff, jitter: .none)
            var random = SeededGenerator(seed: 1)
            return (1...5).map { policy.delay(beforeRetry: $0, using: &random) }
        }
        #expect(try delays(.none) == [.zero, .zero, .zero, .zero, .zero])
        #expect(try delays(.constant(.seconds(2))) == Array(repeating: .seconds(2), count: 5))
        #expect(try delays(.linear(.seconds(2), cap: .seconds(7))) == [2, 4, 6, 7, 7].map { .seconds($0) })
        #expect(
            try delays(.exponential(.seconds(1), factor: 3, cap: .seconds(30)))
                == [1, 3, 9, 27, 30].map { .seconds($0) })
    }

    @Test func `a delay may be zero`() {
        for backoff in [
            RetryPolicy.Backoff.constant(.zero), .linear(.zero, cap: .zero), .exponential(.zero, cap: .zero),
        ] {
            #expect(RetryPolicy(retries: 1, backoff: backoff).delay(beforeRetry: 1) == .zero)
        }
    }

    @Test func `an attempt that fails after a cancellation of its task is the last, and its error is thrown`() async {
        struct Failed: Error {}
        let policy = RetryPolicy(retries: 3, backoff: .constant(.seconds(1000)))
        let task = Task {
            try await policy.run { _ in
                withUnsafeCurrentTask { $0?.cancel() }
                throw Failed()
            }
        }
        await #expect(throws: Failed.self) { try await task.value }
    }

    @Test func `very many retries do not overflow`() throws {
        for backoff in [
            RetryPolicy.Backoff.exponential(.seconds(1), cap: .seconds(3600)),
            .linear(.seconds(9), cap: .seconds(3600)),
        ] {
            let policy = RetryPolicy(retries: .max, backoff: backoff, jitter: .none)
            var random = SeededGenerator(seed: 1)
            #expect(policy.delay(beforeRetry: 1_000_000_000, using: &random) == .seconds(3600))
        }
    }

    @Test(arguments: [Int.min, -1, 0, 1, .max])
    func `the delay of any retry is between the first delay and the cap, and is found at once`(retry: Int) {
        for factor in [1, 1 + 1e-10, 2, 1e300] {
            let backoff = RetryPolicy.Backoff.exponential(.nanoseconds(1), factor: factor, cap: .seconds(60))
            let delay = RetryPolicy(retries: .max, backoff: backoff, jitter: .none).delay(beforeRetry: retry)
            #expect(delay == (retry == .max && factor > 1 ? .seconds(60) : .nanoseconds(1)))
        }
        let linear = RetryPolicy(retries: .max, backoff: .linear(.nanoseconds(1)), jitter: .none)
        #expect(linear.delay(beforeRetry: retry) == (retry == .max ? .seconds(60) : .nanoseconds(1)))
    }

    @Test func `jitter stays in its range and depends only on the generator`() throws {
        for (jitter, range) in [(RetryPolicy.Jitter.full, 0.0...1.0), (.equal, 0.5...1.0)] {
            let policy = RetryPolicy(retries: 1, backoff: .constant(.seconds(1)), jitter: jitter)
            var random = SeededGenerator(seed: 5)
            var again = SeededGenerator(seed: 5)
            var values: [Double] = []
            for _ in 0..<1000 {
                let delay = policy.delay(beforeRetry: 1, using: &random)
                #expect(delay == policy.delay(beforeRetry: 1, using: &again))
                values.append(delay / .seconds(1))
            }
            #expect(values.allSatisfy(range.contains))
            #expect(abs(values.reduce(0, +) / 1000 - (range.lowerBound + range.upperBound) / 2) < 0.05)
        }
    }

    @Test func `an attempt that the queue rejects is released, and its error is the failure`() async {
        let retry = RetryOperation(RetryPolicy(retries: 1, backoff: .none)) { _ in
            let ended = BlockOperation {}
            // It has attachments, whose release takes their lock.
            ended.name = "ended"
            ended.start()
            return ended
        }
        await OperationQueue().addOperations([retry], waitUntilFinished: true)
        #expect(retry.operationOutcome?.description.hasPrefix("failed") == true)
    }

    @Test func `failing work is retried after the delays, and its last error is thrown`() throws {
        let executor = ManualExecutor()
        let clock = VirtualClock()
        let policy = RetryPolicy(retries: 3, backoff: .exponential(.seconds(1)), jitter: .none)
        let queue = executor.makeQueue()
        let times = Journal<Int64>()
        let succeeds = queue.addTask {
            try await policy.run(clock: clock) { attempt in
                times.append(clock.now.offset.components.seconds)
                guard attempt == 3 else { throw Failure.again(attempt) }
                return attempt
            }
        }
        executor.runUntilIdle(advancing: clock)
        #expect(times.entries == [0, 1, 3] && succeeds.operationOutcome?.description == "succeeded")
        let fails = queue.addTask { try await policy.run(clock: clock) { throw Failure.again($0) } }
        executor.runUntilIdle(advancing: clock)
        #expect(clock.now.offset == .seconds(3 + 7) && fails.operationOutcome?.description == "failed: again(4)")
    }

    @Test func `neither a final error nor a cancellation is retried`() throws {
        let executor = ManualExecutor()
        let clock = VirtualClock()
        let policy = RetryPolicy(retries: 3) { ($0 as? Failure) != .final }
        let attempts = Journal<String>()
        let queue = executor.makeQueue()
        queue.addTask {
            try await policy.run(clock: clock) { _ in
                attempts.append("final"); throw Failure.final
            }
        }
        queue.addTask {
            try await policy.run(clock: clock) { _ in
                attempts.append("cancelled"); throw CancellationError()
            }
        }
        let cancelled = queue.addTask {
            try await policy.run(clock: clock) { _ in
                attempts.append("again")
                throw Failure.again(0)
            }
        }
        executor.runUntilIdle()
        cancelled.cancel()
        executor.runUntilIdle(advancing: clock)
        #expect(attempts.entries == ["final", "cancelled", "again"] && clock.now.offset == .zero)
        #expect(cancelled.isFinished)
    }

    @Test func `a retry operation makes a new operation for each attempt`() async throws {
        let queue = OperationQueue()
        let policy = RetryPolicy(retries: 3, backoff: .none)
        let numbers = Journal<Int>()
        let operation = RetryOperation(policy) { number in
            numbers.append(number)
            return TaskOperation { if number < 3 { throw Failure.again(number) } }
        }
        await queue.addOperations([operation], waitUntilFinished: true)
        #expect(numbers.entries == [1, 2, 3] && operation.operationOutcome?.description == "succeeded")
        let hopeless = RetryOperation(policy) { number in TaskOperation { throw Failure.again(number) } }
        await queue.addOperations([hopeless], waitUntilFinished: true)
        #expect(hopeless.operationOutcome?.description == "failed: again(4)")
    }

    @Test func `an attempt that another caller cancels ends the retries with a cancellation`() async throws {
        let queue = OperationQueue()
        let numbers = Journal<Int>()
        let operation = RetryOperation(RetryPolicy(retries: 3, backoff: .none)) { number in
            numbers.append(number)
            let attempt = BlockOperation {}
            attempt.cancel()
            return attempt
        }
        await queue.addOperations([operation], waitUntilFinished: true)
        #expect(numbers.entries == [1] && operation.operationOutcome?.description == "was cancelled")
    }

    @Test func `an attempt that is made while the retry operation is cancelled does not run`() async throws {
        let queue = OperationQueue()
        let (hasRun, retrying) = (Guarded(false), Guarded<RetryOperation?>(nil))
        let operation = RetryOperation(RetryPolicy(retries: 3, backoff: .none)) { _ in
            retrying.withLock { $0 }?.cancel()
            return BlockOperation { hasRun.withLock { $0 = true } }
        }
        retrying.withLock { $0 = operation }
        await queue.addOperations([operation], waitUntilFinished: true)
        retrying.withLock { $0 = nil }
        #expect(!hasRun.withLock { $0 } && operation.isCancelled)
    }

    @Test func `an operation that an attempt has added and that depends on the retry operation is no stall`() {
        let (executor, clock) = (ManualExecutor(), VirtualClock())
        let attempts = Guarded<OperationQueue?>(nil)
        let policy = RetryPolicy(retries: 1, backoff: .constant(.seconds(30)), jitter: .none)
        let later = BlockOperation {}
        let retry = RetryOperation(policy, clock: clock) { number in
            TaskOperation {
                guard number == 1, let queue = OperationQueue.current else { return }
                attempts.withLock { $0 = queue }
                queue.addOperation(later)
                throw Refusal()
            }
        }
        later.addDependency(retry)
        executor.makeQueue().addOperation(retry)
        executor.runUntilIdle()
        #expect(attempts.withLock { $0?.stallReport()?.description } == nil)
        executor.runUntilIdle(advancing: clock)
        #expect(later.isFinished)
    }

    private struct Refusal: Error {}

    @Test func `cancelling a retry operation cancels the attempt`() async throws {
        let queue = OperationQueue()
        let begins = AsyncGate()
        let operation = RetryOperation(RetryPolicy(retries: 3)) { _ in
            TaskOperation {
                begins.open()
                while !Task.isCancelled { await Task.yield() }
                throw Failure.again(1)
            }
        }
        queue.addOperation(operation)
        await begins.pass()
        operation.cancel()
        await operation.waitUntilFinished()
        #expect(operation.isCancelled)
    }

    private enum Failure: Error, Equatable {
        case again(Int)
        case final
    }
}
