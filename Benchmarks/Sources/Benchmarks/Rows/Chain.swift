extension Row {
    /// The cost of an operation that depends on the previous operation, in short and long chains.
    static func chain(_ scale: Scale) -> Row {
        let small = Line(
            work: "8,000 operations in a queue, each depends on the previous one",
            entries: [
                .queues(OperationsQueues.self) { linkedInARow(OperationsQueues.self, 8_000) },
                // Each repetition takes many seconds. The release of a longer chain overflows the stack.
                .queues(FoundationQueues.self, repetitions: scale.pick(full: 3, quick: 1), isInChild: true) {
                    linkedInARow(FoundationQueues.self, 8_000)
                },
                Entry(contender: .oneTBB) { flowInARow(8_000) },
            ],
            bars: [.faster(than: .foundation, by: 500)], moonshots: graphMoonshots)
        return Row(
            number: 5, question: "chain",
            lines: [
                small, small.cold(operations: 8_000, without: [.foundation]),
                Line(
                    work: "100,000 operations",
                    entries: [
                        .queues(OperationsQueues.self) { linkedInARow(OperationsQueues.self, 100_000) },
                        Entry(contender: .oneTBB) { flowInARow(100_000) },
                    ],
                    bars: [.linear], moonshots: graphMoonshots),
                Line(
                    work: "1,000,000 operations",
                    entries: [
                        .queues(OperationsQueues.self) { linkedInARow(OperationsQueues.self, 1_000_000) },
                        Entry(contender: .oneTBB) { flowInARow(1_000_000) },
                    ],
                    bars: [.linear], moonshots: graphMoonshots),
            ])
    }
}

/// Makes, links and adds the whole chain while the queue is suspended, then runs it. The time excludes the release.
private func linkedInARow<System: OperationSystem>(_: System.Type, _ count: Int) -> Sample {
    let queue = System.queue(width: nil)
    System.suspend(queue)
    var operations: [System.Operation] = []
    let figure = Tally.nanoseconds(perOperationOf: count) { tally in
        let block = tally.block
        operations.reserveCapacity(count)
        operations.append(System.operation(block))
        for _ in 1..<count {
            let operation = System.operation(block)
            System.make(operation, dependOn: operations[operations.count - 1])
            operations.append(operation)
        }
        for operation in operations { System.add(operation, to: queue) }
        System.resume(queue)
        System.waitUntilIdle(queue)
    }
    return Sample(figure: figure, leftovers: operations)
}

private func flowInARow(_ count: Int) -> Sample {
    OneTBB.graph(count) { flow in
        flow.addNode()
        for number in 1..<count {
            flow.addNode()
            flow.addEdge(from: number - 1, to: number)
        }
    }
}

/// Work with dependencies of a simple shape.
let graphMoonshots: [Bar] = [.atMost(200, .nanosecondsPerOperation), .takes(atMost: 2, of: .oneTBB)]
