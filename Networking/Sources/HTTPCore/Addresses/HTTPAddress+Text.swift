/// Descriptions for errors and logs, without user name and password.
extension HTTPAddress: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String { fragment.map { "\(resource)#\($0)" } ?? resource }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: [:]) }

    /// The description for an error or a log, with at most 2000 characters.
    public var redacted: String {
        let text = description
        // A text never has more characters than bytes.
        return text.utf8.count <= 2000 ? text : String(text.prefix(2000))
    }

    /// Returns an invalid address for an error or a log. The function removes a possible user name and password,
    /// removes control characters, and returns at most 2000 characters.
    public static func redacted(_ text: String) -> String {
        if let address = HTTPAddress(text) { return address.redacted }
        // The code compares bytes, because an `@` with a combining accent is another `Character` but contains the byte
        // of an `@`.
        var clean = text.utf8.filter { !$0.isControl }
        // The end of the password in an invalid address is unknown, so the code removes everything up to the last `@`.
        if let at = clean.lastIndex(of: UInt8(ascii: "@")) {
            clean.removeSubrange((clean[..<at].firstRange(of: Array("//".utf8))?.upperBound ?? clean.startIndex)...at)
        }
        return String(String(decoding: clean, as: UTF8.self).prefix(2000))
    }
}

/// An encoding as one string that includes the user name and the password. The owner of the saved file may know them.
extension HTTPAddress: Codable {
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let address = HTTPAddress(try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(
                in: container, debugDescription: "This is not an absolute http or https URL.")
        }
        self = address
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(textWithCredentials)
    }

    /// The complete URL with user name and password. Do not use the text in logs.
    public var textWithCredentials: String {
        guard user != nil || password != nil else { return description }
        func encoded(_ text: String?) -> String { PercentEncoding.encode((text ?? "").utf8) { $0.isUnreserved } }
        let credentials = encoded(user) + (password.map { ":" + encoded($0) } ?? "")
        return "\(origin.scheme.rawValue)://\(credentials)@" + description.dropFirst(origin.scheme.rawValue.count + 3)
    }
}
