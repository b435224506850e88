#if Networking
/// Reads a field's value piece by piece: tokens, quoted strings, parameters. Total: what does not fit is nil, and nothing is
/// consumed by what answers nil.
package struct FieldScanner {
    private let bytes: [UInt8]
    private var position = 0

    package init(_ value: some StringProtocol) { bytes = Array(value.utf8) }

    package var isAtEnd: Bool { position == bytes.count }
    package var next: UInt8? { isAtEnd ? nil : bytes[position] }

    package mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard next == UInt8(ascii: character) else { return false }
        position += 1
        return true
    }

    /// Whether `character` is next after spaces.
    package mutating func isAtSign(_ character: Unicode.Scalar) -> Bool {
        skipSpace()
        return next == UInt8(ascii: character)
    }

    package mutating func skipSpace() {
        while let byte = next, byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") { position += 1 }
    }

    package mutating func token() -> String? { run { $0.isTokenByte } }

    /// What RFC 9110 calls token68, up to the next comma or the end; nil if something else follows.
    package mutating func token68() -> String? {
        let start = position
        guard var text = run({ $0.isToken68Byte }) else { return nil }
        while take("=") { text += "=" }
        skipSpace()
        if isAtEnd || next == UInt8(ascii: ",") { return text }
        position = start
        return nil
    }

    /// The text between quotes, without the escapes. Nil where no quoted string starts, or where it does not end.
    package mutating func quotedString() -> String? {
        let start = position
        guard take("\"") else { return nil }
        var text: [UInt8] = []
        while let byte = next {
            position += 1
            switch byte {
            case UInt8(ascii: "\""): return String(decoding: text, as: UTF8.self)
            case UInt8(ascii: "\\"):
                guard let escaped = next else { break }
                text.append(escaped)
                position += 1
            default: text.append(byte)
            }
        }
        position = start
        return nil
    }

    package mutating func digits() -> String? { run { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 } }

    /// `name=value` or `name="value"`, with spaces around the equals sign as some write them. The name is in lower case.
    package mutating func parameter() -> (name: String, value: String)? {
        let start = position
        if let name = token() {
            skipSpace()
            if take("=") {
                skipSpace()
                if let value = quotedString() ?? token() { return (name.lowercased(), value) }
            }
        }
        position = start
        return nil
    }

    /// Skips to `separator`, which stands outside of quotes, or to the end. Quotes that do not end reach to the end: to try
    /// again behind each would take quadratic time.
    package mutating func skip(to separator: Unicode.Scalar) {
        while let byte = next, byte != UInt8(ascii: separator) {
            if byte != UInt8(ascii: "\"") {
                position += 1
            } else if quotedString() == nil {
                position = bytes.count
            }
        }
    }

    /// The parameters of a value that are separated by semicolons. Of those with the same name the first counts; what is none
    /// is skipped. A value without quotes ends with its semicolon only, since many servers send names with spaces like this.
    package mutating func parameters() -> [String: String] {
        var found: [String: String] = [:]
        skip(to: ";")
        while take(";") {
            skipSpace()
            if let name = token()?.lowercased(), isAtSign("="), take("=") {
                skipSpace()
                let value = quotedString() ?? text(to: ";")
                if found[name] == nil { found[name] = value }
            }
            skip(to: ";")
        }
        return found
    }

    /// Up to `separator` or the end, without the spaces in front of it.
    private mutating func text(to separator: Unicode.Scalar) -> String {
        let rest = bytes[position...].prefix { $0 != UInt8(ascii: separator) }
        position = rest.endIndex
        let end = rest.lastIndex { $0 != UInt8(ascii: " ") && $0 != UInt8(ascii: "\t") }
        return String(decoding: rest[..<(end.map { $0 + 1 } ?? rest.startIndex)], as: UTF8.self)
    }

    private mutating func run(_ belongs: (UInt8) -> Bool) -> String? {
        let start = position
        while let byte = next, belongs(byte) { position += 1 }
        return start == position ? nil : String(decoding: bytes[start..<position], as: UTF8.self)
    }
}
#endif
