/// A scanner that reads tokens, quoted strings and parameters from a field's value. The scanner accepts every input: a
/// method that finds no match returns nil and consumes nothing.
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

    /// Skips spaces and returns whether `character` is next.
    package mutating func isAtSign(_ character: Unicode.Scalar) -> Bool {
        skipSpace()
        return next == UInt8(ascii: character)
    }

    package mutating func skipSpace() {
        while let byte = next, byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") { position += 1 }
    }

    package mutating func token() -> String? { run { $0.isTokenByte } }

    /// Returns a `token68` of RFC 9110 that ends at a comma or at the end of the value. Returns nil if another
    /// character follows.
    package mutating func token68() -> String? {
        let start = position
        guard var text = run({ $0.isToken68Byte }) else { return nil }
        while take("=") { text += "=" }
        skipSpace()
        if isAtEnd || next == UInt8(ascii: ",") { return text }
        position = start
        return nil
    }

    /// Returns the text of a quoted string, without its escapes. Returns nil if no quoted string starts here, or if the
    /// closing quotation mark is missing.
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

    /// Returns the lowercase name and the value of `name=value` or `name="value"`. Some servers write spaces around the
    /// equals sign, and the scanner accepts them.
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

    /// Skips to the next `separator` outside of quotation marks, or to the end. A quotation mark without a partner
    /// extends to the end. A new attempt after each such mark would take quadratic time.
    package mutating func skip(to separator: Unicode.Scalar) {
        while let byte = next, byte != UInt8(ascii: separator) {
            if byte != UInt8(ascii: "\"") {
                position += 1
            } else if quotedString() == nil {
                position = bytes.count
            }
        }
    }

    /// Returns the parameters that semicolons separate, with lowercase names. The first parameter of a name wins, and
    /// the scanner skips invalid parameters. A value without quotation marks extends to its semicolon, because many
    /// servers send file names with spaces this way.
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

    /// Returns the text up to one of the separators or the end, without spaces around it.
    package mutating func text(to separators: Unicode.Scalar...) -> String {
        skipSpace()
        let rest = bytes[position...].prefix { byte in !separators.contains { UInt8(ascii: $0) == byte } }
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
