/// The last lines of a terminal, which are drawn again and again. The value returns the bytes to write.
public struct TerminalRegion: Sendable {
    private var drawn: [String] = []

    /// Creates a region that is not drawn.
    public init() {}

    /// Returns the text that draws lines in place of the present ones, with the cursor after the last line.
    ///
    /// - Parameter columns: The number of columns of the terminal now. A terminal that was made narrower may show an old line in
    ///   several rows.
    public mutating func draw(_ lines: [String], columns: Int) -> String {
        guard !lines.isEmpty else { return erase(columns: columns) }
        let start = up(columns: columns)
        drawn = lines
        return start + lines.joined(separator: "\u{1B}[K\n") + "\u{1B}[J"
    }

    /// Returns the text that removes the region.
    public mutating func erase(columns: Int) -> String {
        guard !drawn.isEmpty else { return "" }
        defer { drawn = [] }
        return up(columns: columns) + "\u{1B}[J"
    }

    /// Forgets the region, because another program has written to the terminal. The next drawing starts at the cursor.
    public mutating func forget() { drawn = [] }

    private func up(columns: Int) -> String {
        guard !drawn.isEmpty else { return "" }
        let rows = drawn.reduce(0) { $0 + max(1, ($1.withoutColours.columnCount + columns - 1) / max(columns, 1)) }
        return "\r" + (rows > 1 ? "\u{1B}[\(rows - 1)A" : "")
    }
}

extension String {
    /// The text without the sequences that set colors.
    var withoutColours: String {
        var text = ""
        var isInSequence = false
        for scalar in unicodeScalars {
            if scalar == "\u{1B}" {
                isInSequence = true
            } else if isInSequence {
                if scalar == "m" { isInSequence = false }
            } else {
                text.unicodeScalars.append(scalar)
            }
        }
        return text
    }
}
