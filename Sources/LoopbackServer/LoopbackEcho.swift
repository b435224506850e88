#if Networking
#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif
import HTTPTypes

/// What the echo route answers: the request as the server saw it.
public struct LoopbackEcho: Codable, Sendable, Equatable {
    public struct Field: Codable, Sendable, Equatable {
        public var name: String
        public var value: String
    }

    public var method: String
    public var target: String
    public var version: String
    public var connection: Int
    /// In the order of arrival; the names as they were written.
    public var fields: [Field]
    public var bodyLength: Int64
    /// In hexadecimal digits.
    public var bodySHA256: String
    /// The body if it is UTF-8 and short (64 KiB).
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

    /// The values of a field, whatever the case of its name.
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
