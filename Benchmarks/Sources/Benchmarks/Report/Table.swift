/// The results as one table, a column for every contender that took part.
struct Table {
    private var rows: [[String]]

    /// Marks figures of fewer than so many repetitions.
    init(_ lines: [LineResult], repetitions: Int) {
        let contenders = Contender.allCases.filter { contender in
            lines.contains { $0.figures.contains { $0.contender == contender } }
        }
        rows = [["row", "question", "work", "unit"] + contenders.map(\.rawValue) + ["ratios", "first bar", "reached"]]
        rows += lines.map { line in
            ["\(line.row)", line.question, line.work, line.unit.rawValue]
                + contenders.map { line.cell(of: $0, repetitions: repetitions) }
                + [line.ratios, line.bars.map(\.bar).joined(separator: ", "), line.reached]
        }
    }

    /// In Markdown, aligned for a terminal.
    var text: String {
        let widths = rows[0].indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
        var lines = rows.map { row in
            "| " + zip(row, widths).map { $0.padded(to: $1) }.joined(separator: " | ") + " |"
        }
        lines.insert("|" + widths.map { String(repeating: "-", count: $0 + 2) }.joined(separator: "|") + "|", at: 1)
        return lines.joined(separator: "\n")
    }
}

extension LineResult {
    fileprivate func cell(of contender: Contender, repetitions: Int) -> String {
        guard let figures = figures.first(where: { $0.contender == contender }) else { return "" }
        guard let median = figures.median else { return figures.crashes > 0 ? "crashed" : "no figure" }
        let spread = figures.spread.map { " ±\(Int(($0 * 100).rounded()))%" } ?? ""
        let few = figures.samples.count < repetitions ? " ×\(figures.samples.count)" : ""
        return median.brief + spread + few + (figures.crashes > 0 ? " †" : "")
    }

    fileprivate var ratios: String {
        if unit == .percent { return "" }
        let medians = medians
        return Contender.allCases.filter { $0 != .operations }
            .compactMap { peer in medians.ratio(to: peer).map { "\($0.brief)× \(peer.rawValue)" } }
            .joined(separator: ", ")
    }

    fileprivate var reached: String {
        if bars.isEmpty { return "" }
        let short = bars.filter { $0.isReached == false }.map(\.bar)
        if !short.isEmpty { return short.count == bars.count ? "short" : "short of \(short.joined(separator: ", "))" }
        return bars.allSatisfy { $0.isReached == true } ? "yes" : "not measured"
    }
}
