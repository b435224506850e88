#if canImport(Glibc)
import KeyValueObserving
import Operations
import OperationsTimeline
import TestSupport
import Testing

// Observers, streams, traces and the log.
extension LimitsStress {
    @Test func `observers that are added and removed leave nothing`() async {
        await #expect(processExitsWith: .success) {
            let (queue, lasting) = (OperationQueue(), BlockOperation {})
            let observer = Silent()
            await Limits.expectNothingLeft(Limits.count()) { count in
                for number in 0..<count {
                    let token = lasting.observe(\.queuePriority, options: [.old, .new]) { _, _ in }
                    lasting.addObserver(observer, forKeyPath: "isFinished", context: nil)
                    lasting.queuePriority = number % 2 == 0 ? .high : .low
                    lasting.removeObserver(observer, forKeyPath: "isFinished")
                    token.invalidate()
                    // An observer that is gone without being removed.
                    queue.addObserver(Silent(), forKeyPath: "isSuspended", context: nil)
                }
            }
        }
    }

    @Test func `very many observers of one object are notified once each, and leave nothing`() async {
        await #expect(processExitsWith: .success) {
            await Limits.expectNothingLeft(Limits.count(debug: 20_000)) { count in
                let (operation, notified) = (BlockOperation {}, Journal<Int>())
                for order in [0, 1] {
                    var tokens = (0..<count).map { number in
                        operation.observe(\.queuePriority) { _, _ in notified.append(number) }
                    }
                    operation.queuePriority = order == 0 ? .high : .low
                    #expect(notified.entries.count == (order + 1) * count)
                    // The first first, and the last first.
                    if order == 1 { tokens.reverse() }
                    for token in tokens { token.invalidate() }
                }
                operation.queuePriority = .normal
                #expect(notified.entries.count == 2 * count)
            }
        }
    }

    @Test func `observers of operations and operationCount are notified of each operation`() async {
        await #expect(processExitsWith: .success) {
            let queue = OperationQueue()
            await Limits.expectNothingLeft(Limits.count(debug: 30_000, least: 2_000)) { count in
                let observer = Counting(4 * count)
                queue.addObserver(observer, forKeyPath: "operations", context: nil)
                queue.addObserver(observer, forKeyPath: "operationCount", options: .new, context: nil)
                // One thread notifies of all of them.
                await queue.addOperations((0..<count).map { _ in BlockOperation {} }, waitUntilFinished: false)
                await queue.waitUntilAllOperationsAreFinished()
                observer.isComplete.pass()
                for name in ["operations", "operationCount"] { queue.removeObserver(observer, forKeyPath: name) }
            }
        }
    }

    @Test func `streams of events and of values that are opened and dropped leave nothing`() async {
        await #expect(processExitsWith: .success) {
            let queue = OperationQueue()
            await Limits.expectNothingLeft(Limits.count(debug: 30_000)) { count in
                for number in 0..<count {
                    var events = queue.events.makeAsyncIterator()
                    var widths = queue.values(for: \.maxConcurrentOperationCount).makeAsyncIterator()
                    let width = await widths.next()
                    #expect(width != nil)
                    guard number % 100 == 0 else { continue }
                    queue.addOperation {}
                    let event = await events.next()
                    #expect(event != nil)
                    await queue.waitUntilAllOperationsAreFinished()
                }
            }
        }
    }

    @Test func `very many streams that are open at once are notified once each, and leave nothing`() async {
        await #expect(processExitsWith: .success) {
            let queue = OperationQueue()
            await Limits.expectNothingLeft(Limits.count(debug: 20_000, least: 2_000)) { count in
                var streams = (0..<count).map { _ in queue.events.makeAsyncIterator() }
                queue.addOperation {}
                await queue.waitUntilAllOperationsAreFinished()
                for place in [0, count / 2, count - 1] {
                    let event = await streams[place].next()
                    #expect(event != nil)
                }
                // One half the last first, and the other half the first first.
                while streams.count > count / 2 { streams.removeLast() }
                streams.reverse()
                while streams.popLast() != nil {}
            }
        }
    }

    @Test func `traces keep no more operations than their limit, and nothing when they are gone`() async {
        await #expect(processExitsWith: .success) {
            let queue = OperationQueue()
            await Limits.expectNothingLeft(Limits.count(debug: 30_000, least: 2_000)) { count in
                let (bounded, whole) = (OperationTimeline(limit: 100), OperationTimeline(limit: count))
                for trace in [bounded, whole] { trace.record(queue) }
                for number in 0..<count { await queue.add(BlockOperation {}, number: number) }
                await queue.waitUntilAllOperationsAreFinished()
                #expect(bounded.spans.count == 100 && bounded.droppedSpanCount == count - 100)
                #expect(whole.spans.count == count)
            }
        }
    }

    @Test func `the report of a queue with very many operations is a few lines, and the log keeps nothing`() async {
        await #expect(processExitsWith: .success) {
            let queue = OperationQueue()
            await Limits.expectNothingLeft(Limits.count(debug: 20_000, least: 2_000)) { count in
                queue.isSuspended = true
                for _ in 0..<count { queue.addOperation {} }
                let report = queue.stallReport()
                #expect(report?.blocked.count == count)
                #expect(report.map { $0.description.split(separator: "\n").count < 100 } == true)
                queue.isSuspended = false
                await queue.waitUntilAllOperationsAreFinished()
            }
        }
    }
}

private final class Silent: KeyValueObserver, Sendable {
    func observeValue(
        forKeyPath keyPath: String?, of object: Any?, change: [NSKeyValueChangeKey: Any]?,
        context: UnsafeMutableRawPointer?
    ) {}
}

private final class Counting: KeyValueObserver, Sendable {
    let isComplete: Gate

    init(_ changes: Int) { isComplete = Gate(changes) }

    func observeValue(
        forKeyPath keyPath: String?, of object: Any?, change: [NSKeyValueChangeKey: Any]?,
        context: UnsafeMutableRawPointer?
    ) { isComplete.open() }
}
#endif
