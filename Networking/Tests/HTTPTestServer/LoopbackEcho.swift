#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif
import HTTPTypes

/// The JSON of the echo route, which describes the request that the server received.
public struct LoopbackEcho: Codable, Sendable, Equatable {
    /// A field of the request.
    public struct Field: Codable, Sendable, Equatable {
        /// The name of the field.
        public var name: String
        /// The value of the field.
        public var value: String
    }

    /// The method of the request.
    public var method: String
    /// The target of the request: path and query.
    public var target: String
    /// The HTTP version of the request: `HTTP/1.1` or `HTTP/2`.
    public var version: String
    /// The ordinal number of the connection on the server, from 1.
    public var connection: Int
    /// The fields in the order of arrival, with the original case of the names.
    public var fields: [Field]
    /// The length of the body in bytes.
    public var bodyLength: Int64
    /// The SHA-256 digest of the body in hexadecimal digits.
    public var bodySHA256: String
    /// The body as text, or nil if the body exceeds 64 KiB or is not UTF-8.
    public var text: String?

    /// Creates the description of a request.
    public init(_ request: LoopbackRequest) {
        method = request.method.rawValue
        target = request.target
        version = request.version.rawValue
        connection = request.connection
        fields = request.fields.map { Field(name: $0.name.rawName, value: $0.value) }
        bodyLength = request.bodyLength
        bodySHA256 = request.bodySHA256
        text = request.body.count <= 65536 ? String(validating: request.body, as: UTF8.self) : nil
    }

    /// The values of a field, with a comparison of names that ignores case.
    public subscript(name: String) -> [String] {
        fields.filter { $0.name.lowercased() == name.lowercased() }.map(\.value)
    }

    var json: String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return (try? encoder.encode(self)).map { String(decoding: $0, as: UTF8.self) } ?? "null"
    }
}
