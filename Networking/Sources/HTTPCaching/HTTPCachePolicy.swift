/// A policy that determines how a request uses the cache.
///
/// The policies `onlyIfCached`, `returnCacheElseLoad` and `fallsBackOnFailure` serve a stored response of any age, even if
/// its headers require revalidation. No policy stores a response with `no-store`.
public struct HTTPCachePolicy: Codable, Hashable, Sendable {
    /// The rules for serving a stored response and for sending a request to the server.
    public enum Reading: String, Codable, Hashable, Sendable, CaseIterable {
        /// RFC 9111 and RFC 5861, with the `Cache-Control` and `Pragma` of the request.
        case standard
        /// The request neither reads nor writes the cache. An unsafe request still invalidates stored responses, as RFC
        /// 9111 requires.
        case ignore
        /// The cache always revalidates a stored response with the server.
        case revalidate
        /// RFC 9111 and RFC 5861, without the `Cache-Control` and `Pragma` of the request.
        case askIfStale
        /// The cache serves a stored response of any age and never sends the request. Without a stored response the
        /// request fails with `notInCache`.
        case onlyIfCached
        /// The cache serves a stored response of any age, and sends the request only if no response is stored.
        case returnCacheElseLoad
        /// The cache sends the request only if no response is stored. Otherwise the request fails with `alreadyCached`.
        /// Use the policy for prefetching.
        case loadOnlyIfNotCached
    }

    /// The place where the cache stores a response.
    public enum Retention: String, Codable, Hashable, Sendable, CaseIterable {
        /// On disk, if the cache has a directory.
        case permanent
        /// In memory, until the cache object is deallocated or the memory limit is reached.
        case session
    }

    /// The rules for serving a stored response and for sending a request.
    public var reading: Reading
    /// Whether the cache serves a stored response of any age when the request fails. Failures are a failed or broken
    /// connection, an exceeded time limit, and the statuses 500, 502, 503 and 504.
    public var fallsBackOnFailure: Bool
    /// The time for which a response is fresh, in place of the lifetime in its headers. `no-cache` and `no-store` in
    /// the response still apply. A negative time counts as zero.
    public var maxAge: Duration?
    /// The place where the cache stores the response.
    public var retention: Retention
    /// Whether the cache serves a stale response at once within the time that the server permits by
    /// `stale-while-revalidate` (RFC 5861 §3). Meanwhile a request in the background revalidates the stored response. The
    /// default is true.
    ///
    /// The property applies to `Reading.standard` and `Reading.askIfStale` without `maxAge`. If false, a stale response
    /// waits for its revalidation.
    public var allowsStaleWhileRevalidate: Bool

    /// Creates a policy. The default follows RFC 9111 and stores responses on disk.
    public init(
        _ reading: Reading = .standard, fallsBackOnFailure: Bool = false, maxAge: Duration? = nil,
        retention: Retention = .permanent, allowsStaleWhileRevalidate: Bool = true
    ) {
        self.reading = reading
        self.fallsBackOnFailure = fallsBackOnFailure
        self.maxAge = maxAge
        self.retention = retention
        self.allowsStaleWhileRevalidate = allowsStaleWhileRevalidate
    }

    /// Decodes a policy. A policy that was saved without `allowsStaleWhileRevalidate` gets the default.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            try container.decode(Reading.self, forKey: .reading),
            fallsBackOnFailure: try container.decode(Bool.self, forKey: .fallsBackOnFailure),
            maxAge: try container.decodeIfPresent(Duration.self, forKey: .maxAge),
            retention: try container.decode(Retention.self, forKey: .retention),
            allowsStaleWhileRevalidate: try container.decodeIfPresent(
                Bool.self, forKey: .allowsStaleWhileRevalidate) ?? true)
    }

    /// A policy that follows RFC 9111 and stores responses on disk.
    public static let `default` = HTTPCachePolicy()
    /// A policy with `Reading.ignore`.
    public static let ignore = HTTPCachePolicy(.ignore)
    /// A policy with `Reading.revalidate`.
    public static let revalidate = HTTPCachePolicy(.revalidate)
    /// A policy with `Reading.askIfStale`.
    public static let askIfStale = HTTPCachePolicy(.askIfStale)
    /// A policy with `Reading.onlyIfCached`.
    public static let onlyIfCached = HTTPCachePolicy(.onlyIfCached)
    /// A policy with `Reading.returnCacheElseLoad`.
    public static let returnCacheElseLoad = HTTPCachePolicy(.returnCacheElseLoad)
    /// A policy with `Reading.loadOnlyIfNotCached`.
    public static let loadOnlyIfNotCached = HTTPCachePolicy(.loadOnlyIfNotCached)
    /// A policy with the standard rules that serves a stored response of any age when the request fails.
    public static let fallBackOnFailure = HTTPCachePolicy(fallsBackOnFailure: true)
    /// A policy with the standard rules that stores responses in memory only.
    public static let sessionOnly = HTTPCachePolicy(retention: .session)

    /// Returns a policy with the standard rules and a fixed lifetime of every response.
    public static func maxAge(_ age: Duration) -> HTTPCachePolicy { HTTPCachePolicy(maxAge: age) }
}
