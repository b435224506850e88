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
    System.add(System.operation {}, to: queue)
    let before = heapInUse
    for _ in 0..<count { System.add(System.operation {}, to: queue) }
    let held = heapInUse - before
    return Sample(figure: Double(held) / Double(count), leftovers: queue)
}

private func pendingTasks(_ count: Int, inheriting: Bool) -> Sample {
    let queue = OperationQueue()
    queue.inheritsTaskContext = inheriting
    queue.isSuspended = true
    queue.addTask {}
    let before = heapInUse
    for _ in 0..<count { queue.addTask {} }
    let held = heapInUse - before
    return Sample(figure: Double(held) / Double(count), leftovers: queue)
}

/// The allocated bytes of the heap, including headers and rounding. The function reads only the main thread's arena, because
/// only the main thread allocates here.
private var heapInUse: Int {
    let info = mallinfo2()
    return Int(info.uordblks + info.hblkhd)
}
