import BenchmarkReport

/// The results as one Markdown table, with a line for each contender.
struct Table {
    private var rows = [["#", "question", "contender", "median", "±", "times the reference", "bar", "reached"]]

    init(_ report: Report) {
        for line in report.lines {
            let question = "\(line.question): \(line.work): \(line.measure.rawValue)"
            for (index, part) in line.parts.enumerated() {
                rows.append(
                    ["\(line.row)", index == 0 ? question : "", part.name] + line.figures(of: part)
                        + [part.bars.map(\.bar).joined(separator: ", "), part.bars.reached])
            }
        }
    }

    var text: String { rows.alignedTable }
}

extension LineResult {
    /// Returns median, spread, and ratio to the reference.
    fileprivate func figures(of part: Part) -> [String] {
        guard let median = part.samples.median else {
            return [part.failures.isEmpty ? "no figure" : "failed", "", ""]
        }
        let failures = part.failures.isEmpty ? "" : " (\(part.failures.count) failed)"
        let figure = measure.unit.isEmpty ? median.brief : "\(median.brief) \(measure.unit)"
        let spread = part.samples.spread.map { "\(Int(($0 * 100).rounded())) %" } ?? ""
        return [figure + failures, spread, ratio(of: part, median).map { "\($0.brief)×" } ?? ""]
    }

    private func ratio(of part: Part, _ median: Double) -> Double? {
        guard let base = parts.first(where: { $0.contender == reference })?.samples.median, base > 0,
            part.contender != reference
        else { return nil }
        return median / base
    }
}

extension [LineResult.Verdict] {
    /// The verdicts; empty without goals.
    fileprivate var reached: String {
        map { $0.isReached.map { $0 ? "yes" : "**short**" } ?? "not measured" }.joined(separator: ", ")
    }
}
