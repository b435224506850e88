public import HTTPCaching
public import HTTPCore
public import HTTPTypes

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// The description of an HTTP request, independent of the use of the response. A `Codable` value, so that requests can be saved
/// and restored.
public struct HTTPRequestDescription: Sendable, Hashable {
    /// An absolute `http` or `https` URL, or a relative one for a client with a base.
    public var url: String
    /// The method; GET by default.
    public var method: HTTPRequest.Method
    /// The header fields of the request.
    public var fields: HTTPFields
    /// The body of the request.
    public var body: HTTPRequestBody
    /// The limits of time, memory and bandwidth.
    public var limits: HTTPLimits
    /// The redirects that the request follows.
    public var redirects: RedirectPolicy
    /// The use of the session's cache.
    public var cachePolicy: HTTPCachePolicy
    /// Whether the request may be sent again after a failure.
    public var retrySafety: RetrySafety

    /// Creates a request with the default limits and policies.
    public init(
        _ method: HTTPRequest.Method = .get, _ url: String, fields: HTTPFields = [:], body: HTTPRequestBody = .none
    ) {
        self.url = url
        self.method = method
        self.fields = fields
        self.body = body
        limits = HTTPLimits()
        redirects = RedirectPolicy()
        cachePolicy = HTTPCachePolicy()
        retrySafety = .safe
    }
}

extension HTTPRequestDescription: Codable {
    private enum Key: CodingKey {
        case url, method, fields, body, limits, redirects, cachePolicy, retrySafety
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        let method = try container.decode(String.self, forKey: .method)
        guard let method = HTTPRequest.Method(method) else {
            throw DecodingError.dataCorruptedError(
                forKey: .method, in: container, debugDescription: "'\(method)' is not an HTTP method.")
        }
        self.init(method, try container.decode(String.self, forKey: .url))
        fields = try container.decode(HTTPFields.self, forKey: .fields)
        body = try container.decode(HTTPRequestBody.self, forKey: .body)
        limits = try container.decode(HTTPLimits.self, forKey: .limits)
        redirects = try container.decode(RedirectPolicy.self, forKey: .redirects)
        cachePolicy = try container.decode(HTTPCachePolicy.self, forKey: .cachePolicy)
        retrySafety = try container.decode(RetrySafety.self, forKey: .retrySafety)
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(url, forKey: .url)
        try container.encode(method.rawValue, forKey: .method)
        try container.encode(fields, forKey: .fields)
        try container.encode(body, forKey: .body)
        try container.encode(limits, forKey: .limits)
        try container.encode(redirects, forKey: .redirects)
        try container.encode(cachePolicy, forKey: .cachePolicy)
        try container.encode(retrySafety, forKey: .retrySafety)
    }
}

/// The body of a request.
public enum HTTPRequestBody: Sendable, Hashable, Codable {
    /// No body.
    case none
    /// Bytes in memory.
    case bytes(Data)
    /// A file, which is read while it is sent.
    case file(path: String)
    /// A form that may contain files. The form is sent in pieces, and its length is known in advance. `Content-Type` is set.
    case multipart(MultipartForm)
}

/// The limits of a request: time, memory and bandwidth.
public struct HTTPLimits: Sendable, Hashable, Codable {
    /// The longest time without a byte in either direction while the operation waits for one; nil for no limit.
    public var idleTimeout: Duration? = .seconds(10)
    /// The longest time of all attempts together, without pauses and retry delays; nil for no limit.
    public var totalTimeout: Duration?
    /// The largest body that is kept in memory, in bytes.
    public var maxBufferedBytes = 64 << 20
    /// The largest size of a decompressed body: in bytes, and relative to the announced or received compressed bytes.
    public var inflation = InflationLimit(size: 1 << 30)
    /// The largest rate of body bytes in both directions together, in bytes per second. Compressed bodies count as compressed.
    /// With nil, only the session's cap applies.
    public var bandwidth: UInt64?

    /// Creates the default limits.
    public init() {}
}
