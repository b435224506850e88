extension Row {
    /// The cost of an operation in a random graph, with four edges per operation on average.
    static func randomGraph(_ scale: Scale) -> Row {
        let large = Graph.random(operations: 100_000, edges: 400_000)
        let small = Graph.random(operations: 2_000, edges: 8_000)
        return Row(
            number: 7, question: "random graph",
            lines: [
                Line(
                    work: "100,000 operations of five priorities, 400,000 edges",
                    entries: [
                        .queues(OperationsQueues.self) { linked(OperationsQueues.self, as: large()) },
                        Entry(contender: .oneTBB) { flow(as: large()) },
                    ],
                    bars: [.atMost(1_500, .nanosecondsPerOperation)], moonshots: [.takes(atMost: 2, of: .oneTBB)]),
                Line(
                    work: "2,000 operations, 8,000 edges",
                    entries: [
                        .queues(OperationsQueues.self) { linked(OperationsQueues.self, as: small()) },
                        .queues(FoundationQueues.self, repetitions: scale.pick(full: 3, quick: 1), isInChild: true) {
                            linked(FoundationQueues.self, as: small())
                        },
                        Entry(contender: .oneTBB) { flow(as: small()) },
                    ]),
            ])
    }
}

/// Makes, links and adds the whole graph while the queue is suspended, then runs it. The time excludes the release.
private func linked<System: OperationSystem>(_: System.Type, as graph: Graph) -> Sample {
    let queue = System.queue(width: nil)
    System.suspend(queue)
    var operations: [System.Operation] = []
    let figure = Tally.nanoseconds(perOperationOf: graph.priorities.count) { tally in
        let block = tally.block
        operations = graph.priorities.map { priority in
            let operation = System.operation(block)
            System.setPriority(priority, of: operation)
            return operation
        }
        for edge in graph.edges { System.make(operations[edge.to], dependOn: operations[edge.from]) }
        for operation in operations { System.add(operation, to: queue) }
        System.resume(queue)
        System.waitUntilIdle(queue)
    }
    return Sample(figure: figure, leftovers: operations)
}

private func flow(as graph: Graph) -> Sample {
    OneTBB.graph(graph.priorities.count) { flow in
        for priority in graph.priorities { flow.addNode(priority) }
        for edge in graph.edges { flow.addEdge(from: edge.from, to: edge.to) }
    }
}
