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
    /// Of the sliding window: when the last `count` started, never descending.
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

    /// Something starts now, as `mayStart` has permitted. Answers the time under which the start is noted.
    @discardableResult
    public mutating func started(at now: UInt64) -> UInt64 {
        switch rule {
        case .tokenBucket(_, let period, _):
            credit -= UInt128(period)
            return now
        case .slidingWindow:
            // Threads read the time before they take turns, so one that comes later may bring an earlier time.
            let time = max(now, starts.last ?? 0)
            starts.append(time)
            return time
        }
    }

    /// What was said to start has not started after all: its permit is there again. O(starts noted since).
    ///
    /// - Parameter time: What `started` has answered.
    public mutating func takeBackStart(at time: UInt64) {
        switch rule {
        case .tokenBucket(_, let period, let burst):
            credit = min(credit + UInt128(period), UInt128(burst) * UInt128(period))
        case .slidingWindow:
            var index = starts.count - 1
            while index >= 0, starts[index] > time { index -= 1 }
            guard index >= 0, starts[index] == time else { return }
            for later in index..<starts.count - 1 { starts[later] = starts[later + 1] }
            _ = starts.popLast()
        }
    }

    /// The earliest instant at which something may start, after `mayStart` has said no at this one; the last instant there
    /// is, when it would be later than that.
    public func nextStart(after now: UInt64) -> UInt64 {
        let (start, wait): (UInt64, UInt128) =
            switch rule {
            case .tokenBucket(let count, let period, _):
                (now, (UInt128(period) - credit + UInt128(count) - 1) / UInt128(count))
            case .slidingWindow(_, let period): (starts.first ?? now, UInt128(period))
            }
        return UInt64(clamping: UInt128(start) + wait)
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
        let (sum, isTooMuch) = credit.addingReportingOverflow(UInt128(now - last) * UInt128(count))
        credit = isTooMuch ? full : min(sum, full)
        lastRefill = now
    }
}
