/// A limit of the number of starts in a period, with bursts up to that number.
public struct RateRule: Sendable, Hashable {
    /// The number of starts in a period, which is also the largest burst.
    public var count: Int64
    /// The period, in microseconds.
    public var period: Int64

    /// Creates a rule.
    public init(_ count: Int, per period: Duration) {
        (self.count, self.period) = (Int64(count), period.microseconds)
    }

    package init(count: Int64, period: Int64) { (self.count, self.period) = (count, period) }

    package func check() throws(DurableError) {
        guard count > 0, count <= 1_000_000_000, period > 0, period <= 1_000_000_000_000_000 else {
            throw .invalidValue("a rate needs a count and a period above zero")
        }
    }

    /// Returns the number of starts that the rule permits now.
    ///
    /// - Parameter filledAt: The instant at which the allowance is full again. Each start delays the instant by
    ///   `period / count`.
    package func allowance(filledAt: DurableInstant?, now: DurableInstant) -> Int64 {
        guard let filledAt, filledAt > now else { return count }
        let used = (filledAt.microseconds - now.microseconds) &* count
        return max(0, count - (used + period - 1) / period)
    }

    /// Returns the instant at which the allowance is full again after further starts.
    package func filledAt(afterStarts starts: Int64, filledAt: DurableInstant?, now: DurableInstant) -> DurableInstant {
        let from = max(filledAt ?? now, now)
        return from.advanced(byMicroseconds: (starts * period + count - 1) / count)
    }

    /// Returns the instant at which the rule permits the next start.
    package func nextStart(filledAt: DurableInstant?, now: DurableInstant) -> DurableInstant {
        guard let filledAt, allowance(filledAt: filledAt, now: now) == 0 else { return now }
        return filledAt.advanced(byMicroseconds: -((count - 1) * period / count))
    }
}
