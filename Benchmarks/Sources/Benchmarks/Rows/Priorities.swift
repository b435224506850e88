import BenchmarkReport

extension Row {
    /// What an operation costs among a million that could all start, of one priority and of five.
    static func priorities(_ scale: Scale) -> Row {
        let count = scale.pick(full: 1_000_000, quick: 200_000)
        let foundationRepetitions = scale.pick(full: 3, quick: 1)
        return Row(
            number: 9, question: "priorities",
            lines: [
                Line(
                    work: "\(count.grouped) ready operations, width 2, all of normal priority",
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

/// Makes and adds all operations, the priorities in turn, before any of them may start, then lets them run.
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
