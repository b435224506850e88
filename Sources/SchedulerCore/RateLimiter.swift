/// When something may start next, at most so many a period. A plain value; times are nanoseconds of any one clock, which
/// never goes back.
public struct RateLimiter: Sendable {
    public enum Rule: Equatable, Sendable {
        /// Permits come in evenly, `count` a period, and up to `burst` of them are kept.
        case tokenBucket(count: UInt64, period: UInt64, burst: UInt64)
        /// In no span of a period start more than `count`.
        case slidingWindow(count: UInt64, period: UInt64)
    }

    public let rule: Rule
    /// Of the token bucket: the permits there are, in parts of which a permit has `period`. So nothing is ever rounded.
    private var credit: UInt128 = 0
    private var lastRefill: UInt64?
    /// Of the sliding window: when the last `count` started.
    private var starts = Ring<UInt64>()

    public init(_ rule: Rule) { self.rule = rule }

    /// Whether something may start now.
    public mutating func mayStart(at now: UInt64) -> Bool {
        switch rule {
        case .tokenBucket(let count, let period, let burst):
            refill(now, count, period, burst)
            return credit >= UInt128(period)
        case .slidingWindow(let count, let period):
            while let first = starts.first, now >= first, now - first >= period { _ = starts.popFirst() }
            return UInt64(starts.count) < count
        }
    }

    /// Something starts now, as `mayStart` has permitted.
    public mutating func started(at now: UInt64) {
        switch rule {
        case .tokenBucket(_, let period, _): credit -= UInt128(period)
        case .slidingWindow: starts.append(now)
        }
    }

    /// What was said to start has not started after all: its permit is there again.
    public mutating func takeBackStart() {
        switch rule {
        case .tokenBucket(_, let period, let burst):
            credit = min(credit + UInt128(period), UInt128(burst) * UInt128(period))
        case .slidingWindow: _ = starts.popLast()
        }
    }

    /// The earliest instant at which something may start, after `mayStart` has said no at this one.
    public func nextStart(after now: UInt64) -> UInt64 {
        switch rule {
        case .tokenBucket(let count, let period, _):
            let missing = UInt128(period) - credit
            return now + UInt64((missing + UInt128(count) - 1) / UInt128(count))
        case .slidingWindow(_, let period): return (starts.first ?? now) + period
        }
    }

    private mutating func refill(_ now: UInt64, _ count: UInt64, _ period: UInt64, _ burst: UInt64) {
        // Less than a nanosecond's worth above the burst, so that nothing is lost where a permit comes between two.
        let full = UInt128(burst) * UInt128(period) + UInt128(count) - 1
        guard let last = lastRefill else {
            credit = UInt128(burst) * UInt128(period)
            lastRefill = now
            return
        }
        guard now > last else { return }
        credit = min(credit + UInt128(now - last) * UInt128(count), full)
        lastRefill = now
    }
}
