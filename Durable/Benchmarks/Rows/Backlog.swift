import Foundation
import OperationsDurable

extension Row {
    /// The size is the number of waiting operations. They depend on an operation that starts in a year.
    static let backlog = Row(
        number: 8, question: "run as in row 3 beside waiting operations", small: [100_000], full: [1_000_000]
    ) { backend, count in
        let runs = max(16, count / 20)
        let empty = try await timeToRun(runs, in: DurableQueue("q", in: try await backend.newStore()))
        let queue = DurableQueue("q", in: try await backend.newStore())
        var options = DurableOptions()
        options.delay = .seconds(365 * 86_400)
        let first = try await queue.add(Nothing(), options: options)
        for start in stride(from: 0, to: count, by: 1_000) {
            var graph = DurableGraph()
            for _ in start..<min(start + 1_000, count) { try graph.add(Nothing(), to: queue, after: [first]) }
            _ = try await queue.store.add(graph)
        }
        let full = try await timeToRun(runs, in: queue)
        return [
            Measurement(
                "\(runs) runs", count: count, value: full / .microseconds(1) / Double(runs), unit: "µs",
                score: full / empty, "of an empty table", bar: .atMost(1.3))
        ]
    }
}
