@testable import Operations
import TestSupport
import Testing

/// Rule N3: operations that execute for longer than a time are reported once.
@Suite(.timeLimit(.minutes(5)), .tags(.threads)) struct LongRunningTests {
    private final class Watched: Sendable {
        let queue = OperationQueue(name: "work")
        let reports = Journal<Explanation>()
        let arrived = Gate()

        init(delay: Duration? = .milliseconds(10)) {
            queue.longRunningHandler = { [reports, arrived] explanation in
                reports.append(explanation)
                arrived.open()
            }
            if let delay { queue.longRunningDelay = delay }
        }
    }

    private func block(_ name: String) -> (block: BlockOperation, begun: Gate, mayEnd: Gate) {
        let (begun, mayEnd) = (Gate(), Gate())
        let block = BlockOperation(name: name) {
            begun.open()
            mayEnd.pass()
        }
        return (block, begun, mayEnd)
    }

    @Test func `an operation that executes for too long is reported once, with its time and dependents`() {
        let watched = Watched()
        let (long, _, mayEnd) = block("long")
        let dependent = BlockOperation {}
        dependent.addDependency(long)
        watched.queue.addOperations([long, dependent], waitUntilFinished: false)
        watched.arrived.pass()
        StallObserver.letTimersPass()
        watched.queue.longRunningDelay = .seconds(1000)
        mayEnd.open()
        watched.queue.waitUntilAllOperationsAreFinished()
        #expect(watched.reports.entries.count == 1)
        let report = watched.reports.entries[0]
        #expect(report.operation == "BlockOperation 'long'" && report.queue == "work" && report.dependentCount == 1)
        // The time is that of the coarse clock.
        #expect(report.executionTime! >= .zero && report.reasons == [.executing])
    }

    @Test(arguments: [false, true]) func `a barrier that executes for too long is reported once`(isSetLater: Bool) {
        let watched = Watched(delay: isSetLater ? nil : .milliseconds(10))
        let (begun, mayEnd) = (Gate(), Gate())
        watched.queue.addBarrierBlock {
            begun.open()
            mayEnd.pass()
        }
        begun.pass()
        if isSetLater { watched.queue.longRunningDelay = .milliseconds(10) }
        watched.arrived.pass()
        watched.queue.longRunningDelay = .seconds(1000)
        mayEnd.open()
        watched.queue.addBarrierBlock {}
        watched.queue.waitUntilAllOperationsAreFinished()
        StallObserver.letTimersPass()
        #expect(watched.reports.entries.map { $0.operation.hasPrefix("BarrierBlock") } == [true])
    }

    @Test func `the largest delay never ends`() {
        let watched = Watched(delay: .seconds(Int64.max))
        let (long, begun, mayEnd) = block("long")
        watched.queue.addOperation(long)
        begun.pass()
        StallObserver.letTimersPass()
        mayEnd.open()
        watched.queue.waitUntilAllOperationsAreFinished()
        #expect(watched.reports.entries.isEmpty)
    }

    @Test func `operations that end in time are not reported, however many, and leave nothing`() {
        let watched = Watched(delay: .seconds(1000))
        for _ in 0..<Stress.rounds(100_000, least: 5000) { watched.queue.addOperation {} }
        watched.queue.waitUntilAllOperationsAreFinished()
        #expect(watched.reports.entries.isEmpty)
        func last() -> Weak {
            let operation = BlockOperation {}
            watched.queue.addOperation(operation)
            watched.queue.waitUntilAllOperationsAreFinished()
            return Weak(operation)
        }
        let weak = last()
        until { weak.isGone }
    }

    @Test func `a delay that is set, shortened or removed applies to operations that execute`() {
        let watched = Watched(delay: nil)
        #expect(watched.queue.longRunningDelay == .zero)
        let (first, begun, mayEnd) = block("first")
        watched.queue.addOperation(first)
        begun.pass()
        watched.queue.longRunningDelay = .seconds(1000)
        #expect(watched.queue.longRunningDelay == .seconds(1000))
        watched.queue.longRunningDelay = .milliseconds(5)
        watched.arrived.pass()
        watched.queue.longRunningDelay = .zero
        StallObserver.letTimersPass()
        mayEnd.open()
        let (second, begunLater, mayEndLater) = block("second")
        watched.queue.addOperation(second)
        begunLater.pass()
        StallObserver.letTimersPass()
        mayEndLater.open()
        watched.queue.waitUntilAllOperationsAreFinished()
        #expect(watched.reports.entries.map(\.operation) == ["BlockOperation 'first'"])
    }

    @Test func `an async operation and one whose start has returned are reported, with the operation that they await`()
        async
    {
        let watched = Watched()
        let other = OperationQueue(name: "other")
        let gate = AsyncGate()
        let awaited = other.addTask(name: "awaited") { await gate.pass() }
        let asynchronous = AsynchronousOperation()
        watched.queue.addOperation(asynchronous)
        watched.queue.addTask(name: "waiting") { _ = try await awaited.value }
        await untilTrue { watched.reports.entries.count == 2 }
        let waiting = watched.reports.entries.first { $0.operation == "TaskOperation 'waiting'" }
        #expect(waiting?.reasons.contains(.awaits("TaskOperation 'awaited'")) == true)
        asynchronous.finish()
        gate.open()
        await watched.queue.waitUntilAllOperationsAreFinished()
    }

    @Test func `an operation that had released its slot when its time was due is reported later`() async {
        var (delay, hasContinued) = (Duration.milliseconds(10), false)
        // On a busy machine the time may be due before the operation releases its slot: again with a longer time then.
        while !hasContinued {
            delay *= 2
            let watched = Watched(delay: delay)
            let gate = AsyncGate()
            let attempts = Attempts(delay * 3, gate)
            watched.queue.addOperation(attempts)
            await untilTrue { watched.reports.entries.count == 1 }
            hasContinued = attempts.hasContinued
            #expect(watched.reports.entries[0].reasons == [.executing])
            gate.open()
            await watched.queue.waitUntilAllOperationsAreFinished()
        }
    }

    private final class Attempts: AsyncOperation, @unchecked Sendable {
        private let time: Duration
        private let gate: AsyncGate
        private let continued = Guarded(false)
        var hasContinued: Bool { continued.withLock { $0 } }

        init(_ time: Duration, _ gate: AsyncGate) { (self.time, self.gate) = (time, gate) }

        override func run() async throws {
            try await releaseSlot(for: time)
            continued.withLock { $0 = true }
            await gate.pass()
        }
    }

    @Test func `watches and deadlines of queues that are gone leave no timers`() async {
        var weakWatches: [Weak] = []
        for _ in 0..<Stress.rounds(1000) {
            let queue = OperationQueue()
            queue.longRunningDelay = .seconds(3600)
            queue.setDeadline(.now + .seconds(3600))
            queue.addOperation {}
            await queue.waitUntilAllOperationsAreFinished()
            weakWatches.append(Weak(queue.hooks.load()!.longRunning.withLock { $0.watch! }))
            weakWatches.append(Weak(queue.hooks.load()!.deadline.withLock { $0! }))
        }
        for watch in weakWatches { await watch.goes() }
    }

    @Test func `without a handler the report goes to the log`() async {
        await #expect(processExitsWith: .success) {
            let texts = Journal<String>()
            let gate = Gate()
            Log.redirect { text in
                texts.append(text)
                gate.open()
            }
            let queue = OperationQueue(name: "work")
            queue.longRunningDelay = .milliseconds(1)
            let mayEnd = Gate()
            queue.addOperation(name: "long") { mayEnd.pass() }
            gate.pass()
            #expect(
                texts.entries[0].hasPrefix(
                    "queue 'work' has a long-running operation: BlockOperation 'long': executes for"))
            mayEnd.open()
            await queue.waitUntilAllOperationsAreFinished()
        }
    }
}
