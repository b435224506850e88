#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

/// A parser for the field Retry-After (RFC 9110, section 10.2.3).
package enum RetryAfter {
    /// The longest delay. The function reduces longer delays to this value.
    package static let longest = Duration.seconds(secondsOfYear)
    private static let secondsOfYear = 365 * 24 * 3600

    /// Returns the delay from `now`. The field contains a number of seconds or a date. The delay is zero for a date in
    /// the past, and nil for another text.
    package static func delay(_ value: String, now: Date) -> Duration? {
        var scanner = FieldScanner(value)
        scanner.skipSpace()
        if let digits = scanner.digits() {
            scanner.skipSpace()
            guard scanner.isAtEnd else { return nil }
            return min(Int64(digits).map { Duration.seconds($0) } ?? longest, longest)
        }
        guard let date = HTTPDate.parse(value, now: now) else { return nil }
        let seconds = date.timeIntervalSince(now)
        return seconds <= 0 ? .zero : seconds >= Double(secondsOfYear) ? longest : .seconds(seconds)
    }
}
