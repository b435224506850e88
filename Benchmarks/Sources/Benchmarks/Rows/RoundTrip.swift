import BenchmarkReport
import Dispatch

extension Row {
    /// The time from adding an operation to an idle queue until the caller observes its end.
    static func roundTrip(_ scale: Scale) -> Row {
        let count = scale.pick(full: 20_000, quick: 5_000)
        return Row(
            number: 8, question: "round trip",
            lines: [
                Line(
                    work: "\(count.grouped) times: add one, wait for it",
                    entries: [
                        .queues(OperationsQueues.self) { roundTrips(OperationsQueues.self, count) },
                        .queues(FoundationQueues.self) { roundTrips(FoundationQueues.self, count) },
                        Entry(contender: .dispatch) {
                            Sample(figure: DispatchQueues.roundTrips(count, through: .global()))
                        },
                    ],
                    bars: [.takes(atMost: 0.7, of: .foundation)], moonshots: [.takes(atMost: 0.25, of: .foundation)])
            ])
    }
}

private func roundTrips<System: OperationSystem>(_: System.Type, _ count: Int) -> Sample {
    let queue = System.queue(width: nil)
    return Sample(
        figure: Tally.nanoseconds(perOperationOf: count) { tally in
            let block = tally.block
            for _ in 0..<count {
                let operation = System.operation(block)
                System.add(operation, to: queue)
                System.waitUntilFinished(operation)
            }
        })
}
