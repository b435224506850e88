#if Networking
package import HTTPTypes

/// The fields a user sets for a request. Names are tokens and values hold no line break, NUL or other control character, so
/// that none can be smuggled in. `HTTPField` alone would turn these into spaces without a word.
package enum RequestFields {
    /// These follow from the request's address, body and connection; the transport sets them.
    package static let owned: Set<String> = [
        "connection", "content-length", "expect", "host", "http2-settings", "keep-alive", "proxy-connection", "te",
        "trailer", "transfer-encoding", "upgrade",
    ]

    /// The fields of these names and values, in their order. Spaces around a value do not count.
    ///
    /// Throws `HTTPError.Reason.invalidHeader` for what cannot be sent, and for fields that belong to the transport.
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

    /// The same for fields that are such already: then only those of the transport are refused.
    package static func checked(_ fields: HTTPFields, url: String) throws(HTTPError) -> HTTPFields {
        if let field = fields.first(where: { owned.contains($0.name.canonicalName) }) {
            throw HTTPError(.invalidHeader(name: field.name.rawName), url: url)
        }
        return fields
    }

    package static func isValid(name: String) -> Bool { !name.isEmpty && name.utf8.allSatisfy(\.isTokenByte) }

    /// Tabs are valid, and so are bytes beyond ASCII.
    package static func isValid(value: String) -> Bool {
        value.utf8.allSatisfy { !$0.isControl || $0 == UInt8(ascii: "\t") }
    }

    /// A name fit for an error, whatever it holds.
    private static func printable(_ name: String) -> String {
        String(
            String.UnicodeScalarView(
                name.unicodeScalars.prefix(100).map { $0.value < 0x20 || $0.value == 0x7F ? "\u{FFFD}" : $0 }))
    }
}
#endif
