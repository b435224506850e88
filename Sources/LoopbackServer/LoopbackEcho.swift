#if Networking
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
        public var name: String
        public var value: String
    }

    public var method: String
    public var target: String
    public var version: String
    public var connection: Int
    /// The fields in the order of arrival, with the original case of the names.
    public var fields: [Field]
    public var bodyLength: Int64
    /// The SHA-256 digest of the body in hexadecimal digits.
    public var bodySHA256: String
    /// The body as text, or nil if the body exceeds 64 KiB or is not UTF-8.
    public var text: String?

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
#endif
