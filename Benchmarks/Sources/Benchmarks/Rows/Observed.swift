import BenchmarkReport
import Operations

extension Row {
    /// The cost of an observed operation.
    static func observed(_ scale: Scale) -> Row {
        let count = scale.pick(full: 200_000, quick: 50_000)
        return Row(
            number: 15, question: "observed",
            lines: [
                Line(
                    work: "\(count.grouped) blocks added one by one, without observers",
                    entries: [.queues(OperationsQueues.self) { oneByOne(OperationsQueues.self, count, width: nil) }]),
                Line(
                    work: "an observer of isFinished for each",
                    entries: [.queues(OperationsQueues.self) { observedOneByOne(count) }],
                    bars: [.times(atMost: 2.5)], moonshots: [.times(atMost: 1.5)]),
            ])
    }
}

/// Runs `oneByOne` with an observation of each operation. The observation begins before the operation is added, and ends after
/// all operations have run.
private func observedOneByOne(_ count: Int) -> Sample {
    let queue = OperationsQueues.queue(width: nil)
    var tokens: [NSKeyValueObservation] = []
    tokens.reserveCapacity(count)
    let figure = Tally.nanoseconds(perOperationOf: count) { tally in
        for _ in 0..<count {
            let operation = OperationsQueues.operation {}
            let block = tally.block
            tokens.append(operation.observe(\.isFinished) { _, _ in block() })
            OperationsQueues.add(operation, to: queue)
        }
        OperationsQueues.waitUntilIdle(queue)
    }
    return Sample(figure: figure, leftovers: tokens)
}
