import OperationsDurable

extension Row {
    /// The size is the number of operations of ten steps.
    static let steps = Row(
        number: 9, question: "operations of 10 steps, limit 64", small: [1, 1_000], full: [1, 1_000]
    ) { backend, count in
        let store = try await backend.newStore()
        let queue = DurableQueue("q", in: store)
        var graph = DurableGraph()
        for _ in 0..<count { try graph.add(Stepped(steps: 10), to: queue) }
        _ = try await store.add(graph)
        let commits = try await backend.countCommits(of: store)
        let time = try await queue.measureWithWorker(limit: 64) { try await queue.waitForSucceeded(count) }
        let steps = Double(count * 10)
        return [
            Measurement(
                "", count: count, value: time / .microseconds(1) / steps, unit: "µs a step",
                commits: commits(), of: count * 10, "commits a step")
        ]
    }
}
