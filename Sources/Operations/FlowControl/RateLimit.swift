import SchedulerCore
import Synchronization

/// A limit for the number of operations of a queue that start in a period.
///
///     queue.setRateLimit(.tokenBucket(10, per: .seconds(1), burst: 20))
public struct RateLimit: Sendable, Equatable {
    let rule: RateLimiter.Rule

    /// Returns a limit whose permits arrive evenly, `count` in each period. The queue keeps up to `burst` unused permits.
    ///
    /// The call stops the process if `count` or `burst` is below 1, or the period is not above zero.
    public static func tokenBucket(
        _ count: Int, per period: Duration, burst: Int = 1
    ) -> RateLimit {
        if burst < 1 { InvalidPolicy.limit(burst).stop() }
        let (count, period) = checked(count, period)
        return RateLimit(rule: .tokenBucket(count: count, period: period, burst: UInt64(burst)))
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
    public final var rateLimit: RateLimit? { withState { $0.throttle?.limit } }

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
        let throttle = limit.map { limit in
            let start = clock.now
            return Throttle(
                limit: limit, time: { start.duration(to: clock.now).wholeNanoseconds },
                sleep: { try await clock.sleepFully(until: start.advanced(by: .nanoseconds($0))) })
        }
        // Released without the lock: the throttle holds the clock of the caller.
        let (old, timer): (Throttle?, Task<Void, Never>?) = withState { state in
            let old = state.throttle
            state.throttle = throttle
            state.schedule.setThrottled(false)
            // Stored under the lock: of several threads, the thread that sets the limit last also stores this value last.
            isThrottled.store(throttle != nil, ordering: .releasing)
            return (old, old?.timer)
        }
        timer?.cancel()
        withExtendedLifetime(old) {}
        callWorkersIfStartable()
    }
}

/// A rate limit in use by a queue.
final class Throttle: @unchecked Sendable {
    // Sendable: the variables are guarded by the lock of the queue, the closures are called without it.
    let limit: RateLimit
    private var limiter: RateLimiter
    /// The task that opens the queue again.
    var timer: Task<Void, Never>?
    /// The times at which the operations in the queue received permits. An operation returns its permit if it does not start.
    private var permits: [Schedule.ID: UInt64] = [:]
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

    func mayStart(at time: UInt64) -> Bool { limiter.mayStart(at: time) }

    func nextStart(after time: UInt64) -> UInt64 { limiter.nextStart(after: time) }

    /// Uses a permit for an operation. The operation may return the permit.
    func started(_ id: Schedule.ID, at time: UInt64) { permits[id] = limiter.started(at: time) }

    /// Returns the permit of an operation that does not start. False: the operation had no permit to return.
    func takeBack(_ id: Schedule.ID) -> Bool {
        guard let time = permits.removeValue(forKey: id) else { return false }
        limiter.takeBackStart(at: time)
        return true
    }

    /// Forgets an operation that leaves the queue and has used its permit.
    func forget(_ id: Schedule.ID) { permits[id] = nil }
}

extension OperationQueue {
    /// The limit that a claim uses, and the time on the clock of that limit.
    ///
    /// A time alone would be wrong when another limit is set after the reading.
    struct ThrottleReading {
        let throttle: Throttle
        let time: UInt64
    }

    /// Reads the limit and its clock; nil when there is no limit. The clock may be the caller's, so it is read without
    /// the lock.
    final func readThrottle() -> ThrottleReading? {
        guard isThrottled.load(ordering: .acquiring), let throttle = state.withLock({ $0.throttle }) else { return nil }
        HeldLocks.assertNone()
        return ThrottleReading(throttle: throttle, time: throttle.time())
    }

    /// Starts a task that opens the queue when the next permit is due.
    final func scheduleOpening(at instant: UInt64, of throttle: Throttle) {
        let timer = Task(executorPreference: executorBeside) { [weak self] in
            do { try await throttle.sleep(instant) } catch { return }
            self?.open(throttle)
        }
        let unused = state.withLock { state in
            guard state.throttle === throttle else { return timer as Task<Void, Never>? }
            let old = throttle.timer
            throttle.timer = timer
            return old
        }
        unused?.cancel()
    }

    private func open(_ throttle: Throttle) {
        withState { state in
            if state.throttle === throttle { state.schedule.setThrottled(false) }
        }
        callWorkersIfStartable()
    }

    /// Cancels the task that waits for a permit. Called by `deinit`.
    final func abandonThrottle() {
        guard isThrottled.load(ordering: .relaxed) else { return }
        state.withLock { $0.throttle?.timer }?.cancel()
    }
}

extension OperationQueue.State {
    /// Whether the reading permits an operation to start. If not, no operation starts until the queue is opened again or
    /// the present limit has been read.
    @inline(__always)
    mutating func permitsStart(by reading: OperationQueue.ThrottleReading?) -> Bool {
        throttle == nil || permitsThrottledStart(by: reading)
    }

    private mutating func permitsThrottledStart(by reading: OperationQueue.ThrottleReading?) -> Bool {
        guard let throttle, let reading, isCurrent(reading) else { return false }
        if throttle.mayStart(at: reading.time) { return true }
        guard schedule.hasStartable else { return false }
        schedule.setThrottled(true)
        ownErrands().opening = (throttle.nextStart(after: reading.time), throttle)
        return false
    }

    /// Whether the limit has not been replaced, set or removed since the reading.
    func isCurrent(_ reading: OperationQueue.ThrottleReading?) -> Bool { throttle === reading?.throttle }

    /// Returns the permit of an operation that was claimed and does not start now.
    mutating func takeBackPermit(_ id: Schedule.ID) {
        guard let throttle, throttle.takeBack(id) else { return }
        // Other operations may wait for the permit that was returned.
        schedule.setThrottled(false)
    }
}
