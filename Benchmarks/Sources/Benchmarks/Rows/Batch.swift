import BenchmarkReport

extension Row {
    /// The cost of an operation that is added together with many others.
    static func batch(_ scale: Scale) -> Row {
        let count = scale.pick(full: 200_000, quick: 50_000)
        let warm = Line(
            work: "\(count.grouped) blocks added by addOperations, default limit",
            entries: [
                .queues(OperationsQueues.self) { allAtOnce(OperationsQueues.self, count) },
                .queues(FoundationQueues.self, isInChild: true, warmUps: 1) {
                    allAtOnce(FoundationQueues.self, count)
                },
                Entry(contender: .oneTBB) { Sample(figure: OneTBB.addOneByOne(count)) },
            ],
            bars: [.faster(than: .foundation, by: 12)], moonshots: [.faster(than: .foundation, by: 40)])
        return Row(number: 3, question: "batch", lines: [warm, warm.cold(operations: count)])
    }
}

private func allAtOnce<System: OperationSystem>(_: System.Type, _ count: Int) -> Sample {
    let queue = System.queue(width: nil)
    var operations: [System.Operation] = []
    let figure = Tally.nanoseconds(perOperationOf: count) { tally in
        let block = tally.block
        operations = (0..<count).map { _ in System.operation(block) }
        System.add(operations, to: queue)
        System.waitUntilIdle(queue)
    }
    return Sample(figure: figure, leftovers: operations)
}
