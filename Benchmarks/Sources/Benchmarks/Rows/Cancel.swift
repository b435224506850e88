import BenchmarkReport

extension Row {
    /// The cost of cancelling a waiting operation.
    static func cancel(_ scale: Scale) -> Row {
        let count = scale.pick(full: 1_000_000, quick: 200_000)
        return Row(
            number: 10, question: "cancel",
            lines: [
                Line(
                    work: "\(count.grouped) waiting operations: cancelAllOperations, resume, wait",
                    entries: [
                        .queues(OperationsQueues.self) { cancelled(OperationsQueues.self, count) },
                        .queues(FoundationQueues.self, repetitions: scale.pick(full: 3, quick: 1), isInChild: true) {
                            cancelled(FoundationQueues.self, count)
                        },
                    ],
                    bars: [.atMost(1_000, .nanosecondsPerOperation)],
                    moonshots: [.atMost(300, .nanosecondsPerOperation)])
            ])
    }
}

/// Measures the time of cancelling and draining, without the time of adding.
private func cancelled<System: OperationSystem>(_: System.Type, _ count: Int) -> Sample {
    let queue = System.queue(width: nil)
    System.suspend(queue)
    let tally = Tally()
    let block = tally.block
    for _ in 0..<count { System.add(System.operation(block), to: queue) }
    let time = ContinuousClock().measure {
        System.cancelAll(queue)
        System.resume(queue)
        System.waitUntilIdle(queue)
    }
    tally.check(0)
    return Sample(figure: time / .nanoseconds(1) / Double(count))
}
