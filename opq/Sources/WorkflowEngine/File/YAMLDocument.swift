/// A YAML document whose nodes know their places in the text.
///
/// Keys are not compared: a comparison by their whole contents could take exponential time for aliases of aliases.
struct YAMLDocument {
    /// The outermost node; `nil` for an empty document.
    let root: YAMLNode?

    /// Reads `text`. The time is linear in the length of the text.
    ///
    /// - Parameter file: The number of the file in places.
    /// - Throws: A `Diagnostic` if it is not YAML.
    init(_ text: String, file: UInt32 = 0) throws(Diagnostic) {
        var text = text
        let result = text.withUTF8 { bytes in
            Result { () throws(Diagnostic) in
                var reader = YAMLReader(bytes, file: file)
                return try reader.document()
            }
        }
        root = try result.get()
    }
}

extension YAMLReader {
    /// Reads the only document. `nil` if the text has only comments.
    fileprivate mutating func document() throws(Diagnostic) -> YAMLNode? {
        try refuseControlCharacters()
        skipByteOrderMark()
        skipSeparation()
        while current == UInt8(ascii: "%"), offset == lineStart {
            skipLine()
            skipSeparation()
        }
        if isAtMarker(UInt8(ascii: "-")) { offset += 3 } else if isAtEnd { return nil }
        let isFirst = try skipToBlockToken()
        let root = try blockNode(in: -1, BlockPlace(mayBeCompact: isFirst, mayBeIndentless: false))
        _ = try skipToBlockToken()
        let hasEnd = isAtMarker(UInt8(ascii: "."))
        if hasEnd {
            offset += 3
            skipSeparation()
        }
        guard isAtEnd else {
            if hasEnd || isAtMarker {
                throw invalid("expected a single document, but found another one", at: position())
            }
            throw textAfterValue
        }
        return root
    }

    private mutating func refuseControlCharacters() throws(Diagnostic) {
        var index = 0
        while index < text.count {
            let byte = text[index]
            // U+0080 to U+009F are control characters too, except the line break U+0085.
            let isForbidden =
                byte < 0x20 && byte != UInt8(ascii: "\t") && !isBreak(byte) || byte == 0x7F
                || byte == 0xC2 && self.byte(at: index + 1) < 0xA0 && self.byte(at: index + 1) != 0x85
            if isForbidden {
                while lineBreak(before: index) {}
                offset = index
                throw invalid("control characters are not allowed", at: position())
            }
            index += 1
        }
    }

    /// Moves to the next line if it begins at or before `end`.
    private mutating func lineBreak(before end: Int) -> Bool {
        while offset < end, !isBreak(current) { offset += 1 }
        guard offset < end else { return false }
        skipBreak()
        return true
    }
}
