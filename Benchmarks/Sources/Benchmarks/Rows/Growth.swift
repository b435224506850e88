import BenchmarkReport
import Dispatch

extension Row {
    /// The cost of an operation among very many operations.
    static func growth(_ scale: Scale) -> Row {
        let small = scale.pick(full: 200_000, quick: 50_000)
        let large = scale.pick(full: 10_000_000, quick: 2_500_000)
        let repetitions = scale.pick(full: 3, quick: 1)
        return Row(
            number: 14, question: "growth",
            lines: [
                Line(
                    work: "\(small.grouped) blocks added one by one, default limit",
                    entries: [
                        .queues(OperationsQueues.self) { oneByOne(OperationsQueues.self, small, width: nil) },
                        Entry(contender: .dispatch) {
                            Sample(figure: DispatchQueues.addOneByOne(small, to: .global()))
                        },
                        Entry(contender: .oneTBB) { Sample(figure: OneTBB.addOneByOne(small)) },
                    ]),
                Line(
                    work: "\(large.grouped) blocks",
                    entries: [
                        .queues(OperationsQueues.self, repetitions: scale.pick(full: 5, quick: 3)) {
                            oneByOne(OperationsQueues.self, large, width: nil)
                        },
                        Entry(contender: .dispatch, repetitions: repetitions) {
                            Sample(figure: DispatchQueues.addOneByOne(large, to: .global()))
                        },
                        Entry(contender: .oneTBB, repetitions: repetitions) {
                            Sample(figure: OneTBB.addOneByOne(large))
                        },
                    ],
                    bars: [.times(atMost: 1.3)], moonshots: [.times(atMost: 1.1)]),
            ])
    }
}
