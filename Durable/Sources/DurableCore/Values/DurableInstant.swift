/// An instant of the database's clock, in microseconds since 1970-01-01 00:00:00 UTC.
public struct DurableInstant: Hashable, Comparable, Sendable, Codable {
    /// The microseconds since 1970-01-01 00:00:00 UTC.
    public var microseconds: Int64

    /// Creates an instant from the microseconds since 1970-01-01 00:00:00 UTC.
    public init(microseconds: Int64) { self.microseconds = microseconds }

    /// The end of the range of instants.
    package static let never = Self(microseconds: .max)

    /// Returns whether the first instant is earlier.
    public static func < (a: Self, b: Self) -> Bool { a.microseconds < b.microseconds }

    /// Returns the instant at the given distance. The sum saturates.
    public static func + (instant: Self, duration: Duration) -> Self {
        instant.advanced(byMicroseconds: duration.microseconds)
    }

    /// Returns the distance from the second instant to the first instant.
    public static func - (a: Self, b: Self) -> Duration {
        // A duration has the range of the distance, and `Int64` does not.
        .microseconds(a.microseconds) - .microseconds(b.microseconds)
    }

    package func advanced(byMicroseconds distance: Int64) -> Self {
        let (sum, overflow) = microseconds.addingReportingOverflow(distance)
        return Self(microseconds: overflow ? (distance < 0 ? .min : .max) : sum)
    }
}

extension Duration {
    /// The whole microseconds of the duration. The value saturates.
    package var microseconds: Int64 {
        // `components` stops the process for a duration of more than `Int64.max` seconds.
        let limit = Duration.seconds(Int64.max / 1_000_000)
        if self > limit || self < .zero - limit { return self < .zero ? .min : .max }
        let (seconds, attoseconds) = components
        let (scaled, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000)
        if overflow { return seconds < 0 ? .min : .max }
        let (sum, carry) = scaled.addingReportingOverflow(attoseconds / 1_000_000_000_000)
        return carry ? (seconds < 0 ? .min : .max) : sum
    }
}
