extension Row {
    /// The cost of an operation between a root, which all operations depend on, and a sink, which depends on all operations.
    static func fan(_ scale: Scale) -> Row {
        let small = Line(
            work: "root, 8,000 operations that depend on it, sink",
            entries: [
                .queues(OperationsQueues.self) { linkedInAFan(OperationsQueues.self, 8_000) },
                .queues(FoundationQueues.self, repetitions: scale.pick(full: 3, quick: 1), isInChild: true) {
                    linkedInAFan(FoundationQueues.self, 8_000)
                },
                Entry(contender: .oneTBB) { flowInAFan(8_000) },
            ],
            bars: [.faster(than: .foundation, by: 500)], moonshots: graphMoonshots)
        return Row(
            number: 6, question: "fan",
            lines: [
                small, small.cold(operations: 8_002, without: [.foundation]),
                Line(
                    work: "root, 100,000 operations, sink",
                    entries: [
                        .queues(OperationsQueues.self) { linkedInAFan(OperationsQueues.self, 100_000) },
                        Entry(contender: .oneTBB) { flowInAFan(100_000) },
                    ],
                    bars: [.linear], moonshots: graphMoonshots),
            ])
    }
}

/// Makes, links and adds the whole fan while the queue is suspended, then runs it. The time excludes the release.
private func linkedInAFan<System: OperationSystem>(_: System.Type, _ count: Int) -> Sample {
    let queue = System.queue(width: nil)
    System.suspend(queue)
    var operations: [System.Operation] = []
    let figure = Tally.nanoseconds(perOperationOf: count + 2) { tally in
        let block = tally.block
        let root = System.operation(block)
        let sink = System.operation(block)
        operations.reserveCapacity(count + 2)
        operations.append(root)
        for _ in 0..<count {
            let operation = System.operation(block)
            System.make(operation, dependOn: root)
            System.make(sink, dependOn: operation)
            operations.append(operation)
        }
        operations.append(sink)
        for operation in operations { System.add(operation, to: queue) }
        System.resume(queue)
        System.waitUntilIdle(queue)
    }
    return Sample(figure: figure, leftovers: operations)
}

private func flowInAFan(_ count: Int) -> Sample {
    OneTBB.graph(count + 2) { flow in
        let (root, sink) = (0, 1)
        flow.addNode()
        flow.addNode()
        for number in 2..<(count + 2) {
            flow.addNode()
            flow.addEdge(from: root, to: number)
            flow.addEdge(from: number, to: sink)
        }
    }
}
