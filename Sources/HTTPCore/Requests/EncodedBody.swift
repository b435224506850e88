#if Networking
#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A request's body in memory, with the Content-Type that goes with it (rule R11).
public struct EncodedBody: Hashable, Sendable, Codable {
    public var bytes: Data
    public var contentType: String

    public init(bytes: Data, contentType: String) {
        self.bytes = bytes
        self.contentType = contentType
    }

    /// In UTF-8.
    public static func text(_ text: String) -> EncodedBody {
        EncodedBody(bytes: Data(text.utf8), contentType: "text/plain; charset=utf-8")
    }

    public static func form(_ form: FormValue) -> EncodedBody {
        EncodedBody(bytes: Data(form.encoded.utf8), contentType: "application/x-www-form-urlencoded")
    }

    /// With sorted keys, so that equal values are equal bytes. Throws what encoding throws.
    public static func json(_ value: some Encodable) throws -> EncodedBody {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return try json(value, encoder)
    }

    public static func json(_ value: some Encodable, _ encoder: JSONEncoder) throws -> EncodedBody {
        EncodedBody(bytes: try encoder.encode(value), contentType: "application/json")
    }

    /// In XML unless `binary`. Throws what encoding throws.
    public static func propertyList(_ value: some Encodable, binary: Bool = false) throws -> EncodedBody {
        let encoder = PropertyListEncoder()
        encoder.outputFormat = binary ? .binary : .xml
        return EncodedBody(bytes: try encoder.encode(value), contentType: "application/x-plist")
    }
}
#endif
