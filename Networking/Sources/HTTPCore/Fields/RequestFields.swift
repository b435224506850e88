package import HTTPTypes

/// Checks of the fields that a caller sets for a request. `HTTPField` itself refuses names that are not tokens, and
/// replaces control characters in values with spaces.
package enum RequestFields {
    /// The fields that the transport derives from the request's address, body and connection.
    package static let owned: Set<String> = [
        "connection", "content-length", "expect", "host", "http2-settings", "keep-alive", "proxy-connection",
        "request-target", "te", "trailer", "transfer-encoding", "upgrade",
    ]

    /// Returns the fields unchanged, or throws `HTTPError.Reason.invalidHeader` if the transport sets one of them.
    package static func checked(_ fields: HTTPFields, url: String) throws(HTTPError) -> HTTPFields {
        if let field = fields.first(where: { owned.contains($0.name.canonicalName) }) {
            throw HTTPError(.invalidHeader(name: field.name.rawName), url: url)
        }
        return fields
    }

    /// Whether the value contains no control character except tab. Bytes above ASCII are valid.
    package static func isValid(value: String) -> Bool {
        value.utf8.allSatisfy { !$0.isControl || $0 == UInt8(ascii: "\t") }
    }
}
