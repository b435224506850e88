import Crypto
public import HTTPTypes

/// A complete request that the server received.
public struct LoopbackRequest: Sendable {
    /// The HTTP version of the request.
    public enum Version: String, Sendable { case http1 = "HTTP/1.1", http2 = "HTTP/2" }

    /// The method of the request.
    public var method: HTTPRequest.Method
    /// The request's target, with path and query as received.
    public var target: String
    /// The value of the field `Host`, or the authority of HTTP/2.
    public var authority: String?
    /// The fields of the request.
    public var fields: HTTPFields
    /// The body. Empty if the server does not keep bodies.
    public var body: [UInt8]
    /// The length of the body in bytes. Present even if the server does not keep bodies.
    public var bodyLength: Int64
    /// The SHA-256 digest of the body in hexadecimal digits. Present even if the server does not keep bodies.
    public var bodySHA256: String
    /// The HTTP version of the request.
    public var version: Version
    /// The ordinal number of the connection on the server, from 1. Two requests with the same number shared a
    /// connection.
    public var connection: Int
    /// The ordinal number of the request on the server, from 1, in the order in which the heads arrived.
    public var number: Int

    /// Creates a request for a test of a handler without a server.
    public init(
        _ method: HTTPRequest.Method = .get, _ target: String = "/", fields: HTTPFields = [:], body: [UInt8] = [],
        version: Version = .http1, authority: String? = nil, connection: Int = 1, number: Int = 1
    ) {
        self.method = method
        self.target = target
        self.authority = authority
        self.fields = fields
        self.body = body
        self.version = version
        self.connection = connection
        self.number = number
        bodyLength = Int64(body.count)
        bodySHA256 = SHA256.hash(data: body).hexadecimal
    }

    /// The target without its query, with the received percent-encoding.
    public var path: String { String(target.prefix { $0 != "?" }) }

    /// The text after the first `?` of the target, or nil if the target has no query.
    public var query: String? {
        target.firstIndex(of: "?").map { String(target[target.index(after: $0)...]) }
    }

    /// Returns the first received value of a query item. The value is empty if the item has no value, and nil if the
    /// item does not exist.
    public func queryItem(_ name: String) -> String? {
        for item in (query ?? "").split(separator: "&") {
            let parts = item.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            if parts[0] == name { return parts.count == 2 ? String(parts[1]) : "" }
        }
        return nil
    }
}
