#if Networking
#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

/// The field Retry-After (RFC 9110, section 10.2.3; rule R10).
package enum RetryAfter {
    /// More than this is no wait but a refusal; longer ones are taken for it.
    package static let longest = Duration.seconds(24 * 3600)

    /// How long to wait from `now`: some seconds, or until a date; zero for a date that is over. Nil if it is neither.
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
        return seconds <= 0 ? .zero : seconds >= 24 * 3600 ? longest : .seconds(seconds)
    }
}
#endif
