extension YAMLReader {
    // MARK: - Plain scalars

    /// Reads a scalar without quotes.
    ///
    /// - Parameters:
    ///   - parent: The indentation that its later lines must exceed, outside of brackets.
    ///   - kind: The meaning that a tag gives it. `nil` for that of its text.
    mutating func plain(in parent: Int, inFlow: Bool, kind: ScalarKind?) throws(Diagnostic) -> YAMLNode.Content {
        guard canBeginPlain(inFlow: inFlow) else {
            // A character has up to four bytes.
            let character = String(decoding: text[offset..<min(offset + 4, text.count)], as: UTF8.self).prefix(1)
            throw invalid("a value cannot begin with '\(character)'", at: position(), remedy: Self.wholeValue)
        }
        let first = plainLine(inFlow: inFlow)
        var end = mark
        var breaks = skipBreaks()
        guard breaks > 0, isPlainLine(in: parent, inFlow: inFlow) else {
            move(to: end)
            return Self.scalar(UnsafeBufferPointer(rebasing: text[first]), kind)
        }
        var folded = Array(text[first])
        while breaks > 0, isPlainLine(in: parent, inFlow: inFlow) {
            let line = plainLine(inFlow: inFlow)
            if line.isEmpty { break }
            folded.appendFold(breaks)
            folded += text[line]
            end = mark
            breaks = skipBreaks()
        }
        move(to: end)
        return folded.withUnsafeBufferPointer { Self.scalar($0, kind) }
    }

    private static func scalar(_ bytes: UnsafeBufferPointer<UInt8>, _ kind: ScalarKind?) -> YAMLNode.Content {
        .scalar(String(decoding: bytes, as: UTF8.self), kind ?? ScalarKind(ofPlain: bytes))
    }

    private func canBeginPlain(inFlow: Bool) -> Bool {
        switch current {
        case UInt8(ascii: "-"), UInt8(ascii: "?"), UInt8(ascii: ":"):
            !isBlankOrEnd(following) && !(inFlow && isFlowIndicator(following))
        case UInt8(ascii: "#"), UInt8(ascii: "&"), UInt8(ascii: "*"), UInt8(ascii: "!"), UInt8(ascii: "|"),
            UInt8(ascii: ">"), UInt8(ascii: "'"), UInt8(ascii: "\""), UInt8(ascii: "%"), UInt8(ascii: "@"),
            UInt8(ascii: "`"):
            false
        default: !isFlowIndicator(current)
        }
    }

    /// Reads the part of a plain scalar in this line, without the blanks at its end.
    private mutating func plainLine(inFlow: Bool) -> Range<Int> {
        let start = offset
        var end = offset
        scan: while !isAtEnd {
            switch current {
            case UInt8(ascii: "\n"), UInt8(ascii: "\r"): break scan
            case UInt8(ascii: " "), UInt8(ascii: "\t"):
                offset += 1
                continue scan
            case UInt8(ascii: ":") where isBlankOrEnd(following) || inFlow && isFlowIndicator(following): break scan
            case UInt8(ascii: "#") where offset > end: break scan
            case let byte where inFlow && isFlowIndicator(byte): break scan
            default: break
            }
            offset += 1
            end = offset
        }
        offset = end
        return start..<end
    }

    /// Whether the scalar continues in the line whose first character is next.
    private func isPlainLine(in parent: Int, inFlow: Bool) -> Bool {
        if isAtEnd || isAtMarker || current == UInt8(ascii: "#") { return false }
        // Tabs do not indent.
        return inFlow || text[lineStart..<offset].prefix { $0 == UInt8(ascii: " ") }.count > parent
    }

    /// Skips blanks, then line breaks and the blanks around them.
    ///
    /// - Returns: The number of line breaks.
    private mutating func skipBreaks() -> Int {
        var breaks = 0
        skipBlanks()
        while isBreak(current) {
            skipBreak()
            breaks += 1
            skipBlanks()
        }
        return breaks
    }

    // MARK: - Quoted scalars

