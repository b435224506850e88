/// A reader of YAML, by recursive descent. It accepts YAML 1.1 as libyaml does.
///
/// A function that reads a part begins at its first character and ends after its last one.
struct YAMLReader {
    let text: UnsafeBufferPointer<UInt8>
    let file: UInt32

    /// The place of the next character.
    var offset = 0
    private(set) var line = 1
    private(set) var lineStart = 0
    // A place in this line whose column is known. A line may have 100,000 nodes, so no column is counted from the start of the line.
    private var counted = (offset: 0, column: 1)

    var anchors: [String: YAMLNode] = [:]
    private var depth = 0

    /// Creates a reader of `text`, which must outlive the reader.
    init(_ text: UnsafeBufferPointer<UInt8>, file: UInt32) {
        self.text = text
        self.file = file
    }

    // MARK: - Characters

    /// The next byte; 0 at the end.
    var current: UInt8 { byte(at: offset) }
    /// The byte after the next one; 0 at the end.
    var following: UInt8 { byte(at: offset + 1) }
    var isAtEnd: Bool { offset >= text.count }
    /// The number of bytes between the start of the line and the next character. Only ASCII is before the start of a node of a block.
    var column: Int { offset - lineStart }

    func byte(at index: Int) -> UInt8 { index < text.count ? text[index] : 0 }
    func isBreak(_ byte: UInt8) -> Bool { byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r") }
    func isBlank(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }
    func isBlankOrEnd(_ byte: UInt8) -> Bool { isBlank(byte) || isBreak(byte) || byte == 0 }

    func isFlowIndicator(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: ","), UInt8(ascii: "["), UInt8(ascii: "]"), UInt8(ascii: "{"), UInt8(ascii: "}"): true
        default: false
        }
    }

    /// Whether the next character is an indicator, which a blank follows.
    func isAtIndicator(_ indicator: Unicode.Scalar) -> Bool {
        current == UInt8(ascii: indicator) && isBlankOrEnd(following)
    }

    /// Whether `---` or `...` is next, at the start of a line.
    var isAtMarker: Bool { isAtMarker(UInt8(ascii: "-")) || isAtMarker(UInt8(ascii: ".")) }

    /// Whether a line begins here with three times `byte`.
    func isAtMarker(_ byte: UInt8) -> Bool {
        offset == lineStart && current == byte && following == byte && self.byte(at: offset + 2) == byte
            && isBlankOrEnd(self.byte(at: offset + 3))
    }

    // MARK: - Blanks and lines

    mutating func skipByteOrderMark() {
        guard text.starts(with: "\u{FEFF}".utf8) else { return }
        offset = 3
        lineStart = offset
        counted = (offset, 1)
    }

    mutating func skipBreak() {
        offset += current == UInt8(ascii: "\r") && following == UInt8(ascii: "\n") ? 2 : 1
        line += 1
        lineStart = offset
        counted = (offset, 1)
    }

    mutating func skipBlanks() {
        while isBlank(current) { offset += 1 }
    }

    /// Skips the rest of the line, without the line break.
    mutating func skipLine() {
        while !isAtEnd, !isBreak(current) { offset += 1 }
    }

    /// Skips blanks, comments and line breaks.
    mutating func skipSeparation() {
        while true {
            skipBlanks()
            if current == UInt8(ascii: "#") { skipLine() }
            guard isBreak(current) else { return }
            skipBreak()
        }
    }

    /// Skips blanks, comments and line breaks to the next part of a block.
    ///
    /// - Returns: Whether it is the first of its line.
    /// - Throws: A `Diagnostic` if a tab indents it.
    mutating func skipToBlockToken() throws(Diagnostic) -> Bool {
        skipSeparation()
        let indentation = text[lineStart..<min(offset, text.count)]
        if indentation.allSatisfy({ $0 == UInt8(ascii: " ") }) { return true }
        if !isAtEnd, indentation.allSatisfy(isBlank) { throw indentedByTab }
        return false
    }

    // MARK: - Places

    struct Mark {
        fileprivate let offset: Int, line: Int, lineStart: Int, counted: (offset: Int, column: Int)
    }

    var mark: Mark { Mark(offset: offset, line: line, lineStart: lineStart, counted: counted) }

    mutating func move(to mark: Mark) {
        (offset, line, lineStart, counted) = (mark.offset, mark.line, mark.lineStart, mark.counted)
    }

    /// The place of the next character.
    mutating func position() -> SourcePosition {
        // A byte whose highest bits are 10 continues a character.
        for byte in text[counted.offset..<min(offset, text.count)] where byte & 0xC0 != 0x80 { counted.column += 1 }
        counted.offset = min(offset, text.count)
        return SourcePosition(line: line, column: counted.column, file: file)
    }

    /// Reads a collection, unless too many enclose it: each takes a part of the stack.
    mutating func nested<Value>(
        at position: SourcePosition, _ body: (inout Self) throws(Diagnostic) -> Value
    ) throws(Diagnostic) -> Value {
        guard depth < 200 else { throw invalid("lists and maps are nested too deeply", at: position) }
        depth += 1
        let value = try body(&self)
        depth -= 1
        return value
    }

    // MARK: - Errors

    func invalid(_ problem: String, at position: SourcePosition, remedy: String? = nil) -> Diagnostic {
        Diagnostic("invalid YAML: \(problem)", at: position, remedy: remedy)
    }

    var indentedByTab: Diagnostic {
        mutating get {
            let position = position()
            return Diagnostic(
                "line \(position.line) is indented by a tab", at: position, remedy: "YAML permits spaces only")
        }
    }

    var textAfterValue: Diagnostic {
        mutating get {
            invalid("found text after the end of a value", at: position(), remedy: Self.wholeValue)
        }
    }

    static var wholeValue: String { "put the whole value in quotes" }
}
