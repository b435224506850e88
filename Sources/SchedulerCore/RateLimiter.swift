import OperationsPrimitives

/// A limiter of the number of starts in a period. A plain value. Times are nanoseconds of one clock that never goes back.
public struct RateLimiter: Sendable {
    public enum Rule: Equatable, Sendable {
        /// Permits arrive evenly, `count` in each period, and up to `burst` of them are kept.
        case tokenBucket(count: UInt64, period: UInt64, burst: UInt64)
        /// In any time span of one period there are at most `count` starts.
        case slidingWindow(count: UInt64, period: UInt64)

        /// Returns the burst with which a bucket reaches a rate of 100 or more in a second although its timers are late: one more than
        /// the permits of 10 ms. A bucket of a lower rate has 1, so its starts are never close to each other.
        public static func burst(of count: UInt64, in period: UInt64) -> UInt64 {
            1 + UInt64(clamping: min(UInt128(count) * 10_000_000 / UInt128(period), UInt128(UInt64.max) - 1))
        }
    }

    public let rule: Rule
    /// For the token bucket: the present permits, in parts of which a permit has `period`. So no value is ever rounded.
    private var credit: UInt128 = 0
    private var lastRefill: UInt64?
    /// For the sliding window: the times of the last `count` starts, in ascending order.
    private var starts = Ring<UInt64>()

    public init(_ rule: Rule) { self.rule = rule }

    /// Whether a start is permitted now.
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

    /// Records a start, which `mayStart` has permitted. Returns the time under which the start is recorded.
    @discardableResult
    public mutating func started(at now: UInt64) -> UInt64 {
        switch rule {
        case .tokenBucket(_, let period, _):
            credit -= UInt128(period)
            return now
        case .slidingWindow:
            // Threads read the time before they take turns, so a later thread may have an earlier time.
            let time = max(now, starts.last ?? 0)
            starts.append(time)
            return time
        }
    }

    /// Removes a recorded start that did not happen, and restores its permit. O(starts recorded since).
    ///
    /// - Parameter time: The result of `started`.
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

    /// Returns the earliest instant of the next start, after `mayStart` has returned false at this instant. The largest
    /// instant, if the start would be later.
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
        // The limit is less than a nanosecond's worth above the burst, so that no time is lost when a permit arrives
        // between two readings.
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
