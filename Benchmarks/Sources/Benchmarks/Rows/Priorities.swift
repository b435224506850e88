import BenchmarkReport

extension Row {
    /// The cost of an operation among a million ready operations, with one priority and with five priorities.
    static func priorities(_ scale: Scale) -> Row {
        let count = scale.pick(full: 1_000_000, quick: 200_000)
        let foundationRepetitions = scale.pick(full: 3, quick: 1)
        return Row(
            number: 9, question: "priorities",
            lines: [
                Line(
                    work: "\(count.grouped) ready operations, limit 2, all of normal priority",
                    entries: [
                        .queues(OperationsQueues.self) { ready(OperationsQueues.self, count, [.normal]) },
                        .queues(FoundationQueues.self, repetitions: foundationRepetitions, isInChild: true) {
                            ready(FoundationQueues.self, count, [.normal])
                        },
                    ]),
                Line(
                    work: "of five priorities, in turn",
                    entries: [
                        .queues(OperationsQueues.self) { ready(OperationsQueues.self, count, Priority.allCases) },
                        .queues(FoundationQueues.self, repetitions: foundationRepetitions, isInChild: true) {
                            ready(FoundationQueues.self, count, Priority.allCases)
                        },
                    ],
                    bars: [.times(atMost: 1.3)], moonshots: [.times(atMost: 1.05)]),
            ])
    }
}

/// Makes and adds all operations with alternating priorities while the queue is suspended, then runs them.
private func ready<System: OperationSystem>(_: System.Type, _ count: Int, _ priorities: [Priority]) -> Sample {
    let queue = System.queue(width: 2)
    System.suspend(queue)
    return Sample(
        figure: Tally.nanoseconds(perOperationOf: count) { tally in
            let block = tally.block
            for number in 0..<count {
                let operation = System.operation(block)
                System.setPriority(priorities[number % priorities.count], of: operation)
                System.add(operation, to: queue)
            }
            System.resume(queue)
            System.waitUntilIdle(queue)
        })
}
