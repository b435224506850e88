extension String {
    /// The string as a quoted string of a header field. The code works on bytes: a quotation mark with a combining
    /// accent is one `Character`, but its first byte still ends a quoted string.
    package var quoted: String {
        var bytes = [UInt8(ascii: "\"")]
        for byte in utf8 {
            if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") { bytes.append(UInt8(ascii: "\\")) }
            bytes.append(byte)
        }
        return String(decoding: bytes + [UInt8(ascii: "\"")], as: UTF8.self)
    }
}
