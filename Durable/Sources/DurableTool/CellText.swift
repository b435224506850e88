/// A text that is safe on a terminal and has a known width: one line, without control characters and marks of direction.
public struct CellText: Sendable, Hashable {
    /// The text, in which `\u{1B}` stands for an invisible character.
    public let text: String
    /// The number of columns of a terminal.
    public let width: Int

    /// The largest number of marks above one character. More marks reach into other lines.
    private static let markLimit = 3

    /// - Parameters:
    ///   - raw: Any text.
    ///   - limit: The largest number of columns; nil for all. The time does not depend on the rest of a longer text.
    public init(_ raw: String, limit: Int? = nil) {
        let limit = limit.map { max(1, $0) } ?? .max
        var (text, width, marks) = ("", 0, 0)
        // The place before the last column, where an ellipsis fits.
        var cut = (text: "", width: 0)
        for scalar in raw.unicodeScalars {
            marks = Self.isMark(scalar) ? marks + 1 : 0
            let isJoined = (1...Self.markLimit).contains(marks) && !text.isEmpty
            let (piece, size) = isJoined ? (String(scalar), 0) : Self.visible(scalar)
            if width + size > limit {
                (self.text, self.width) = (cut.text + "…", cut.width + 1)
                return
            }
            text += piece
            width += size
            if limit != .max, width < limit { cut = (text, width) }
        }
        (self.text, self.width) = (text, width)
    }

    /// Returns the text with spaces up to the width.
    public func padded(to columns: Int, isRight: Bool = false) -> String {
        let spaces = String(repeating: " ", count: max(0, columns - width))
        return isRight ? spaces + text : text + spaces
    }

    private static func isMark(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .enclosingMark: true
        default: false
        }
    }

    /// Returns whether a terminal shows the character as it is.
    public static func isVisible(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .surrogate, .privateUse, .unassigned, .lineSeparator, .paragraphSeparator: false
        default: true
        }
    }

    private static func visible(_ scalar: Unicode.Scalar) -> (String, Int) {
        if scalar.value >= 0x20, scalar.value < 0x7F { return (String(scalar), 1) }
        if isVisible(scalar), !isMark(scalar) { return (String(scalar), isWide(scalar) ? 2 : 1) }
        let escape =
            switch scalar {
            case "\n": "\\n"
            case "\t": "\\t"
            case "\r": "\\r"
            default: "\\u{\(String(scalar.value, radix: 16, uppercase: true))}"
            }
        return (escape, escape.utf8.count)
    }

    /// Whether the character has two columns, by the blocks of East Asian scripts and of emoji.
    private static func isWide(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x1100...0x115F, 0x2E80...0x303E, 0x3041...0xA4CF, 0xA960...0xA97F, 0xAC00...0xD7A3, 0xF900...0xFAFF,
            0xFE30...0xFE6F, 0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x1F300...0x1F64F, 0x1F680...0x1F6FF, 0x1F900...0x1F9FF,
            0x1FA70...0x1FAFF, 0x20000...0x3FFFD:
            true
        default: scalar.properties.isEmojiPresentation
        }
    }
}
