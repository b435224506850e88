import Foundation
import OperationsDurable
import Synchronization

extension Row {
    /// The size is the number of keys. Each key has three operations, of which one runs at a time.
    static let keys = Row(
        number: 14, question: "run three operations of each key, one of a key at a time, limit 16", small: [5_000],
        full: [100_000]
    ) { backend, count in
        let queue = DurableQueue("q", in: try await backend.newStore())
        try await queue.setLimitPerKey(1)
        Turn.starts.withLock { $0 = ([0, 0, 0], 0) }
        let turns = (0..<3).flatMap { turn in (0..<count).map { (key: $0, turn: turn) } }
        let memory = residentBytes()
        let adding = try await ContinuousClock().measure {
            for start in stride(from: 0, to: turns.count, by: 256) {
                var graph = DurableGraph()
                for (key, turn) in turns[start..<min(start + 256, turns.count)] {
                    let options = DurableOptions(limitKey: "key \(key)")
                    try graph.add(Turn(keys: count, turn: turn), to: queue, options: options)
                }
                _ = try await queue.store.add(graph)
            }
        }
        let changing = try await ContinuousClock().measure {
            try await queue.setLimitPerKey(2)
            try await queue.setLimitPerKey(1)
        }
        var times: [Duration] = []
        let start = ContinuousClock.now
        _ = try await queue.measureWithWorker(limit: 16) {
            for share in [1, 9, 10] {
                try await queue.waitForSucceeded(turns.count / 10 * share)
                times.append(ContinuousClock.now - start)
            }
            try await queue.waitForSucceeded(turns.count)
        }
        let rate = { (time: Duration) in Double(turns.count / 10) / (time / .seconds(1)) }
        let (first, last) = (rate(times[0]), rate(times[2] - times[1]))
        let early = Turn.starts.withLock { $0.early }
        return [
            Measurement("add", count: count, value: Double(turns.count) / (adding / .seconds(1)), unit: "/s"),
            Measurement("a new limit of all keys", count: count, value: changing / .seconds(2), unit: "s"),
            Measurement("run, first tenth", count: count, value: first, unit: "/s"),
            Measurement(
                "run, last tenth", count: count, value: last, unit: "/s", score: last / first, "of the first",
                bar: .none),
            Measurement(
                "starts before a start that was due earlier", count: count, value: Double(early), unit: "operations"),
            Measurement(
                "growth of memory", count: count, value: Double(residentBytes() - memory) / 1e6, unit: "MB"),
        ]
    }
}

/// Returns the bytes of the process that are in memory; 0 if the system does not say.
private func residentBytes() -> Int {
    let fields = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8))?.split(separator: " ") ?? []
    return fields.count > 1 ? (Int(fields[1]) ?? 0) * 4_096 : 0
}
