#if Networking

/// How a request uses the cache (rule C2).
///
/// A policy that names the cache outright (`onlyIfCached`, `cachedElseLoad`, `fallsBackOnFailure`) serves what is there
/// whatever its age and whatever its headers say of revalidation. None of them makes the cache keep what is `no-store`.
public struct HTTPCachePolicy: Codable, Hashable, Sendable {
    /// When what is cached is served, and when the server is asked.
    public enum Reading: String, Codable, Hashable, Sendable, CaseIterable {
        /// RFC 9111, with the `Cache-Control` and `Pragma` of the request.
        case standard
        /// Neither read nor written. A request that may change something invalidates nevertheless, as RFC 9111 demands.
        case ignore
        /// The server is always asked whether what is cached is still valid.
        case askAlways
        /// RFC 9111, whatever the request's own `Cache-Control` and `Pragma` say.
        case askIfStale
        /// What is cached, of any age; the server is never asked. Without it the request fails with `notInCache`.
        case onlyIfCached
        /// What is cached, of any age; the server is asked if there is nothing.
        case cachedElseLoad
        /// Loads only what is not cached; else the request fails with `alreadyCached`. For prefetching.
        case loadOnlyIfNotCached
    }

    /// Where a response is kept.
    public enum Retention: String, Codable, Hashable, Sendable, CaseIterable {
        /// On disk, if the cache has a directory.
        case permanent
        /// In memory, until the cache object is gone or the memory limit is reached.
        case session
    }

    public var reading: Reading
    /// Whether any cached response serves when the server cannot be reached, exceeds a limit of time, breaks off, or answers
    /// 500, 502, 503 or 504.
    public var fallsBackOnFailure: Bool
    /// For how long a response counts as fresh, instead of what its own headers say of that. `no-cache` and `no-store`
    /// of the response hold nevertheless. Negative counts as zero.
    public var maxAge: Duration?
    public var retention: Retention

    public init(
        _ reading: Reading = .standard, fallsBackOnFailure: Bool = false, maxAge: Duration? = nil,
        retention: Retention = .permanent
    ) {
        self.reading = reading
        self.fallsBackOnFailure = fallsBackOnFailure
        self.maxAge = maxAge
        self.retention = retention
    }

    public static let `default` = HTTPCachePolicy()
    public static let ignore = HTTPCachePolicy(.ignore)
    public static let askAlways = HTTPCachePolicy(.askAlways)
    public static let askIfStale = HTTPCachePolicy(.askIfStale)
    public static let onlyIfCached = HTTPCachePolicy(.onlyIfCached)
    public static let cachedElseLoad = HTTPCachePolicy(.cachedElseLoad)
    public static let loadOnlyIfNotCached = HTTPCachePolicy(.loadOnlyIfNotCached)
    public static let fallBackOnFailure = HTTPCachePolicy(fallsBackOnFailure: true)
    public static let sessionOnly = HTTPCachePolicy(retention: .session)

    /// Every response counts as fresh for so long.
    public static func maxAge(_ age: Duration) -> HTTPCachePolicy { HTTPCachePolicy(maxAge: age) }
}
#endif
