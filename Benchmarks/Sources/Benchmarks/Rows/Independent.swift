import BenchmarkReport
import Dispatch

extension Row {
    /// The cost of an operation without dependencies.
    static func independent(_ scale: Scale) -> Row {
        let count = scale.pick(full: 200_000, quick: 50_000)
        let warm = Line(
            work: "\(count.grouped) blocks added one by one, default limit",
            entries: [
                .queues(OperationsQueues.self) { oneByOne(OperationsQueues.self, count, width: nil) },
                .queues(FoundationQueues.self, isInChild: true, warmUps: 1) {
                    oneByOne(FoundationQueues.self, count, width: nil)
                },
                Entry(contender: .dispatch) {
                    Sample(figure: DispatchQueues.addOneByOne(count, to: .global()))
                },
                Entry(contender: .taskGroup) { Sample(figure: TaskGroups.addOneByOne(count)) },
                Entry(contender: .oneTBB) { Sample(figure: OneTBB.addOneByOne(count)) },
            ],
            bars: [
                .faster(than: .foundation, by: 12), .faster(than: .dispatch, by: 1.5),
                .faster(than: .taskGroup, by: 5),
            ],
            moonshots: [
                .faster(than: .foundation, by: 30), .faster(than: .dispatch, by: 4),
                .faster(than: .taskGroup, by: 12),
            ])
        return Row(number: 1, question: "independent", lines: [warm, warm.cold(operations: count)])
    }
}

/// Adds block operations one by one on the calling thread, and waits until the queue is idle.
func oneByOne<System: OperationSystem>(_: System.Type, _ count: Int, width: Int?) -> Sample {
    let queue = System.queue(width: width)
    return Sample(
        figure: Tally.nanoseconds(perOperationOf: count) { tally in
            let block = tally.block
            for _ in 0..<count { System.add(System.operation(block), to: queue) }
            System.waitUntilIdle(queue)
        })
}
