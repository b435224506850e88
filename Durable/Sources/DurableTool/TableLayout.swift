/// The columns of a table, with their widths.
public struct TableLayout: Sendable {
    /// One column.
    public struct Column: Sendable, Hashable {
        public var title: String
        /// Whether the cells end at one column of the terminal, as numbers do.
        public var isRight: Bool
        /// Whether a narrow terminal shortens the column.
        public var isFlexible: Bool

        /// Creates a column.
        public init(_ title: String, isRight: Bool = false, isFlexible: Bool = false) {
            (self.title, self.isRight, self.isFlexible) = (title, isRight, isFlexible)
        }
    }

    /// The largest width to which a table without a terminal fills its cells. Longer cells are complete.
    private static let longestFilled = 40
    private static let (gap, shortest) = ("  ", 6)

    private let columns: [Column]
    private let widths: [Int]
    /// The width of the terminal; nil without a terminal.
    private let limit: Int?

    /// - Parameters:
    ///   - columns: The columns.
    ///   - sample: The first rows, whose cells determine the widths.
    ///   - limit: The width of the terminal; nil for lines of any length.
    public init(_ columns: [Column], sample: some Sequence<[String]>, limit: Int?) {
        let longest = limit ?? Self.longestFilled
        var widths = columns.map { CellText($0.title).width }
        for row in sample {
            for (index, cell) in row.enumerated() where index < widths.count && widths[index] < longest {
                widths[index] = max(widths[index], CellText(cell, limit: longest).width)
            }
        }
        if let limit { Self.shorten(&widths, columns, to: limit - Self.gap.count * (columns.count - 1)) }
        (self.columns, self.widths, self.limit) = (columns, widths, limit)
    }

    /// Takes columns of the terminal from the widest flexible column, until the row fits or no such column is left.
    private static func shorten(_ widths: inout [Int], _ columns: [Column], to limit: Int) {
        while widths.reduce(0, +) > limit {
            let flexible = columns.indices.filter { columns[$0].isFlexible && widths[$0] > shortest }
            guard let widest = flexible.max(by: { widths[$0] < widths[$1] }) else { return }
            widths[widest] -= 1
        }
    }

    /// The line with the titles.
    public var header: String { line(columns.map(\.title)) }

    /// Returns the line of a row. A line is never longer than the terminal.
    public func line(_ row: [String]) -> String {
        var (line, used, spaces) = ("", 0, "")
        for (index, cell) in row.enumerated() where index < columns.count {
            let rest = limit.map { $0 - used - spaces.count } ?? .max
            if rest <= 0 { break }
            let width = min(widths[index], rest)
            let text = CellText(cell, limit: limit == nil ? nil : width)
            if !text.text.isEmpty {
                line += spaces + (columns[index].isRight ? text.padded(to: width, isRight: true) : text.text)
            }
            let filled = text.text.isEmpty ? 0 : max(text.width, columns[index].isRight ? width : 0)
            used += (text.text.isEmpty ? 0 : spaces.count) + filled
            // Spaces before the next cell only, so that no line ends with spaces.
            spaces = String(repeating: " ", count: (text.text.isEmpty ? spaces.count : 0) + max(0, width - filled))
            spaces += Self.gap
        }
        return line
    }

    /// Returns the lines of a table.
    public static func lines(_ columns: [Column], _ rows: [[String]], limit: Int?) -> [String] {
        let layout = TableLayout(columns, sample: rows, limit: limit)
        return [layout.header] + rows.map(layout.line)
    }
}
