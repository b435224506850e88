extension String {
    /// The text as part of a one-line message. Control characters are escaped, so a name cannot forge another message. Of a text of
    /// more than 1,000 bytes, the first 500 scalars remain, because a message can have a hundred names.
    package var onOneLine: String {
        guard utf8.count <= 1000 else { return String(unicodeScalars.prefix(500)).escapedLine + "…" }
        return escapedLine
    }

    /// The text between apostrophes in a one-line message.
    package var inQuotes: String { "'\(onOneLine)'" }

    private var escapedLine: String {
        guard unicodeScalars.contains(where: \.endsLine) else { return self }
        return unicodeScalars.reduce(into: "") { text, scalar in
            if scalar.endsLine { text += scalar.escaped(asASCII: true) } else { text.unicodeScalars.append(scalar) }
        }
    }
}

extension Unicode.Scalar {
    /// Whether a terminal, or a reader of lines, could treat the character as control.
    fileprivate var endsLine: Bool {
        switch value {
        case 0..<0x20, 0x7F..<0xA0, 0x2028, 0x2029: true
        default: false
        }
    }
}
