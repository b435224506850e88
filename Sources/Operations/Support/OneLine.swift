extension String {
    /// The text as part of a one-line message. Control characters are escaped, so a name cannot forge another message.
    package var onOneLine: String {
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
