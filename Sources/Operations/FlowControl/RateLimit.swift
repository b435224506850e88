import SchedulerCore
import Synchronization

/// A limit for the number of operations of a queue that start in a period.
///
/// ```swift
/// queue.setRateLimit(.tokenBucket(10, per: .seconds(1), burst: 20))
/// ```
public struct RateLimit: Sendable, Equatable {
    let rule: RateLimiter.Rule

    /// Returns a limit whose permits arrive evenly, `count` in each period. The queue keeps up to `burst` unused permits.
    ///
    /// A timer that starts the next operation is late by some tenths of a millisecond. With a burst of 1 this time is lost at each
    /// start: little at 50 starts in a second, a sixth at 1,000. A larger burst makes up for it. In return, starts may be closer than
    /// `period / count`. The default is 1 below 100 starts in a second, and makes up for up to 10 ms above.
    ///
    /// The call stops the process if `count` or `burst` is below 1, or the period is not above zero.
    ///
    /// - Parameters:
    ///   - count: The number of permits that arrive in a period.
    ///   - period: The length of a period.
    ///   - burst: The largest number of permits that are kept, and given at once after a pause and at the beginning. The default,
    ///     nil, is one more than the permits of 10 ms: for 50 permits in a second 1, for 100 permits 2, for 1,000 permits 11.
    public static func tokenBucket(
        _ count: Int, per period: Duration, burst: Int? = nil
    ) -> RateLimit {
        if let burst, burst < 1 { InvalidPolicy.limit(burst).stop() }
        let (count, period) = checked(count, period)
        let burst = burst.map(UInt64.init) ?? RateLimiter.Rule.burst(of: count, in: period)
        return RateLimit(rule: .tokenBucket(count: count, period: period, burst: burst))
    }

    /// Returns a limit of at most `count` starts in any time span of one period.
    ///
    /// The call stops the process if `count` is below 1, or the period is not above zero.
    public static func slidingWindow(_ count: Int, per period: Duration) -> RateLimit {
        let (count, period) = checked(count, period)
        return RateLimit(rule: .slidingWindow(count: count, period: period))
    }

    private static func checked(_ count: Int, _ period: Duration) -> (UInt64, UInt64) {
        if count < 1 { InvalidPolicy.limit(count).stop() }
        if period.wholeNanoseconds < 1 { InvalidPolicy.period(period).stop() }
        return (UInt64(count), period.wholeNanoseconds)
    }
}

extension OperationQueue {
    /// The limit of how fast operations start; nil for no limit. See ``setRateLimit(_:clock:)``.
    public final var rateLimit: RateLimit? { withState { $0.policies.first(RatePolicy.self)?.limit } }

    /// Limits how fast operations start. `nil` removes the limit. The change applies at once to all operations that have
    /// not started.
    ///
    /// An operation that waits for a permit holds no slot and no thread. Permits are given in the queue's order. A
    /// cancelled operation uses no permit, but the queue ends the operation only when the next permit is due. Barriers
    /// and parts of tasks use no permits.
    ///
    /// - Parameters:
    ///   - limit: The number of starts in a period.
    ///   - clock: The clock that measures the period.
    public final func setRateLimit<C: Clock<Duration>>(_ limit: RateLimit?, clock: C = ContinuousClock()) {
        let policy = limit.map { limit in
            let start = clock.now
            return RatePolicy(
                limit: limit, time: { start.duration(to: clock.now).wholeNanoseconds },
                sleep: { try await clock.sleepFully(until: start.advanced(by: .nanoseconds($0))) })
        }
        // Released without the lock: the policy holds the clock of the caller.
        let (old, timer): ([any QueuePolicy], Task<Void, Never>?) = withState { state in
            let timer = state.policies.first(RatePolicy.self)?.timer
            let old = state.policies.remove(.rate)
            if let policy { state.policies.insert(policy) }
            state.handle(.setThrottled(false))
            // Stored under the lock: of several threads, the thread that sets the limit last also stores this value last.
            readsClock.store(policy != nil, ordering: .releasing)
            return (old, timer)
        }
        timer?.cancel()
        withExtendedLifetime(old) {}
    }
}

/// A rate limit in use by a queue.
final class RatePolicy: QueuePolicy, @unchecked Sendable {
    // Sendable: the variables are guarded by the lock of the queue, the closures are called without it.
    let rank = QueuePolicyRank.rate
    let coversAll = true
    let limit: RateLimit
    private var limiter: RateLimiter
    /// The task that opens the queue again.
    var timer: Task<Void, Never>?
    /// The times at which the operations in the queue received permits. An operation returns its permit if it does not start.
    private var permits: [Schedule.ID: UInt64] = [:]
    /// The time at which the queue, which has no permit left, is opened again; nil after a thread has taken it to start the
    /// timer.
    private var opening: UInt64?
    /// The number of times that the queue was closed. Each has a timer that opens the queue again.
    private var closings = 0
    /// Nanoseconds since the limit was set.
    let time: @Sendable () -> UInt64
    /// Sleeps until this many nanoseconds after the limit was set.
    let sleep: @Sendable (UInt64) async throws -> Void

