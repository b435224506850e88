#if Networking
/// The type of a body with its parameters, as Content-Type says it: `text/html; charset=utf-8`.
public struct MediaType: Hashable, Sendable, LosslessStringConvertible {
    /// In lower case, as the subtype is: `text`.
    public let type: String
    public let subtype: String
    /// By names in lower case; of those with the same name the first counts.
    public let parameters: [String: String]

    /// Nil if the text is no type. Parameters that are none are left out.
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

    /// Type and subtype: `text/html`.
    public var essence: String { "\(type)/\(subtype)" }

    /// The charset's name in lower case, if there is one.
    public var charset: String? { parameters["charset"]?.lowercased() }

    public var description: String {
        parameters.sorted { $0.key < $1.key }.reduce(essence) { text, parameter in
            let value = parameter.value
            let isToken = !value.isEmpty && value.utf8.allSatisfy(\.isTokenByte)
            return text + "; \(parameter.key)=" + (isToken ? value : value.quoted)
        }
    }
}
#endif
