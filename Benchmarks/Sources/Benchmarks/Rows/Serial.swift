import BenchmarkReport
import Dispatch

extension Row {
    /// The cost of an operation in a serial queue.
    static func serial(_ scale: Scale) -> Row {
        let count = scale.pick(full: 200_000, quick: 50_000)
        return Row(
            number: 2, question: "serial",
            lines: [
                Line(
                    work: "\(count.grouped) blocks added one by one, limit 1",
                    entries: [
                        .queues(OperationsQueues.self) { oneByOne(OperationsQueues.self, count, width: 1) },
                        .queues(FoundationQueues.self, isInChild: true, warmUps: 1) {
                            oneByOne(FoundationQueues.self, count, width: 1)
                        },
                        Entry(contender: .dispatch) {
                            Sample(figure: DispatchQueues.addOneByOne(count, to: DispatchQueue(label: "serial")))
                        },
                    ],
                    bars: [.faster(than: .foundation, by: 8), .faster(than: .dispatch, by: 1)],
                    moonshots: [.faster(than: .foundation, by: 20), .faster(than: .dispatch, by: 2)])
            ])
    }
}
