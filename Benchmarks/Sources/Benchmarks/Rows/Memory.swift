import BenchmarkReport
import CHeap
import Operations

extension Row {
    /// The memory of a block operation that waits in a queue.
    static func memory(_ scale: Scale) -> Row {
        let count = scale.pick(full: 200_000, quick: 50_000)
        return Row(
            number: 13, question: "memory",
            lines: [
                Line(
                    work: "\(count.grouped) pending block operations, suspended queue", unit: .bytesPerOperation,
                    entries: [
                        .queues(OperationsQueues.self, isInChild: true) { pending(OperationsQueues.self, count) },
                        .queues(FoundationQueues.self, isInChild: true) { pending(FoundationQueues.self, count) },
                    ],
                    bars: [.atMost(350, .bytesPerOperation)], moonshots: [.atMost(200, .bytesPerOperation)]),
                Line(
                    work: "async operations", unit: .bytesPerOperation,
                    entries: [Entry(contender: .operations, isInChild: true) { pendingTasks(count, inheriting: true) }]),
                Line(
                    work: "async operations, inheritsTaskContext = false", unit: .bytesPerOperation,
                    entries: [Entry(contender: .operations, isInChild: true) { pendingTasks(count, inheriting: false) }]
                ),
            ])
    }
}

private func pending<System: OperationSystem>(_: System.Type, _ count: Int) -> Sample {
    let queue = System.queue(width: nil)
    System.suspend(queue)
    return Sample(figure: bytes(forEachOf: count) { System.add(System.operation {}, to: queue) }, leftovers: queue)
}

private func pendingTasks(_ count: Int, inheriting: Bool) -> Sample {
    let queue = OperationQueue()
    queue.inheritsTaskContext = inheriting
    queue.isSuspended = true
    return Sample(figure: bytes(forEachOf: count) { queue.addTask {} }, leftovers: queue)
}

/// Returns the bytes of one addition. The first addition is not counted, because it also allocates parts of the queue.
private func bytes(forEachOf count: Int, _ add: () -> Void) -> Double {
    add()
    let before = heapInUse
    for _ in 0..<count { add() }
    return Double(heapInUse - before) / Double(count)
}

/// The allocated bytes of the heap, including headers and rounding. The function reads only the main thread's arena, because
/// only the main thread allocates here.
private var heapInUse: Int {
    let info = mallinfo2()
    return Int(info.uordblks + info.hblkhd)
}
