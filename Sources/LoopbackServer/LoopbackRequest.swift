#if Networking
import Crypto
public import HTTPTypes

/// What a client sent, whole.
public struct LoopbackRequest: Sendable {
    /// The version the request came in.
    public enum Version: String, Sendable { case http1 = "HTTP/1.1", http2 = "HTTP/2" }

    public var method: HTTPRequest.Method
    /// The request's target as it stood on the wire: path and query.
    public var target: String
    /// The `Host` field, or what HTTP/2 calls the authority.
    public var authority: String?
    public var fields: HTTPFields
    /// The body; empty if the server was told to keep none.
    public var body: [UInt8]
    /// How many bytes the body had, also if they are not kept.
    public var bodyLength: Int64
    /// The SHA-256 digest of the body, in hexadecimal digits, also if it is not kept.
    public var bodySHA256: String
    public var version: Version
    /// Which connection it came over; the server's first is 1. Two requests with the same number shared a connection.
    public var connection: Int
    /// Which of the server's requests it is, by the arrival of its head; the first is 1.
    public var number: Int

    /// For tests of what answers, without a server.
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

    /// The target without its query, percent-encoded as it came.
    public var path: String { String(target.prefix { $0 != "?" }) }

    /// What stands after the first `?` of the target; nil if there is none.
    public var query: String? {
        target.firstIndex(of: "?").map { String(target[target.index(after: $0)...]) }
    }

    /// The first value of a query item, as it came; empty if the item has no value, nil if there is no such item.
    public func queryItem(_ name: String) -> String? {
        for item in (query ?? "").split(separator: "&") {
            let parts = item.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            if parts[0] == name { return parts.count == 2 ? String(parts[1]) : "" }
        }
        return nil
    }
}
#endif
