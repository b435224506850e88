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
                sleep: { try await clock.sleepFully(until: start.advanced(by: .nanoseconds($0))) })
        }
        // Released without the lock: it holds the clock of the caller.
        let (old, timer): (Throttle?, Task<Void, Never>?) = withState { state in
            let old = state.throttle
            state.throttle = throttle
            state.schedule.setThrottled(false)
            // Under the lock, so that of several threads the one that sets the limit last also has the last word here.
            isThrottled.store(throttle != nil, ordering: .releasing)
            return (old, old?.timer)
        }
        timer?.cancel()
        withExtendedLifetime(old) {}
        callWorkerIfStartable()
    }
}

/// A rate limit at work.
final class Throttle: @unchecked Sendable {
    // Sendable: the variables are guarded by the lock of the queue, the closures are called without it.
    private var limiter: RateLimiter
    /// Opens the queue again.
    var timer: Task<Void, Never>?
    /// When gated operations took their permits. Some of them give a permit back, since they do not start after all.
    private var permits: [Schedule.ID: UInt64] = [:]
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

    func mayStart(at time: UInt64) -> Bool { limiter.mayStart(at: time) }

    func nextStart(after time: UInt64) -> UInt64 { limiter.nextStart(after: time) }

    /// An operation takes a permit. One that is gated may give it back.
    func started(_ id: Schedule.ID, isGated: Bool, at time: UInt64) {
        let noted = limiter.started(at: time)
        if isGated { permits[id] = noted }
    }

    /// The operation does not start after all. Answers whether it has given a permit back.
    func takeBack(_ id: Schedule.ID) -> Bool {
        guard let time = permits.removeValue(forKey: id) else { return false }
        limiter.takeBackStart(at: time)
        return true
    }

    /// The operation leaves the queue, and has used its permit up.
    func forget(_ id: Schedule.ID) { permits[id] = nil }
}

extension OperationQueue {
    /// The limit that a claim is judged by, and the time on its clock. A time alone could be taken for that of another limit
    /// that was set in the meantime.
    struct ThrottleReading {
        let throttle: Throttle
        let time: UInt64
    }

    /// What a claim is judged by; nil when there is no limit. The clock may be the caller's, so it is read without the lock.
    final func readThrottle() -> ThrottleReading? {
        guard isThrottled.load(ordering: .acquiring), let throttle = state.withLock({ $0.throttle }) else { return nil }
        HeldLocks.assertNone()
        return ThrottleReading(throttle: throttle, time: throttle.time())
    }

    /// Opens the queue when the next permit is due.
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
        callWorkerIfStartable()
    }

    /// Part of `deinit`: nothing waits for a permit any more.
    final func abandonThrottle() {
        guard isThrottled.load(ordering: .relaxed) else { return }
        state.withLock { $0.throttle?.timer }?.cancel()
    }
}

extension OperationQueue.State {
    /// Whether an operation may start by this reading. If not, nothing starts until the queue is opened again, or the limit
    /// that is in force by now has been read.
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

    /// The limit has not been replaced, set or removed since the reading.
    func isCurrent(_ reading: OperationQueue.ThrottleReading?) -> Bool { throttle === reading?.throttle }

    /// A gated operation that was claimed does not start now.
    mutating func takeBackPermit(_ id: Schedule.ID) {
        guard let throttle, throttle.takeBack(id) else { return }
        // Its permit is there again, for which others may have begun to wait.
        schedule.setThrottled(false)
    }
}
