import BenchmarkReport
import Glibc

/// Measures rows: every repetition runs each contender once, in an order that rotates, so that what disturbs the machine
/// for a while disturbs all alike.
struct Engine {
    let site: Site
    let repetitions: Int
    let contenders: [Contender]

    func measure(_ row: Row) async -> [LineResult] {
        let entries = row.entries.filter { contenders.contains($0.contender) }
        var figures = entries.map { Figures(contender: $0.contender, manner: $0.manner) }
        Self.tell("row \(row.number), \(row.question) …")
        for repetition in 0..<repetitions {
            for position in entries.indices {
                let index = (position + repetition) % entries.count
                // For the threads and connections of the last one to come to rest.
                try? await Task.sleep(for: .milliseconds(100))
                do {
                    let sample = try await entries[index].measure(site)
                    figures[index].samples.append(sample)
                } catch {
                    figures[index].failures.append("\(error)")
                    Self.tell("\(entries[index].contender.rawValue) failed: \(error)")
                }
            }
        }
        return row.measures.map { LineResult(row, $0, entries, figures) }
    }

    /// A line for whoever waits, beside the report.
    static func tell(_ message: String) {
        let line = Array("\(message)\n".utf8)
        _ = write(STDERR_FILENO, line, line.count)
    }
}

/// All that a contender has given in a row.
private struct Figures {
    let contender: Contender
    let manner: String
    var samples: [Sample] = []
    var failures: [String] = []
}

/// What was found out about one measure of a row.
struct LineResult: Codable {
    let row: Int
    let question: String
    let work: String
    let measure: Measure
    let reference: Contender?
    let parts: [Part]

    /// One contender's.
    struct Part: Codable {
        let contender: Contender
        let manner: String
        let samples: [Double]
        let failures: [String]
        let bars: [Verdict]
    }

    struct Verdict: Codable {
        let bar: String
        /// nil: a figure is missing.
        let isReached: Bool?
    }

    fileprivate init(_ row: Row, _ measure: Measure, _ entries: [Entry], _ all: [Figures]) {
        self.row = row.number
        question = row.question
        work = row.work
        self.measure = measure
        reference = row.reference
        let samples = all.map { $0.samples.compactMap { $0[measure] } }
        // Of those that take part in several manners, the first counts.
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
