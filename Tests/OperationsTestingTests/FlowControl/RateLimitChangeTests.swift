import Operations
import OperationsTesting
import TestSupport
import Testing

/// A rate limit that is set, replaced or removed while operations start, and periods of any length.
@Suite(.timeLimit(.minutes(5))) struct RateLimitChangeTests {
    private let executor = ManualExecutor()
    private let clock = VirtualClock()

    /// Rules L11, D9.
    @Test(.tags(.threads)) func `a queue loses no operation while several threads set and remove its limit`() throws {
        let limit = RateLimit.tokenBucket(1_000_000, per: .nanoseconds(1), burst: 1_000_000)
        for round in 0..<300 {
            let queue = executor.makeQueue()
            let meeting = Gate(2)
            let threads = [limit, nil].map { limit in
                TestThread {
                    meeting.meet()
                    for _ in 0..<20 { queue.setRateLimit(limit) }
                }
            }
            for thread in threads { thread.join() }
            let operation = BlockOperation {}
            queue.addOperation(operation)
            executor.runUntilIdle()
            guard operation.isFinished else {
                Issue.record("round \(round): the operation never starts")
                return
            }
        }
    }

    /// Rule D9: the clock of a limit is read without the lock, so the limit may have changed after the read.
    @Test(arguments: [true, false])
    func `a limit uses its own clock, even if it is set during a read of the old clock`(
        isWindow: Bool
    ) throws {
        let queue = executor.makeQueue()
        let next = clock
        let clock = InterceptedClock { [unowned queue] in
            queue.setRateLimit(
                isWindow ? .slidingWindow(1, per: .seconds(1)) : .tokenBucket(1, per: .seconds(1)), clock: next)
        }
        queue.setRateLimit(.tokenBucket(1000, per: .seconds(1)), clock: clock)
        clock.base.advance(by: .seconds(3600))
        let log = Journal<Int64>()
        clock.isArmed.withLock { $0 = true }
        for _ in 0..<3 { queue.addOperation { log.append(next.now.offset.components.seconds) } }
        executor.runUntilIdle(advancing: next)
        #expect(log.entries == [0, 1, 2])
        #expect(next.now.offset == .seconds(2))
    }

    /// The thread that starts a timer may be slow: the timer has fired, and the queue waits for the next permit already.
    @Test func `a queue opens again although its last timer fired before the thread that started it continued`() {
        let host = EagerHost()
        let queue = OperationQueue(on: host)
        queue.setRateLimit(.slidingWindow(1, per: .seconds(1)), clock: EagerClock())
        queue.isSuspended = true
        let operations = (0..<4).map { _ in BlockOperation {} }
        queue.addOperations(operations, waitUntilFinished: false)
        queue.isSuspended = false
        // The host runs the first timer, and with it the second operation, within the start of that timer.
        #expect(operations.filter { $0.isFinished }.count == 2)
        host.runKeptJobs()
        #expect(operations.allSatisfy { $0.isFinished })
    }

    /// Rule A9: an operation that has to wait for another reason releases its permit at once.
    @Test func `an operation that has to wait releases its permit for other operations`() throws {
        let (queue, other) = (executor.makeQueue(), executor.makeQueue())
        let clock = clock
        queue.setRateLimit(.slidingWindow(1, per: .seconds(100)), clock: clock)
        let holder = TaskOperation { try await clock.sleep(for: .seconds(50)) }
        let waiting = BlockOperation {}
        for operation in [holder, waiting] as [Operation] { operation.addRequirement(.exclusive("permit of another")) }
        other.addOperation(holder)
        executor.runUntilIdle()
        let free = BlockOperation {}
        queue.addOperations([waiting, free], waitUntilFinished: false)
        executor.runUntilIdle()
        #expect(free.isFinished && !waiting.isFinished && clock.now.offset == .zero)
        executor.runUntilIdle(advancing: clock)
        #expect(waiting.isFinished && clock.now.offset == .seconds(100))
        #expect(clock.sleeperCount == 0)
    }

    /// A period may be as long as the longest duration.
    @Test func `the longest periods, limits and deadlines do not trap`() throws {
        let forever = Duration.seconds(Int64.max)
        for period in [
            forever, forever + forever, .nanoseconds(UInt64.max), .nanoseconds(UInt64.max) - .nanoseconds(1),
        ] {
            for limit in [
                RateLimit.slidingWindow(1, per: period), .tokenBucket(1, per: period),
                .tokenBucket(.max, per: period, burst: .max), .slidingWindow(.max, per: period),
            ] {
                let queue = executor.makeQueue()
                clock.advance(by: .seconds(1))
                queue.setRateLimit(limit, clock: clock)
                for _ in 0..<3 { queue.addOperation {} }
                executor.runUntilIdle()
                clock.advance(by: .seconds(1))
                executor.runUntilIdle()
                queue.cancelAllOperations()
                queue.setRateLimit(nil)
                executor.runUntilIdle()
            }
            let queue = executor.makeQueue()
            let operation = BlockOperation {}
            operation.setTimeout(period)
            operation.setDeadline(clock.now.advanced(by: period), clock: clock)
            operation.setDeadline(
                SuspendingClock.now.advanced(by: .nanoseconds(UInt64.max)), clock: SuspendingClock())
            queue.addOperation(operation)
            executor.runUntilIdle()
            #expect(operation.isFinished && !operation.isCancelled)
            OperationQueue().stallDelay = period
            let task = executor.task { try await ContinuousClock().sleepFully(for: period) }
            executor.runUntilIdle()
            task.cancel()
            executor.runUntilIdle()
        }
        #expect(RetryPolicy.Backoff.longest(forever) == forever)
    }
}