    init(
        limit: RateLimit, time: @escaping @Sendable () -> UInt64,
        sleep: @escaping @Sendable (UInt64) async throws -> Void
    ) {
        self.limit = limit
        limiter = RateLimiter(limit.rule)
        self.time = time
        self.sleep = sleep
    }

    /// Whether the time permits an operation to start. If not, no operation starts until the queue is opened again, or until
    /// the clock of the present limit has been read.
    func mayStart(at reading: PolicyReading?, in state: inout OperationQueue.State) -> Bool {
        guard let reading, reading.policy === self else { return false }
        if limiter.mayStart(at: reading.time) { return true }
        if state.machine.schedule.hasStartable { close(at: reading.time, in: &state) }
        return false
    }

    /// Uses a permit for an operation. The operation may return the permit.
    func claimed(
        _ operation: Operation, _ lifecycle: Lifecycle, at reading: PolicyReading?, in state: inout OperationQueue.State
    ) {
        guard let reading, !lifecycle.isCancelled, !lifecycle.contains(.unlisted) else { return }
        permits[operation.scheduleID] = limiter.started(at: reading.time)
        // An operation in line for resources could not start either, and gives way until the next permit is due.
        if state.policies.first(ResourceOffers.self)?.hasOperationsInLine == true, !limiter.mayStart(at: reading.time) {
            close(at: reading.time, in: &state)
        }
    }

    private func close(at time: UInt64, in state: inout OperationQueue.State) {
        state.handle(.setThrottled(true))
        closings += 1
        opening = limiter.nextStart(after: time)
    }

    /// Returns the permit of an operation that was claimed and does not start now.
    func putBack(_ operation: Operation, _ lifecycle: Lifecycle, hasBegun: Bool, in state: inout OperationQueue.State) {
        let time = permits.removeValue(forKey: operation.scheduleID)
        // A pause does not undo the start.
        guard !hasBegun, let time else { return }
        limiter.takeBackStart(at: time)
        // Other operations may wait for the permit that was returned.
        state.handle(.setThrottled(false))
    }

    /// Forgets an operation that has used its permit.
    func leaves(_ operation: Operation, _ lifecycle: Lifecycle, in state: inout OperationQueue.State) {
        permits[operation.scheduleID] = nil
    }

    func isLast(_ closing: Int) -> Bool { closing == closings }

    func takeAction(in state: inout OperationQueue.State) -> PolicyAction? {
        guard let opening else { return nil }
        self.opening = nil
        let closing = closings
        return { $0.scheduleOpening(at: opening, after: closing, of: self) }
    }
}

extension OperationQueue {
    /// Reads the clock of a policy; nil if no policy has a clock. Called without the lock.
    final func readPolicyClock() -> PolicyReading? {
        guard readsClock.load(ordering: .acquiring), let policy = state.withLock({ $0.policies.first(RatePolicy.self) })
        else { return nil }
        HeldLocks.assertNone()
        return PolicyReading(policy: policy, time: policy.time())
    }

    /// Starts a task that opens the queue when the next permit is due.
    ///
    /// The task may have opened the queue before this thread stores it, and another thread may have closed the queue and
    /// started another task. That task must not be replaced. So only the task of the last closing is stored.
    fileprivate final func scheduleOpening(at instant: UInt64, after closing: Int, of policy: RatePolicy) {
        let timer = Task(executorPreference: executorBeside) { [weak self] in
            do { try await policy.sleep(instant) } catch { return }
            self?.open(policy)
        }
        let unused = state.withLock { state in
            guard state.policies.first(RatePolicy.self) === policy, policy.isLast(closing) else {
                return timer as Task<Void, Never>?
            }
            let old = policy.timer
            policy.timer = timer
            return old
        }
        unused?.cancel()
    }

    private func open(_ policy: RatePolicy) {
        withState { state in
            if state.policies.first(RatePolicy.self) === policy { state.handle(.setThrottled(false)) }
        }
    }

    /// Cancels the task that waits for a permit. Called by `deinit`.
    final func abandonRate() {
        guard readsClock.load(ordering: .relaxed) else { return }
        state.withLock { $0.policies.first(RatePolicy.self)?.timer }?.cancel()
    }
}

extension QueuePolicies {
    /// Whether the policy with a clock, if there is one, has not been replaced, set or removed since the reading.
    func areCurrent(_ reading: PolicyReading?) -> Bool { first(RatePolicy.self) === reading?.policy }
}
