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
        guard let filledAt = possible(filledAt, now: now), filledAt > now else { return count }
        let distance = filledAt.microseconds - now.microseconds
        // More than a period from full: nothing is left. The product below then fits 128 bits.
        if distance >= period { return 0 }
        return count - Self.product(distance, count, dividedBy: period, isRoundedUp: true)
    }

    /// Returns the instant at which the allowance is full again after further starts.
    package func filledAt(afterStarts starts: Int64, filledAt: DurableInstant?, now: DurableInstant) -> DurableInstant {
        let from = max(possible(filledAt, now: now) ?? now, now)
        return from.advanced(byMicroseconds: Self.product(starts, period, dividedBy: count, isRoundedUp: true))
    }

    /// Returns the instant at which the rule permits a number of starts, which is at most `count`.
    package func instant(permitting starts: Int64, filledAt: DurableInstant?, now: DurableInstant) -> DurableInstant {
        guard let filledAt = possible(filledAt, now: now) else { return now }
        return max(now, filledAt.advanced(byMicroseconds: -Self.product(count - starts, period, dividedBy: count)))
    }

    /// Returns the instant, or nil if the instant is more than two periods ahead.
    ///
    /// Starts that the rule permits move the instant at most one period ahead. A later instant means that the clock was set
    /// back. The starts of the last period are then unknown, and the allowance counts as full. Because of the second period,
    /// a small correction of the clock does not fill an empty allowance.
    private func possible(_ filledAt: DurableInstant?, now: DurableInstant) -> DurableInstant? {
        guard let filledAt, filledAt <= now.advanced(byMicroseconds: 2 * period) else { return nil }
        return filledAt
    }

    /// Returns `a * b / divisor` of values that are not negative, without overflow of the product.
    private static func product(
        _ a: Int64, _ b: Int64, dividedBy divisor: Int64, isRoundedUp: Bool = false
    ) -> Int64 {
        let product = a.multipliedFullWidth(by: b)
        let fits = product.high == 0 && product.low <= UInt64(Int64.max) || product.high < divisor / 2
        guard fits else { return .max }
        let (quotient, remainder) = divisor.dividingFullWidth(product)
        return isRoundedUp && remainder > 0 ? quotient + 1 : quotient
    }
}