    /// Reads a scalar in quotes.
    mutating func quoted() throws(Diagnostic) -> String {
        let (quote, opening) = (current, position())
        offset += 1
        let start = offset
        while !isAtEnd, current != quote, current != UInt8(ascii: "\\"), !isBreak(current) { offset += 1 }
        if current == quote, following != quote || quote == UInt8(ascii: "\"") {
            offset += 1
            return String(decoding: text[start..<(offset - 1)], as: UTF8.self)
        }
        var bytes = Array(text[start..<offset])
        // A line break removes the blanks before it, except those of an escape.
        var kept = 0
        while true {
            guard !isAtEnd else { throw invalid("the quote has no end", at: opening) }
            switch current {
            case quote where quote == UInt8(ascii: "'") && following == quote:
                bytes.append(quote)
                offset += 2
            case quote:
                offset += 1
                return String(decoding: bytes, as: UTF8.self)
            case UInt8(ascii: "\n"), UInt8(ascii: "\r"):
                while bytes.count > kept, let last = bytes.last, isBlank(last) { bytes.removeLast() }
                bytes.appendFold(skipBreaks())
                if isAtMarker { throw invalid("the quote has no end", at: opening) }
                kept = bytes.count
            case UInt8(ascii: "\\") where quote == UInt8(ascii: "\""):
                offset += 1
                if isBreak(current) {
                    bytes += repeatElement(UInt8(ascii: "\n"), count: skipBreaks() - 1)
                } else {
                    bytes += try escape()
                }
                kept = bytes.count
            case let byte:
                bytes.append(byte)
                offset += 1
            }
        }
    }

    /// Reads the characters of an escape after its backslash.
    private mutating func escape() throws(Diagnostic) -> [UInt8] {
        let escaped = current
        let digits: Int
        switch escaped {
        case UInt8(ascii: "x"): digits = 2
        case UInt8(ascii: "u"): digits = 4
        case UInt8(ascii: "U"): digits = 8
        default:
            guard let scalar = Self.escapes[escaped] else {
                throw invalid(
                    "unknown escape '\\\(Character(Unicode.Scalar(escaped)))'", at: position(),
                    remedy: #"write \\ for a backslash, or use apostrophes"#)
            }
            offset += 1
            return Array(String(scalar).utf8)
        }
        let code = String(decoding: text[(offset + 1)..<min(offset + 1 + digits, text.count)], as: UTF8.self)
        guard code.utf8.count == digits, let value = UInt32(code, radix: 16), let scalar = Unicode.Scalar(value) else {
            throw invalid(
                "'\\\(Character(Unicode.Scalar(escaped)))' needs \(digits) digits of a character in base 16",
                at: position())
        }
        offset += 1 + digits
        return Array(String(scalar).utf8)
    }

    private static let escapes: [UInt8: Unicode.Scalar] = [
        UInt8(ascii: "0"): "\0", UInt8(ascii: "a"): "\u{7}", UInt8(ascii: "b"): "\u{8}", UInt8(ascii: "t"): "\t",
        UInt8(ascii: "\t"): "\t", UInt8(ascii: "n"): "\n", UInt8(ascii: "v"): "\u{B}", UInt8(ascii: "f"): "\u{C}",
        UInt8(ascii: "r"): "\r", UInt8(ascii: "e"): "\u{1B}", UInt8(ascii: " "): " ", UInt8(ascii: "\""): "\"",
        UInt8(ascii: "/"): "/", UInt8(ascii: "\\"): "\\", UInt8(ascii: "N"): "\u{85}", UInt8(ascii: "_"): "\u{A0}",
        UInt8(ascii: "L"): "\u{2028}", UInt8(ascii: "P"): "\u{2029}",
    ]
}

extension [UInt8] {
    /// Appends the text for line breaks between two lines: a space for one, and one less for more.
    fileprivate mutating func appendFold(_ breaks: Int) {
        if breaks == 1 {
            append(UInt8(ascii: " "))
        } else {
            self += repeatElement(UInt8(ascii: "\n"), count: breaks - 1)
        }
    }
}
