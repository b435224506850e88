/// Escapes and column counts for text from workflow files and file names that a terminal shows.
extension String {
    /// The text in which escapes such as `\u{1B}` replace control characters and characters that change the direction of
    /// text. Therefore a name cannot imitate a line of the report or its color.
    package var visible: String { visible(keeping: []) }

    /// The escaped text, in which line feeds and tabs are unchanged.
    package var visibleLines: String { visible(keeping: ["\n", "\t"]) }

    private func visible(keeping kept: Set<Unicode.Scalar>) -> String {
        guard unicodeScalars.contains(where: { $0.isUnprintable && !kept.contains($0) }) else { return self }
        return unicodeScalars.reduce(into: "") { text, scalar in
            if scalar.isUnprintable, !kept.contains(scalar) {
                text += scalar.escape
            } else {
                text.unicodeScalars.append(scalar)
            }
        }
    }

    /// The number of terminal columns that the text takes.
    var columnCount: Int { unicodeScalars.reduce(0) { $0 + $1.columnCount } }

    /// Returns the longest prefix of the text that fits into `columns` terminal columns.
    func prefix(columns: Int) -> String {
        var left = columns
        var text = ""
        for scalar in unicodeScalars {
            left -= scalar.columnCount
            if left < 0 { break }
            text.unicodeScalars.append(scalar)
        }
        return text
    }
}

extension Unicode.Scalar {
    fileprivate var isUnprintable: Bool {
        switch value {
        case 0..<0x20, 0x7F..<0xA0, 0x2028...0x2029, 0x200E...0x200F, 0x202A...0x202E, 0x2066...0x2069, 0xFEFF,
            0x10FF80...0x10FFFF:
            true
        default: false
        }
    }

    fileprivate var escape: String {
        switch self {
        case "\n": "\\n"
        case "\t": "\\t"
        case "\r": "\\r"
        default:
            isByte
                ? "\\x\(String(value & 0xFF, radix: 16, uppercase: true))"
                : "\\u{\(String(value, radix: 16, uppercase: true))}"
        }
    }

    /// The number of columns: 0 for combining characters, 2 for wide East Asian characters and for emoji, and 1 for all
    /// others.
    fileprivate var columnCount: Int {
        if value < 0x300 { return 1 }
        switch properties.generalCategory {
        case .nonspacingMark, .enclosingMark, .format: return 0
        default: break
        }
        switch value {
        case 0x1160...0x11FF: return 0
        case 0x1100...0x115F, 0x231A...0x231B, 0x2329...0x232A, 0x23E9...0x23EC, 0x2614...0x2615, 0x26A1,
            0x26BD...0x26BE,
            0x2705, 0x270A...0x270B, 0x2728, 0x274C, 0x2753...0x2755, 0x2757, 0x2795...0x2797, 0x2B1B...0x2B1C, 0x2B50,
            0x2E80...0x303E, 0x3041...0x33FF, 0x3400...0x4DBF, 0x4E00...0x9FFF, 0xA000...0xA4CF, 0xA960...0xA97C,
            0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE10...0xFE19, 0xFE30...0xFE6F, 0xFF01...0xFF60, 0xFFE0...0xFFE6,
            0x1F004, 0x1F0CF, 0x1F18E, 0x1F191...0x1F19A, 0x1F200...0x1F320, 0x1F32D...0x1F5FF, 0x1F600...0x1F64F,
            0x1F680...0x1F6FF, 0x1F7E0...0x1F7EB, 0x1F90C...0x1F9FF, 0x1FA70...0x1FAFF, 0x20000...0x3FFFD:
            return 2
        default: return 1
        }
    }
}
