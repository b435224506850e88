/// The media type of a body with its parameters, as in Content-Type: `text/html; charset=utf-8`.
public struct MediaType: Hashable, Sendable, LosslessStringConvertible {
    /// The type in lower case, for example `text`.
    public let type: String
    /// The subtype in lower case, for example `html`.
    public let subtype: String
    /// The parameters by their lowercase names. The first parameter of a name wins.
    public let parameters: [String: String]

    /// Returns nil if the text is not a media type. The parser skips invalid parameters.
    public init?(_ text: String) {
        var scanner = FieldScanner(text)
        scanner.skipSpace()
        guard let type = scanner.token(), scanner.take("/"), let subtype = scanner.token() else { return nil }
        scanner.skipSpace()
        guard scanner.isAtEnd || scanner.next == UInt8(ascii: ";") else { return nil }
        self.type = type.lowercased()
        self.subtype = subtype.lowercased()
        parameters = scanner.parameters()
    }

    /// The type and the subtype, for example `text/html`.
    public var essence: String { "\(type)/\(subtype)" }

    /// The charset's name in lower case, or nil if the type has no charset.
    public var charset: String? { parameters["charset"]?.lowercased() }

    /// The text of the media type with its parameters, sorted by name.
    public var description: String {
        parameters.sorted { $0.key < $1.key }.reduce(essence) { text, parameter in
            let value = parameter.value
            let isToken = !value.isEmpty && value.utf8.allSatisfy(\.isTokenByte)
            return text + "; \(parameter.key)=" + (isToken ? value : value.quoted)
        }
    }
}
