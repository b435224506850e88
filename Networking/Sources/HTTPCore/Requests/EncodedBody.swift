#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A request's body in memory, with its Content-Type.
public struct EncodedBody: Hashable, Sendable, Codable {
    /// The bytes of the body.
    public var bytes: Data
    /// The value of the field Content-Type.
    public var contentType: String

    /// Creates a body.
    public init(bytes: Data, contentType: String) {
        self.bytes = bytes
        self.contentType = contentType
    }

    /// Returns a body of plain text in UTF-8.
    public static func text(_ text: String) -> EncodedBody {
        EncodedBody(bytes: Data(text.utf8), contentType: "text/plain; charset=utf-8")
    }

    /// Returns a body in the format `application/x-www-form-urlencoded`.
    public static func form(_ form: FormValue) -> EncodedBody {
        EncodedBody(bytes: Data(form.encoded.utf8), contentType: "application/x-www-form-urlencoded")
    }

    /// Returns a JSON body with sorted keys, so that equal values have equal bytes. Rethrows the errors of the encoder.
    public static func json(_ value: some Encodable) throws -> EncodedBody {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return try json(value, encoder)
    }

    /// Returns a JSON body that `encoder` creates. Rethrows the errors of the encoder.
    public static func json(_ value: some Encodable, _ encoder: JSONEncoder) throws -> EncodedBody {
        EncodedBody(bytes: try encoder.encode(value), contentType: "application/json")
    }

    /// Returns a property list, in XML unless `binary` is true. Rethrows the errors of the encoder.
    public static func propertyList(_ value: some Encodable, binary: Bool = false) throws -> EncodedBody {
        let encoder = PropertyListEncoder()
        encoder.outputFormat = binary ? .binary : .xml
        return EncodedBody(bytes: try encoder.encode(value), contentType: "application/x-plist")
    }
}
