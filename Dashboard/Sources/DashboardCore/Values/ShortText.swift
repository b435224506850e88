/// Text of users in bounded length.
package enum ShortText {
    /// The length of a name in lists, in characters.
    package static let nameLimit = 200
    /// The length of an explanation or an error, in characters.
    package static let noteLimit = 2000

    /// The length of an output, in bytes.
    package static let outputLimit = 16 * 1024

    /// Returns the text, or an ellipsis and its end, from the beginning of a line if there is one. O(`limit`).
    package static func end(_ text: String, bytes limit: Int = outputLimit) -> String {
        guard text.utf8.count > limit else { return text }
        var end = text.utf8.suffix(limit)
        while let first = end.first, first & 0xC0 == 0x80 { end.removeFirst() }
        if let line = end.firstIndex(of: UInt8(ascii: "\n")), line != end.indices.last {
            end = end[end.index(after: line)...]
        }
        return "…\n" + String(Substring(end))
    }

    /// Returns the text, or its beginning and an ellipsis. O(`limit`): a name may have ten million characters.
    ///
    /// A single character can have millions of combining marks, so the bytes are limited too, to eight a character.
    package static func cut(_ text: String, to limit: Int = nameLimit) -> String {
        let byteLimit = 8 * limit
        let bytes = text.utf8.prefix(byteLimit + 1)
        if bytes.count > byteLimit {
            // The last scalar may be cut in two.
            var whole = Array(bytes.dropLast())
            while let last = whole.last, last & 0xC0 == 0x80 { whole.removeLast() }
            if let last = whole.last, last >= 0xC0 { whole.removeLast() }
            return String(String(decoding: whole, as: UTF8.self).prefix(limit)) + "…"
        }
        let prefix = text.prefix(limit)
        return prefix.endIndex == text.endIndex ? text : prefix + "…"
    }
}
