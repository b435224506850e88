import BenchmarkReport

/// The results as one table, with a column for each contender that took part.
struct Table {
    private var rows: [[String]]

    /// Creates a table, and marks figures with fewer repetitions than this number.
    init(_ lines: [LineResult], repetitions: Int) {
        let contenders = lines.contenders
        rows = [
            ["row", "question", "work", "unit"] + contenders.map(\.rawValue)
                + ["ratios", "first bar", "reached", "moonshot", "reached"]
        ]
        rows += lines.map { line in
            ["\(line.row)", line.question, line.work, line.unit.rawValue]
                + contenders.map { line.cell(of: $0, repetitions: repetitions) }
                + [
                    line.ratios, line.bars.text, line.bars.reached ?? "", line.moonshots.text,
                    line.moonshots.reached ?? "",
                ]
        }
    }

    var text: String { rows.alignedTable }
}

extension [LineResult] {
    /// The contenders that take part in any line.
    var contenders: [Contender] {
        Contender.allCases.filter { contender in contains { $0.figures.contains { $0.contender == contender } } }
    }
}

extension LineResult {
    fileprivate func cell(of contender: Contender, repetitions: Int) -> String {
        guard let figures = figures.first(where: { $0.contender == contender }) else { return "" }
        guard let median = figures.median else { return figures.withoutMedian }
        let spread = figures.spread.map { " ±\(Int(($0 * 100).rounded()))%" } ?? ""
        let few = figures.samples.count < repetitions ? " ×\(figures.samples.count)" : ""
        return median.brief + spread + few + (figures.crashes > 0 ? " †" : "")
    }

    fileprivate var ratios: String {
        Contender.allCases.compactMap { peer in ratio(to: peer).map { "\($0.brief)× \(peer.rawValue)" } }
            .joined(separator: ", ")
    }

    /// Returns the peer's time divided by our time; nil if there is no such ratio.
    func ratio(to peer: Contender) -> Double? {
        peer == .operations || unit == .percent ? nil : medians.ratio(to: peer)
    }
}

extension LineResult.Figures {
    var withoutMedian: String { crashes > 0 ? "crashed" : "no figure" }
}

extension [LineResult.Verdict] {
    var text: String { map(\.bar).joined(separator: ", ") }

    /// Whether the bars are reached, in words; nil if there are none.
    var reached: String? {
        if isEmpty { return nil }
        let short = filter { $0.isReached == false }.map(\.bar)
        if !short.isEmpty { return short.count == count ? "short" : "short of \(short.joined(separator: ", "))" }
        return allSatisfy { $0.isReached == true } ? "yes" : "not measured"
    }
}
