#if Networking
package import Foundation
import HTTPCore
import HTTPTypes

/// How old a stored response is, and for how long it counts as fresh (RFC 9111 §4.2); in seconds.
package struct Freshness: Equatable, Sendable {
    package let age: Double
    package let lifetime: Double

    package var isFresh: Bool { lifetime > age }
    /// For how long it is stale already.
    package var staleness: Double { max(0, age - lifetime) }

    /// Freshness of what is stored, now; with a lifetime of the program's own, if it has said one.
    package init(of stored: StoredResponse, at now: Date, ownMaxAge: Duration? = nil) {
        age = Self.age(of: stored, at: now)
        lifetime = ownMaxAge.map { max(0, $0.seconds) } ?? Self.lifetime(of: stored)
    }

    /// §4.2.3. A clock that was set back makes nothing younger than it was when it came.
    package static func age(of stored: StoredResponse, at now: Date) -> Double {
        let apparent = max(0, stored.responseTime.timeIntervalSince(stored.date))
        let delay = max(0, stored.responseTime.timeIntervalSince(stored.requestTime))
        let initial = max(apparent, ageValue(stored) + delay)
        return initial + max(0, now.timeIntervalSince(stored.responseTime))
    }

    /// §5.1: of several members the first; what is no number counts as absent.
    private static func ageValue(_ stored: StoredResponse) -> Double {
        guard let value = stored.response.headerFields[values: .age].first?.split(separator: ",").first else {
            return 0
        }
        return Double(CacheControl.deltaSeconds(value.filter { $0 != " " && $0 != "\t" }) ?? 0)
    }

    /// §4.2.1: `max-age`, `Expires`, or what may be guessed. `s-maxage` is for shared caches.
    package static func lifetime(of stored: StoredResponse) -> Double {
        let fields = stored.response.headerFields
        if let maxAge = stored.control.maxAge { return Double(maxAge) }
        if let expires = fields[values: .expires].first {
            guard let date = HTTPDate.parse(expires, now: stored.responseTime) else { return 0 }
            return max(0, date.timeIntervalSince(stored.date))
        }
        return heuristicLifetime(of: stored)
    }

    /// Statuses that may be guessed to stay as they are for a while (RFC 9110 §15.1), without 206, which is not kept.
    package static let heuristicallyCacheable: Set<Int> = [200, 203, 204, 300, 301, 308, 404, 405, 410, 414, 501]

    /// §4.2.2: a tenth of the time since it was changed, at most a day.
    private static func heuristicLifetime(of stored: StoredResponse) -> Double {
        guard heuristicallyCacheable.contains(stored.response.status.code) || stored.control.isPublic,
            let text = stored.response.headerFields[values: .lastModified].first,
            let changed = HTTPDate.parse(text, now: stored.responseTime)
        else { return 0 }
        return min(max(0, stored.date.timeIntervalSince(changed)) / 10, 86400)
    }

    /// From when on it is stale. `distantPast` if it always was.
    package static func end(of stored: StoredResponse) -> Date {
        let left = lifetime(of: stored) - age(of: stored, at: stored.responseTime)
        return left > 0 ? stored.responseTime.addingTimeInterval(left) : .distantPast
    }
}

extension Duration {
    var seconds: Double { Double(components.seconds) + Double(components.attoseconds) / 1e18 }
}
#endif