extension RetryPolicy.Backoff {
    fileprivate static func longest(_ cap: Duration) -> Duration? {
        var random = SystemRandomNumberGenerator()
        let policy = try? RetryPolicy(
            retries: .max, backoff: .exponential(.seconds(1), factor: 1e300, cap: cap), jitter: .none)
        return policy?.delay(beforeRetry: 1000, using: &random)
    }
}

/// A host that runs operations and the first job on the calling thread, before the call returns. It keeps other jobs.
private final class EagerHost: QueueHost {
    private let jobs = Guarded<(isFirst: Bool, kept: [UnownedJob])>((true, []))

    func call(_ queue: OperationQueue) { queue.workOnce() }
    func choose(among count: Int) -> Int { 0 }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let runsNow = jobs.withLock { jobs in
            defer { jobs.isFirst = false }
            if !jobs.isFirst { jobs.kept.append(job) }
            return jobs.isFirst
        }
        if runsNow { job.runSynchronously(on: asUnownedTaskExecutor()) }
    }

    func runKeptJobs() {
        while let job = jobs.withLock({ $0.kept.isEmpty ? nil : $0.kept.removeFirst() }) {
            job.runSynchronously(on: asUnownedTaskExecutor())
        }
    }
}

/// A virtual clock on which a sleep takes no time: the clock advances to the deadline.
private final class EagerClock: Clock {
    typealias Instant = VirtualClock.Instant
    private let base = VirtualClock()

    var now: Instant { base.now }
    var minimumResolution: Duration { base.minimumResolution }

    func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        try Task.checkCancellation()
        if deadline > now { base.advance(by: now.duration(to: deadline)) }
    }
}

/// A virtual clock that calls a function once, after a read and before the reader receives the result.
private final class InterceptedClock: Clock {
    typealias Instant = VirtualClock.Instant
    let base = VirtualClock()
    let isArmed = Guarded(false)
    private let action: @Sendable () -> Void

    init(_ action: @escaping @Sendable () -> Void) { self.action = action }

    var now: Instant {
        let now = base.now
        let mustAct = isArmed.withLock { isArmed in
            defer { isArmed = false }
            return isArmed
        }
        if mustAct { action() }
        return now
    }

    var minimumResolution: Duration { base.minimumResolution }

    func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        try await base.sleep(until: deadline, tolerance: tolerance)
    }
}
