import BenchmarkReport

/// The results as a table for a document. A cell has a contender's figure and ratio, and an introduction precedes the table.
struct MarkdownTable {
    private let report: Report

    init(_ report: Report) { self.report = report }

    var text: String {
        let machine = report.machine
        let contenders = report.lines.contenders
        let header =
            ["#", "Question"] + contenders.map { $0 == .operations ? "This package" : $0.rawValue.capitalizedFirst }
            + ["First bar", "Reached", "Moonshot", "Reached"]
        let rows = [header, header.map { _ in "---" }] + report.lines.map { cells(of: $0, contenders) }
        return """
            On \(machine.processor) with \(machine.cores) cores, \(machine.kernel), \(machine.swift), \(machine.date), \
            load before \(machine.load.brief); medians of \(report.scale.repetitions) repetitions in which the \
            contenders take turns. Nanoseconds an operation unless it says otherwise; in parentheses, how many times as \
            long as this package.

            \(rows.map { "| " + $0.joined(separator: " | ") + " |" }.joined(separator: "\n"))

            """
    }

    private func cells(of line: LineResult, _ contenders: [Contender]) -> [String] {
        ["\(line.row)", "\(line.question): \(line.work)"] + contenders.map { line.cell(of: $0) }
            + [line.bars.text, line.bars.reached.emphasised, line.moonshots.text, line.moonshots.reached.emphasised]
    }
}

extension LineResult {
    fileprivate func cell(of contender: Contender) -> String {
        guard let figures = figures.first(where: { $0.contender == contender }) else { return "" }
        guard let median = figures.median else { return figures.withoutMedian }
        let unit =
            switch unit {
            case .nanosecondsPerOperation: ""
            case .bytesPerOperation: " bytes"
            case .milliseconds, .percent: " \(unit.rawValue)"
            }
        return median.brief + unit + (ratio(to: contender).map { " (\($0.brief)×)" } ?? "")
    }
}

extension String? {
    fileprivate var emphasised: String {
        guard let self else { return "" }
        return self.hasPrefix("short") ? "**\(self)**" : self
    }
}

extension String {
    fileprivate var capitalizedFirst: String {
        self == Contender.oneTBB.rawValue ? self : prefix(1).uppercased() + dropFirst()
    }
}
