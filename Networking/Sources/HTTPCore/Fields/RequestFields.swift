package import HTTPTypes

/// Checks of the fields that a caller sets for a request. A name must be a token, and a value must not contain control
/// characters other than tab. The checks prevent header injection. `HTTPField` alone would silently replace such
/// characters with spaces.
package enum RequestFields {
    /// The fields that the transport derives from the request's address, body and connection.
    package static let owned: Set<String> = [
        "connection", "content-length", "expect", "host", "http2-settings", "keep-alive", "proxy-connection", "te",
        "trailer", "transfer-encoding", "upgrade",
    ]

    /// Returns fields with these names and values, in their order, without spaces around the values.
    ///
    /// - Throws: `HTTPError.Reason.invalidHeader` for an invalid name or value, and for a field that the transport
    ///   sets.
    package static func checked(_ fields: [(name: String, value: String)], url: String) throws(HTTPError) -> HTTPFields
    {
        var checked = HTTPFields()
        for (name, value) in fields {
            guard let fieldName = HTTPField.Name(name), !owned.contains(fieldName.canonicalName),
                isValid(value: value)
            else { throw HTTPError(.invalidHeader(name: printable(name)), url: url) }
            let (space, bytes) = (Set(" \t".utf8), Array(value.utf8))
            let end = bytes.lastIndex { !space.contains($0) }.map { $0 + 1 } ?? 0
            let text = bytes[..<end].drop { space.contains($0) }
            checked.append(HTTPField(name: fieldName, value: text))
        }
        return checked
    }

    /// Returns the fields unchanged, or throws `HTTPError.Reason.invalidHeader` if the transport sets one of them.
    package static func checked(_ fields: HTTPFields, url: String) throws(HTTPError) -> HTTPFields {
        if let field = fields.first(where: { owned.contains($0.name.canonicalName) }) {
            throw HTTPError(.invalidHeader(name: field.name.rawName), url: url)
        }
        return fields
    }

    package static func isValid(name: String) -> Bool { !name.isEmpty && name.utf8.allSatisfy(\.isTokenByte) }

    /// Whether the value contains no control character except tab. Bytes above ASCII are valid.
    package static func isValid(value: String) -> Bool {
        value.utf8.allSatisfy { !$0.isControl || $0 == UInt8(ascii: "\t") }
    }

    /// Returns the first 100 characters of the name with control characters replaced, for use in an error.
    private static func printable(_ name: String) -> String {
        String(
            String.UnicodeScalarView(
                name.unicodeScalars.prefix(100).map { $0.value < 0x20 || $0.value == 0x7F ? "\u{FFFD}" : $0 }))
    }
}
