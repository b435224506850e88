import SchedulerCore
import Synchronization

/// How many operations of a queue may start in a time.
///
///     queue.setRateLimit(try .tokenBucket(10, per: .seconds(1), burst: 20))
public struct RateLimit: Sendable, Equatable {
    let rule: RateLimiter.Rule

    /// Permits come in evenly, so many a period; those not used are kept, up to the burst.
    ///
    /// - Throws: `PolicyError` when a number is below 1, or the period is not above zero.
    public static func tokenBucket(
        _ count: Int, per period: Duration, burst: Int = 1
    ) throws(PolicyError) -> RateLimit {
        guard burst > 0 else { throw .rateNotPositive(burst) }
        let (count, period) = try checked(count, period)
        return RateLimit(rule: .tokenBucket(count: count, period: period, burst: UInt64(burst)))
    }

    /// In no span of a period start more than so many.
    ///
    /// - Throws: `PolicyError` when the number is below 1, or the period is not above zero.
    public static func slidingWindow(_ count: Int, per period: Duration) throws(PolicyError) -> RateLimit {
        let (count, period) = try checked(count, period)
        return RateLimit(rule: .slidingWindow(count: count, period: period))
    }

    private static func checked(_ count: Int, _ period: Duration) throws(PolicyError) -> (UInt64, UInt64) {
        guard count > 0 else { throw .rateNotPositive(count) }
        guard period.wholeNanoseconds > 0 else { throw .limitNotPositive(period) }
        return (UInt64(count), period.wholeNanoseconds)
    }
}

extension OperationQueue {
    /// Lets operations start no faster than the limit allows; nil removes it. Takes effect at once for all that has not
    /// started.
    ///
    /// Operations that wait for a permit hold no slot and no thread, and start in the queue's order. A cancelled one takes
    /// no permit; it waits for the next one all the same. Barriers and parts of tasks take none either.
    ///
    /// - Parameters:
    ///   - limit: How many may start in which time.
    ///   - clock: What the time is measured with.
    public final func setRateLimit<C: Clock<Duration>>(_ limit: RateLimit?, clock: C = ContinuousClock()) {
        let throttle = limit.map { limit in
            let start = clock.now
            return Throttle(
                limiter: RateLimiter(limit.rule), time: { start.duration(to: clock.now).wholeNanoseconds },
                sleep: { try await clock.sleep(until: start.advanced(by: .nanoseconds($0)), tolerance: nil) })
        }
        let old = withState { state in
            let timer = state.throttle?.timer
            state.throttle = throttle
            state.schedule.setThrottled(false)
            return timer
        }
        isThrottled.store(throttle != nil, ordering: .releasing)
        old?.cancel()
        callWorkerIfStartable()
    }
}

/// A rate limit at work.
final class Throttle: @unchecked Sendable {
    // Sendable: the variables are guarded by the lock of the queue, the closures are called without it.
    var limiter: RateLimiter
    /// Opens the queue again.
    var timer: Task<Void, Never>?
    /// Nanoseconds since the limit was set.
    let time: @Sendable () -> UInt64
    /// Sleeps until so many nanoseconds after that.
    let sleep: @Sendable (UInt64) async throws -> Void

    init(
        limiter: RateLimiter, time: @escaping @Sendable () -> UInt64,
        sleep: @escaping @Sendable (UInt64) async throws -> Void
    ) {
        self.limiter = limiter
        self.time = time
        self.sleep = sleep
    }
}

extension OperationQueue {
    /// The time by which a claim is judged, if there is a limit. Read before the lock is taken.
    final func throttleTime() -> UInt64? {
        guard isThrottled.load(ordering: .acquiring), let time = state.withLock({ $0.throttle?.time }) else {
            return nil
        }
        HeldLocks.assertNone()
        return time()
    }

    /// Opens the queue when the next permit is due.
    final func scheduleOpening(at instant: UInt64, of throttle: Throttle) {
        let timer = Task(executorPreference: executorBeside) { [weak self] in
            do { try await throttle.sleep(instant) } catch { return }
            self?.open(throttle)
        }
        let isKept = state.withLock { state in
            guard state.throttle === throttle else { return false }
            throttle.timer = timer
            return true
        }
        if !isKept { timer.cancel() }
    }

    private func open(_ throttle: Throttle) {
        withState { state in
            if state.throttle === throttle { state.schedule.setThrottled(false) }
        }
        callWorkerIfStartable()
    }
}

extension OperationQueue.State {
    /// Whether an operation may start at this time. If not, nothing starts until the queue is opened again.
    @inline(__always)
    mutating func permitsStart(at time: UInt64?) -> Bool { throttle == nil || permitsThrottledStart(at: time) }

    private mutating func permitsThrottledStart(at time: UInt64?) -> Bool {
        // Called without having read the time: whoever does comes after.
        guard let throttle, let time else { return false }
        if throttle.limiter.mayStart(at: time) { return true }
        guard schedule.hasStartable else { return false }
        schedule.setThrottled(true)
        ownErrands().opening = (throttle.limiter.nextStart(after: time), throttle)
        return false
    }
}

extension Duration {
    /// From 0 to as many as fit.
    package var wholeNanoseconds: UInt64 {
        guard self > .zero else { return 0 }
        let (seconds, attoseconds) = components
        let (whole, isTooLong) = UInt64(seconds).multipliedReportingOverflow(by: 1_000_000_000)
        let (sum, isTooMuch) = whole.addingReportingOverflow(UInt64(attoseconds / 1_000_000_000))
        return isTooLong || isTooMuch ? .max : sum
    }
}
