#if Networking
public import HTTPCaching
public import HTTPCore
public import HTTPTypes

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// What an HTTP operation is to do: everything but what becomes of the answer. Saved and restored as `Codable` (rule R1).
public struct HTTPOperationRequest: Sendable, Hashable {
    /// An absolute `http` or `https` URL; or a relative one, for a client that has a base.
    public var url: String
    public var method: HTTPRequest.Method
    public var fields: HTTPFields
    public var body: HTTPRequestBody
    public var limits: HTTPLimits
    public var redirects: RedirectPolicy
    public var cachePolicy: HTTPCachePolicy
    /// Whether it may be sent again after a failure.
    public var retryMarking: RetryMarking

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
        retryMarking = .safe
    }
}

extension HTTPOperationRequest: Codable {
    private enum Key: CodingKey {
        case url, method, fields, body, limits, redirects, cachePolicy, retryMarking
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        let method = try container.decode(String.self, forKey: .method)
        guard let method = HTTPRequest.Method(method) else {
            throw DecodingError.dataCorruptedError(
                forKey: .method, in: container, debugDescription: "'\(method)' is no HTTP method.")
        }
        self.init(method, try container.decode(String.self, forKey: .url))
        fields = try container.decode(HTTPFields.self, forKey: .fields)
        body = try container.decode(HTTPRequestBody.self, forKey: .body)
        limits = try container.decode(HTTPLimits.self, forKey: .limits)
        redirects = try container.decode(RedirectPolicy.self, forKey: .redirects)
        cachePolicy = try container.decode(HTTPCachePolicy.self, forKey: .cachePolicy)
        retryMarking = try container.decode(RetryMarking.self, forKey: .retryMarking)
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
        try container.encode(retryMarking, forKey: .retryMarking)
    }
}

/// What is sent with a request.
public enum HTTPRequestBody: Sendable, Hashable, Codable {
    case none
    case bytes(Data)
    /// A file, read as it is sent.
    case file(path: String)
    /// A form that may hold files, sent piece by piece with its length known before. `Content-Type` is set with it.
    case multipart(MultipartForm)
}

/// How long, and how much (rules R5, R10, R12).
public struct HTTPLimits: Sendable, Hashable, Codable {
    /// Without a byte in either direction, while one is waited for; nil for ever.
    public var idle: Duration? = .seconds(10)
    /// Of all attempts together, pauses and waiting for a retry not counted; nil for ever.
    public var whole: Duration?
    /// The most bytes of a body that is kept in memory.
    public var memory = 64 << 20
    /// What a compressed body may inflate to, in bytes, and as a multiple of its announced length, or of what has come of it.
    public var inflation = InflationLimit(size: 1 << 30)
    /// At most so many bytes of bodies a second, sent and received together; nil for no cap but that of the session (rule
    /// R13). What is compressed counts as it is sent.
    public var bandwidth: UInt64?

    public init() {}
}
#endif
