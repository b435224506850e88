import OperationsDurable

extension Row {
    static let chain = Row(number: 5, question: "chain: a hop", small: [1_000], full: [1_000]) { backend, count in
        let store = try await backend.newStore()
        let queue = DurableQueue("q", in: store)
        var graph = DurableGraph()
        let members = try (0..<count).map { _ in try graph.add(Nothing(), to: queue) }
        for index in 1..<count { graph.addDependency(of: members[index], on: members[index - 1]) }
        let last = try await store.add(graph).handle(of: members[count - 1])
        let commits = try await backend.countCommits(of: store)
        let time = try await queue.measureWithWorker(limit: 16) { _ = try await last.outcome }
        return [
            Measurement(
                "", count: count, value: time / .microseconds(1) / Double(count), unit: "µs",
                commits: commits(), of: count, "commits")
        ]
    }

    static let graph = Row(
        number: 6, question: "graph with 4 edges an operation, limit 256", small: [10_000, 40_000],
        full: [10_000, 100_000]
    ) { backend, count in
        let store = try await backend.newStore()
        let queue = DurableQueue("q", in: store)
        var graph = DurableGraph()
        let members = try (0..<count).map { _ in try graph.add(Nothing(), to: queue) }
        // Any earlier operation may be a dependency, so that the graph has few levels.
        var random = LinearCongruentialGenerator(state: 1)
        for index in 4..<count {
            for _ in 0..<4 {
                graph.addDependency(of: members[index], on: members[Int.random(in: 0..<index, using: &random)])
            }
        }
        let added = try await ContinuousClock().measure { [graph] in _ = try await store.add(graph) }
        let commits = try await backend.countCommits(of: store)
        let run = try await queue.measureWithWorker(limit: 256) { try await queue.waitForSucceeded(count) }
        let perOperation = { (time: Duration) in time / .microseconds(1) / Double(count) }
        let measurements = [
            Measurement("add", count: count, value: perOperation(added), unit: "µs"),
            Measurement("run", count: count, value: perOperation(run), unit: "µs"),
            Measurement("add and run", count: count, value: perOperation(added + run), unit: "µs", bar: .atMost(100)),
        ]
        guard let commits = commits() else { return measurements }
        let each = Double(count) / Double(max(1, commits))
        return measurements + [Measurement("run", count: count, value: each, unit: "operations a commit")]
    }
}

/// A generator whose numbers are equal in each run.
private struct LinearCongruentialGenerator: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return state ^ (state >> 33)
    }
}
