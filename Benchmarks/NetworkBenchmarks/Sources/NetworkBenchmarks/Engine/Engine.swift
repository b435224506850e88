import BenchmarkReport
import Glibc

/// The measurement of rows. Every repetition runs each contender once, in a rotating order, so that a temporary disturbance
/// affects all contenders.
struct Engine {
    let site: Site
    let repetitions: Int
    let contenders: [Contender]

    func measure(_ row: Row) async -> [LineResult] {
        let entries = row.entries.filter { contenders.contains($0.contender) }
        var figures = entries.map { Figures(contender: $0.contender, manner: $0.manner) }
        Self.report("row \(row.number), \(row.question) …")
        for repetition in 0..<repetitions {
            for position in entries.indices {
                let index = (position + repetition) % entries.count
                // The threads and connections of the previous contender need time to become idle.
                try? await Task.sleep(for: .milliseconds(100))
                do {
                    let sample = try await entries[index].measure(site)
                    figures[index].samples.append(sample)
                } catch {
                    figures[index].failures.append("\(error)")
                    Self.report("\(entries[index].contender.rawValue) failed: \(error)")
                }
            }
        }
        return row.measures.map { LineResult(row, $0, entries, figures) }
    }

    /// Prints a progress line outside of the report.
    static func report(_ message: String) {
        let line = Array("\(message)\n".utf8)
        _ = write(STDERR_FILENO, line, line.count)
    }
}

/// All measurements of a contender in a row.
private struct Figures {
    let contender: Contender
    let manner: String
    var samples: [Sample] = []
    var failures: [String] = []
}

/// The results of one measure of a row.
struct LineResult: Codable {
    let row: Int
    let question: String
    let work: String
    let measure: Measure
    let reference: Contender?
    let parts: [Part]

    /// The results of one contender.
    struct Part: Codable {
        let contender: Contender
        let manner: String
        let samples: [Double]
        let failures: [String]
        let bars: [Verdict]
    }

    struct Verdict: Codable {
        let bar: String
        /// Whether the goal is reached; nil if a figure is missing.
        let isReached: Bool?
    }

    fileprivate init(_ row: Row, _ measure: Measure, _ entries: [Entry], _ all: [Figures]) {
        self.row = row.number
        question = row.question
        work = row.work
        self.measure = measure
        reference = row.reference
        let samples = all.map { $0.samples.compactMap { $0[measure] } }
        // The first entry of a contender with several entries is the reference.
        let medians = Dictionary(
            zip(entries.map(\.contender), samples).compactMap { contender, samples in
                samples.median.map { (contender, $0) }
            }, uniquingKeysWith: { first, _ in first })
        parts = zip(zip(entries, all), samples).map { both, samples in
            let (entry, figures) = both
            let bars = entry.bars.filter { $0.measure == measure }.map { bar in
                Verdict(bar: bar.text, isReached: samples.median.flatMap { bar.isReached($0, medians) })
            }
            return Part(
                contender: entry.contender, manner: entry.manner, samples: samples, failures: figures.failures,
                bars: bars)
        }
    }
}

extension LineResult.Part {
    var name: String { contender.rawValue + (manner.isEmpty ? "" : ", \(manner)") }
}
