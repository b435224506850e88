extension String {
    /// Returns the text with trailing spaces.
    public func padded(to width: Int) -> String { self + String(repeating: " ", count: Swift.max(0, width - count)) }

    /// The text in the syntax of XML.
    public var escaped: String {
        // The loop runs over scalars, because `<` may be part of a longer character.
        unicodeScalars.reduce(into: "") { text, scalar in
            switch scalar {
            case "&": text += "&amp;"
            case "<": text += "&lt;"
            case ">": text += "&gt;"
            case "\"": text += "&quot;"
            default: text.unicodeScalars.append(scalar)
            }
        }
    }
}

extension [[String]] {
    /// Returns a table in Markdown, aligned for a terminal. The first row of cells is the header.
    public var alignedTable: String {
        guard let header = first else { return "" }
        let widths = header.indices.map { column in map { $0[column].count }.max() ?? 0 }
        var lines = map { row in "| " + zip(row, widths).map { $0.padded(to: $1) }.joined(separator: " | ") + " |" }
        lines.insert("|" + widths.map { String(repeating: "-", count: $0 + 2) }.joined(separator: "|") + "|", at: 1)
        return lines.joined(separator: "\n")
    }
}
