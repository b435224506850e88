import BenchmarkReport
import Glibc

import struct Foundation.Data
import class Foundation.JSONDecoder
import class Foundation.JSONEncoder

/// The measurement of rows. Each repetition runs each contender of each line once, in a rotating order. A temporary disturbance
/// of the machine therefore affects all contenders alike.
struct Engine {
    let scale: Scale
    let contenders: [Contender]

    /// The pause between two measurements in microseconds, for the threads of the last measurement to come to rest.
    private static let rest: UInt32 = 20_000

    func measure(_ row: Row) -> [LineResult] {
        var results = row.lines.map { LineResult(row: row, line: $0) }
        let slots = row.lines.indices.flatMap { line in
            row.lines[line].entries.indices.map { (line: line, entry: $0) }
        }
        .filter { contenders.contains(row.lines[$0.line].entries[$0.entry].contender) }
        Self.report("row \(row.number), \(row.question) …")
        for repetition in 0..<scale.repetitions {
            for position in slots.indices {
                let (line, index) = slots[(position + repetition) % slots.count]
                let entry = row.lines[line].entries[index]
                guard repetition < entry.repetitions else { continue }
                usleep(Self.rest)
                let outcome =
                    entry.isInChild
                    ? ChildTask(row: row.number, line: line, contender: entry.contender).run(at: scale)
                    : Outcome(figure: entry.measure().figure)
                results[line].add(outcome, of: entry.contender)
            }
        }
        judge(&results, of: row)
        return results
    }

    /// The results of a row whose process has crashed.
    func withoutFigures(_ row: Row) -> [LineResult] {
        var results = row.lines.map { LineResult(row: row, line: $0) }
        judge(&results, of: row)
        return results
    }

    private func judge(_ results: inout [LineResult], of row: Row) {
        for (index, line) in row.lines.enumerated() {
            let previous = row.lines[..<index].lastIndex { !$0.isCold }
            results[index].judge(line, after: previous.map { results[$0].medians })
        }
    }

    /// Measures a row in a process of its own, so that the figures of a row are the same alone and in the table. In one process, a
    /// row would allocate from the blocks that the row before it has freed in a random order.
    ///
    /// - Returns: nil if the process has crashed.
    func measureInChild(_ row: Row) -> [LineResult]? {
        let arguments = ["--results", "--row", "\(row.number)"] + contenders.flatMap { ["--contender", $0.rawValue] }
        guard let child = ChildProcess(arguments, at: scale).run(), !child.hasCrashed else { return nil }
        return LineResult.results(in: child.output)
    }

    /// Prints a line to standard error, beside the report.
    static func report(_ message: String) {
        let line = Array("\(message)\n".utf8)
        _ = write(STDERR_FILENO, line, line.count)
    }
}

/// The outcome of one repetition.
struct Outcome {
    var figure: Double?
    /// Whether the process crashed, before or after it printed a figure.
    var crashed = false
}

/// The results of one line.
struct LineResult: Codable {
    let row: Int
    let question: String
    let work: String
    let unit: Unit
    var figures: [Figures] = []
    var bars: [Verdict] = []
    var moonshots: [Verdict] = []

    struct Figures: Codable {
        let contender: Contender
        var samples: [Double] = []
        var crashes = 0
    }

    struct Verdict: Codable {
        let bar: String
        /// Whether the bar is reached; nil if a figure is missing.
        let isReached: Bool?
    }

    init(row: Row, line: Line) {
        self.row = row.number
        question = row.question
        work = line.work
        unit = line.unit
    }

    static func text(of results: [LineResult]) throws -> String {
        String(decoding: try JSONEncoder().encode(results), as: UTF8.self)
    }

    /// nil: the text has no results.
    static func results(in text: String) -> [LineResult]? {
        try? JSONDecoder().decode([LineResult].self, from: Data(text.utf8))
    }

    var medians: Medians {
        Dictionary(
            uniqueKeysWithValues: figures.compactMap { figures in figures.median.map { (figures.contender, $0) } })
    }

    mutating func add(_ outcome: Outcome, of contender: Contender) {
        let index = figures.firstIndex { $0.contender == contender } ?? figures.endIndex
        if index == figures.endIndex { figures.append(Figures(contender: contender)) }
        if let figure = outcome.figure { figures[index].samples.append(figure) }
        if outcome.crashed { figures[index].crashes += 1 }
    }

    mutating func judge(_ line: Line, after previous: Medians?) {
        let verdict = { [medians] (bar: Bar) in Verdict(bar: bar.text, isReached: bar.isReached(medians, previous)) }
        bars = line.bars.map(verdict)
        moonshots = line.moonshots.map(verdict)
    }
}

extension LineResult.Figures {
    var median: Double? { samples.median }
    var spread: Double? { samples.spread }
}
