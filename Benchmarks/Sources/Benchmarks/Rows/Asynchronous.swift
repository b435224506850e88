import BenchmarkReport
import Dispatch
import Operations

extension Row {
    /// The cost of an async operation that suspends.
    static func asynchronous(_ scale: Scale) -> Row {
        let count = scale.pick(full: 200_000, quick: 50_000)
        let width = OperationQueue.defaultMaxThreadCount
        func operations(inheriting: Bool) -> Entry {
            Entry(contender: .operations) {
                Sample(
                    figure: AsynchronousWork.nanoseconds(count) {
                        runAsOperations(count, inheriting: inheriting, of: $0)
                    })
            }
        }
        let taskGroup = Entry(contender: .taskGroup) {
            Sample(figure: AsynchronousWork.nanoseconds(count) { TaskGroups.run(count, atMost: width, of: $0) })
        }
        return Row(
            number: 16, question: "async",
            lines: [
                Line(
                    work: "\(count.grouped) async operations that suspend once, \(width) at a time",
                    entries: [operations(inheriting: true), taskGroup],
                    bars: [.faster(than: .taskGroup, by: 1)], moonshots: [.faster(than: .taskGroup, by: 3)]),
                Line(
                    work: "in a queue with inheritsTaskContext = false",
                    entries: [operations(inheriting: false), taskGroup]),
            ])
    }
}

/// The default concurrency limit, which the task group also uses.
private func runAsOperations(_ count: Int, inheriting: Bool, of work: @escaping @Sendable () async -> Void) {
    let queue = OperationQueue()
    queue.inheritsTaskContext = inheriting
    for _ in 0..<count { queue.addTask { await work() } }
    queue.waitUntilAllOperationsAreFinished()
}

/// Suspends once and then counts itself.
private enum AsynchronousWork {
    static func nanoseconds(_ count: Int, _ run: (@escaping @Sendable () async -> Void) -> Void) -> Double {
        Tally.nanoseconds(perOperationOf: count) { tally in
            run {
                await Task.yield()
                tally.add()
            }
        }
    }
}
