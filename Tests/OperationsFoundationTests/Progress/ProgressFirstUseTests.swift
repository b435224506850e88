import Operations
import OperationsFoundation
import TestSupport
import Testing

/// Rules G5 and A7: existing children, and concurrent changes by other threads, at the first observation of a plain progress.
@Suite(.timeLimit(.minutes(5)), .tags(.release)) struct ProgressFirstUseTests {
    @Test func `changes of children from before the first observation are pushed, at any depth`() {
        let (progress, log) = (Progress(totalUnitCount: 1), Journal<Double>())
        var deepest = progress
        for _ in 0..<100 {
            let child = Progress(totalUnitCount: 1)
            deepest.addChild(child, withPendingUnitCount: 1)
            deepest = child
        }
        let token = progress.observe(\.fractionCompleted, options: .new) { log.append($1.newValue!) }
        deepest.completedUnitCount = 1
        #expect(log.entries == [1])
        #expect(progress.completedUnitCount == 1)
        token.invalidate()
    }

    @Test func `the parent of an already observed progress is notified too`() {
        let (above, middle, below) = (
            Progress(totalUnitCount: 1), Progress(totalUnitCount: 1), Progress(totalUnitCount: 2)
        )
        let log = Journal<String>()
        above.addChild(middle, withPendingUnitCount: 1)
        middle.addChild(below, withPendingUnitCount: 1)
        var tokens: [NSKeyValueObservation] = []
        for (name, progress) in [("middle", middle), ("above", above)] {
            tokens.append(
                progress.observe(\.fractionCompleted, options: .new) { log.append("\(name) \($1.newValue!)") })
        }
        below.completedUnitCount = 1
        #expect(log.entries.sorted() == ["above 0.5", "middle 0.5"])
        for token in tokens { token.invalidate() }
    }

    @Test func `a child that is complete beyond its total completes its parent`() {
        // A group adds its queue's progress. It completes its own progress if some operations were cancelled.
        let (above, group, queue) = (Progress(totalUnitCount: 1), Progress(totalUnitCount: 1), OperationQueue())
        let log = Journal<Int64>()
        above.addChild(group, withPendingUnitCount: 1)
        let token = above.observe(\.completedUnitCount, options: .new) { log.append($1.newValue!) }
        queue.progress.totalUnitCount = 3
        group.addChild(queue.progress, withPendingUnitCount: 1)
        queue.addOperations([BlockOperation {}, BlockOperation {}], waitUntilFinished: true)
        #expect(log.entries.isEmpty)
        group.completedUnitCount = 1
        #expect(log.entries == [1] && above.fractionCompleted == 1)
        token.invalidate()
    }

    @Test func `a change during the first observation of a progress is reported`() async {
        let progress = Progress(totalUnitCount: 2)
        var values: AsyncStream<Int64>?
        func set(_ count: inout Int64) {
            // This access calls the setter of the class that the object has now.
            let (stream, continuation) = AsyncStream.makeStream(of: Int64.self)
            let token = progress.observe(\.completedUnitCount, options: .new) { continuation.yield($1.newValue!) }
            continuation.onTermination = { _ in token.invalidate() }
            values = stream
            count = 1
        }
        set(&progress.completedUnitCount)
        var iterator = values!.makeAsyncIterator()
        #expect(await iterator.next() == 1)
    }

    @Test func `a change during the addition to a queue's progress is reported`() async {
        let (above, child) = (OperationQueue().progress, Progress(totalUnitCount: 2))
        above.totalUnitCount = 1
        var values = above.values(for: \.fractionCompleted).makeAsyncIterator()
        #expect(await values.next() == 0)
        func set(_ count: inout Int64) {
            above.addChild(child, withPendingUnitCount: 1)
            count = 1
        }
        set(&child.completedUnitCount)
        #expect(await values.next() == 0.5)
    }

    @Test func `changes of a child of a subclass soon reach an observed plain progress`()
        async
    {
        for observesFirst in [true, false] {
            let (progress, child) = (Progress(totalUnitCount: 1), Special.make())
            child.totalUnitCount = 2
            if !observesFirst { progress.addChild(child, withPendingUnitCount: 1) }
            var values = progress.values(for: \.fractionCompleted).makeAsyncIterator()
            #expect(await values.next() == 0)
            if observesFirst { progress.addChild(child, withPendingUnitCount: 1) }
            child.completedUnitCount = 1
            #expect(await values.next() == 0.5)
        }
    }

    @Test func `an overridden cancel of a child of a cancelled progress may wait for other progresses`() {
        let (progress, other) = (Progress(totalUnitCount: 2), Progress(totalUnitCount: 1))
        let tokens = [progress, other].map { $0.observe(\.fractionCompleted) { _, _ in } }
        let child = Special.make()
        child.atCancel = { TestThread { other.completedUnitCount = 1 }.join() }
        progress.cancel()
        progress.addChild(child, withPendingUnitCount: 1)
        #expect(child.isCancelled && other.isFinished)
        for token in tokens { token.invalidate() }
    }

    @Test func `an overridden cancel of a child may wait for other progresses and add children`() {
        let (progress, other) = (Progress(totalUnitCount: 2), Progress(totalUnitCount: 1))
        let tokens = [progress, other].map { $0.observe(\.fractionCompleted) { _, _ in } }
        let (first, second) = (Special.make(), Special.make())
        progress.addChild(first, withPendingUnitCount: 1)
        first.atCancel = { progress.addChild(second, withPendingUnitCount: 1) }
        second.atCancel = { TestThread { other.completedUnitCount = 1 }.join() }
        progress.cancel()
        #expect(first.isCancelled && second.isCancelled && other.isFinished)
        for token in tokens { token.invalidate() }
    }

    @Test func `a progress with a lookout is released, and the lookout ends`() {
        weak var gone: Progress?
        do {
            let (progress, child) = (Progress(totalUnitCount: 1), Progress(totalUnitCount: 2))
            progress.addChild(child, withPendingUnitCount: 1)
            progress.observe(\.fractionCompleted) { _, _ in }.invalidate()
            gone = progress
        }
        #expect(gone == nil)
    }
}

private final class Special: Progress, @unchecked Sendable {
    var atCancel: (@Sendable () -> Void)?

    static func make() -> Special { Special(parent: nil, userInfo: nil) }

    override func cancel() {
        super.cancel()
        atCancel?()
    }
}
