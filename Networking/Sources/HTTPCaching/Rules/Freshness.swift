package import Foundation
import HTTPCore
import HTTPTypes

/// The age and the lifetime of a stored response in seconds (RFC 9111 §4.2).
package struct Freshness: Equatable, Sendable {
    package let age: Double
    package let lifetime: Double

    package var isFresh: Bool { lifetime > age }
    /// The number of seconds since the response became stale.
    package var staleness: Double { max(0, age - lifetime) }

    /// Computes the freshness of a stored response. `ownMaxAge` replaces the lifetime in the response's headers.
    package init(of stored: StoredResponse, at now: Date, ownMaxAge: Duration? = nil) {
        age = Self.age(of: stored, at: now)
        lifetime = ownMaxAge.map { max(0, $0.seconds) } ?? Self.lifetime(of: stored)
    }

    /// Returns the current age (§4.2.3). If the clock was set back, the age is at least the age at arrival.
    package static func age(of stored: StoredResponse, at now: Date) -> Double {
        let apparent = max(0, stored.responseTime.timeIntervalSince(stored.date))
        let delay = max(0, stored.responseTime.timeIntervalSince(stored.requestTime))
        let initial = max(apparent, ageValue(stored) + delay)
        return initial + max(0, now.timeIntervalSince(stored.responseTime))
    }

    /// Returns the first value of the field Age (§5.1), or 0 if the value is not a number.
    private static func ageValue(_ stored: StoredResponse) -> Double {
        for line in stored.response.headerFields[values: .age] {
            var scanner = FieldScanner(line)
            while !scanner.isAtEnd {
                let value = scanner.text(to: ",")
                if !value.isEmpty { return Double(CacheControl.deltaSeconds(value) ?? 0) }
                _ = scanner.take(",")
            }
        }
        return 0
    }

    /// Returns the lifetime from `max-age`, from `Expires`, or from the heuristic (§4.2.1). `s-maxage` applies to
    /// shared caches only.
    package static func lifetime(of stored: StoredResponse) -> Double {
        let fields = stored.response.headerFields
        if let maxAge = stored.control.maxAge { return Double(maxAge) }
        // The earliest of several dates counts, and a malformed date is in the past (§5.3).
        let ends = fields[values: .expires].map { HTTPDate.parseExactly($0, now: stored.responseTime) ?? .distantPast }
        if let end = ends.min() { return max(0, end.timeIntervalSince(stored.date)) }
        return heuristicLifetime(of: stored)
    }

    /// The statuses with heuristic freshness (RFC 9110 §15.1), without 206, because the cache does not store partial
    /// responses.
    package static let heuristicallyCacheable: Set<Int> = [200, 203, 204, 300, 301, 308, 404, 405, 410, 414, 501]

    /// Returns a tenth of the time since the last modification, at most one day (§4.2.2).
    private static func heuristicLifetime(of stored: StoredResponse) -> Double {
        guard heuristicallyCacheable.contains(stored.response.status.code) || stored.control.isPublic,
            let text = stored.response.headerFields[values: .lastModified].first,
            let changed = HTTPDate.parse(text, now: stored.responseTime)
        else { return 0 }
        return min(max(0, stored.date.timeIntervalSince(changed)) / 10, 86400)
    }

    /// Returns the time when the response becomes stale, or `distantPast` if the response was stale on arrival.
    package static func end(of stored: StoredResponse) -> Date {
        let left = lifetime(of: stored) - age(of: stored, at: stored.responseTime)
        return left > 0 ? stored.responseTime.addingTimeInterval(left) : .distantPast
    }
}

extension Duration {
    var seconds: Double { Double(components.seconds) + Double(components.attoseconds) / 1e18 }
}
