import BenchmarkReport
import Dispatch

extension Row {
    /// The cost of an operation when several threads add to one queue.
    static func adders(_ scale: Scale) -> Row {
        let threads = 4
        let count = scale.pick(full: 200_000, quick: 50_000) / threads
        return Row(
            number: 4, question: "many adders",
            lines: [
                Line(
                    work: "\(threads) threads add \(count.grouped) blocks each to one queue",
                    entries: [
                        .queues(OperationsQueues.self) { fromThreads(OperationsQueues.self, threads, count) },
                        .queues(FoundationQueues.self, isInChild: true, warmUps: 1) {
                            fromThreads(FoundationQueues.self, threads, count)
                        },
                        Entry(contender: .dispatch) {
                            Sample(figure: DispatchQueues.addFromThreads(threads, each: count, to: .global()))
                        },
                    ],
                    bars: [.faster(than: .foundation, by: 8), .faster(than: .dispatch, by: 1)],
                    moonshots: [.faster(than: .foundation, by: 20), .faster(than: .dispatch, by: 2)])
            ])
    }
}

private func fromThreads<System: OperationSystem>(_: System.Type, _ threads: Int, _ count: Int) -> Sample {
    let queue = System.queue(width: nil)
    return Sample(
        figure: Tally.nanoseconds(perOperationOf: threads * count) { tally in
            let block = tally.block
            onThreads(threads) {
                for _ in 0..<count { System.add(System.operation(block), to: queue) }
            }
            System.waitUntilIdle(queue)
        })
}
