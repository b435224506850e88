#if Networking
/// For errors and logs: without user name and password.
extension HTTPAddress: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    package var description: String { fragment.map { "\(resource)#\($0)" } ?? resource }
    package var debugDescription: String { description }
    package var customMirror: Mirror { Mirror(self, children: [:]) }

    /// Fit for an error or a log: at most 2000 characters.
    package var redacted: String {
        let text = description
        // As many bytes as characters, or more.
        return text.utf8.count <= 2000 ? text : String(text.prefix(2000))
    }

    /// A text that should have been an address, fit for an error or a log: what may be user name and password is left out,
    /// control characters too, and it has at most 2000 characters.
    package static func redacted(_ text: String) -> String {
        if let address = HTTPAddress(text) { return address.redacted }
        // By bytes: an `@` with an accent on it is another `Character`, but not to everyone.
        var clean = text.utf8.filter { !$0.isControl }
        // Nobody knows how far the password goes in what cannot be parsed, so the last `@` counts.
        if let at = clean.lastIndex(of: UInt8(ascii: "@")) {
            clean.removeSubrange((clean[..<at].firstRange(of: Array("//".utf8))?.upperBound ?? clean.startIndex)...at)
        }
        return String(String(decoding: clean, as: UTF8.self).prefix(2000))
    }
}

/// Encoded as one string, with user name and password, which the owner of the saved file may know.
extension HTTPAddress: Codable {
    package init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let address = HTTPAddress(try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(
                in: container, debugDescription: "This is no absolute http or https URL.")
        }
        self = address
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(textWithCredentials)
    }

    /// The whole of it. Not for logs.
    package var textWithCredentials: String {
        guard user != nil || password != nil else { return description }
        func encoded(_ text: String?) -> String { PercentEncoding.encode((text ?? "").utf8) { $0.isUnreserved } }
        let credentials = encoded(user) + (password.map { ":" + encoded($0) } ?? "")
        return "\(origin.scheme.rawValue)://\(credentials)@" + description.dropFirst(origin.scheme.rawValue.count + 3)
    }
}
#endif
