import Dispatch
@testable import Operations
import OperationsTesting
import Synchronization
import TestSupport
import Testing

/// Rule N3: since when an operation executes, and how many operations wait for it.
@Suite(.timeLimit(.minutes(5)), .tags(.threads)) struct ExplanationTests {
    private func explain(_ operation: Operations.Operation) -> Explanation { OperationQueue().explain(operation) }

    /// Returns when the explanation says that the operation executes since at least this long.
    private func awaitTime(_ operation: Operations.Operation, _ time: Duration = .milliseconds(20)) {
        until { (explain(operation).executionTime ?? .zero) > time }
    }

    @Test(arguments: ["pool", "serial", "dispatch", "own level"])
    func `the time of a block that executes grows, on any thread`(_ kind: String) {
        let queue = OperationQueue(name: "work", maxConcurrentOperationCount: kind == "serial" ? 1 : 4)
        if kind == "dispatch" { queue.underlyingQueue = DispatchQueue(label: "underlying") }
        let (begun, gate) = (Gate(), Gate())
        let block = BlockOperation(name: "long") {
            begun.open()
            gate.pass()
        }
        if kind == "own level" { block.qualityOfService = .utility }
        let before = MonotonicClock.now
        queue.addOperation(block)
        begun.pass()
        awaitTime(block)
        let explanation = explain(block)
        // The coarse clock is up to 10 ms late.
        #expect(explanation.executionTime! <= .nanoseconds(MonotonicClock.now - before) + .milliseconds(10))
        #expect(explanation.queue == "work" && explanation.reasons == [.executing])
        #expect(explanation.description.hasPrefix("BlockOperation 'long': executes for "))
        gate.open()
        block.waitUntilFinished()
        #expect(explain(block).executionTime == nil && explain(block).queue == nil)
    }

    @Test func `a tiny operation after a long one, and before one, has its own time`() {
        let queue = OperationQueue(name: "work", maxConcurrentOperationCount: 1)
        let (gates, begun) = ((0..<2).map { _ in Gate() }, (0..<2).map { _ in Gate() })
        let blocks = (0..<2).map { index in
            BlockOperation {
                begun[index].open()
                gates[index].pass()
            }
        }
        queue.addOperation(blocks[0])
        for _ in 0..<1000 { queue.addOperation {} }
        queue.addOperation(blocks[1])
        begun[0].pass()
        awaitTime(blocks[0], .milliseconds(100))
        gates[0].open()
        begun[1].pass()
        let start = MonotonicClock.now
        let (time, since) = (explain(blocks[1]).executionTime, MonotonicClock.elapsed(since: start))
        // The first one has run for longer.
        #expect(time! <= .milliseconds(60) + .nanoseconds(since))
        gates[1].open()
        queue.waitUntilAllOperationsAreFinished()
    }

    @Test func `the time of an operation whose start has returned grows, in a queue and by hand`() {
        let queue = OperationQueue()
        let (queued, byHand, onDispatch) =
            (AsynchronousOperation(), AsynchronousOperation(), AsynchronousOperation())
        let other = OperationQueue()
        other.underlyingQueue = DispatchQueue(label: "underlying")
        queue.addOperation(queued)
        other.addOperation(onDispatch)
        byHand.start()
        awaitTime(queued)
        awaitTime(onDispatch)
        // Its `start()` is user code that the library does not see.
        #expect(explain(byHand).reasons == [.executing])
        for operation in [queued, byHand, onDispatch] { operation.finish() }
        queued.waitUntilFinished()
        onDispatch.waitUntilFinished()
    }

    @Test func `on a dispatch queue the time begins before a start that takes long`() {
        let queue = OperationQueue()
        queue.underlyingQueue = DispatchQueue(label: "underlying")
        let slow = SlowStart()
        queue.addOperation(slow)
        slow.begun.pass()
        awaitTime(slow, .milliseconds(60))
        let before = explain(slow).executionTime!
        slow.gate.open()
        slow.hasReturned.pass()
        #expect(explain(slow).executionTime! >= before)
        slow.finish()
        slow.waitUntilFinished()
    }

    private final class SlowStart: AsynchronousOperation, @unchecked Sendable {
        let (begun, gate, hasReturned) = (Gate(), Gate(), Gate())

        override func start() {
            super.start()
            begun.open()
            gate.pass()
            hasReturned.open()
        }
    }

    @Test func `the time of a block that was started by hand grows`() {
        let (begun, gate) = (Gate(), Gate())
        let block = BlockOperation {
            begun.open()
            gate.pass()
        }
        let thread = TestThread { block.start() }
        begun.pass()
        awaitTime(block)
        gate.open()
        thread.join()
    }

    @Test func `the time of an async operation includes its suspensions`() async {
        let queue = OperationQueue(name: "work")
        let (begun, gate) = (AsyncGate(), AsyncGate())
        let task = queue.addTask(name: "a") {
            begun.open()
            await gate.pass()
        }
        await begun.pass()
        await untilTrue { (explain(task).executionTime ?? .zero) > .milliseconds(20) }
        gate.open()
        await task.waitUntilFinished()
    }

    @Test func `operations that wait, and operations of a manual executor, have no time`() {
        let queue = OperationQueue()
        queue.isSuspended = true
        let waiting = BlockOperation {}
        queue.addOperation(waiting)
        #expect(explain(waiting).executionTime == nil)
        queue.isSuspended = false
        queue.waitUntilAllOperationsAreFinished()
        let executor = ManualExecutor(seed: 1)
        let manual = executor.makeQueue()
        let seen = Journal<Duration?>()
        let held = Journal<BlockOperation>()
        let block = BlockOperation { seen.append(self.explain(held.entries[0]).executionTime) }
        held.append(block)
        manual.addOperation(block)
        let task = manual.addTask { await Task.yield() }
        executor.runUntilIdle()
        #expect(seen.entries == [nil] && task.isFinished)
    }

    @Test func `the explanation counts the dependents that wait`() {
        let held = HeldQueue()
        let operation = held.queue.snapshot.listedOperations[0]
        let dependents = (0..<3).map { _ in BlockOperation {} }
        for dependent in dependents { dependent.addDependency(operation) }
        #expect(explain(operation).dependentCount == 3)
        #expect(explain(operation).description.hasSuffix("; 3 operations wait for it"))
        dependents[0].removeDependency(operation)
        dependents[1].removeDependency(operation)
        #expect(explain(operation).dependentCount == 1)
        #expect(explain(operation).description.hasSuffix("; 1 operation waits for it"))
        OperationQueue().addOperations(dependents, waitUntilFinished: false)
        held.release()
        for dependent in dependents { dependent.waitUntilFinished() }
        #expect(explain(operation).dependentCount == 0)
    }

    /// The count takes the dependents for a moment, while other threads add and notify them.
    @Test func `no dependent is lost while the dependents are counted`() {
        let queue = OperationQueue()
        for _ in 0..<Stress.rounds(2000) {
            let (first, begun) = (BlockOperation {}, Gate())
            let counter = TestThread {
                begun.open()
                while !first.isFinished { _ = first.dependentCount }
            }
            begun.pass()
            let dependents = (0..<8).map { _ in BlockOperation {} }
            for dependent in dependents.prefix(4) { dependent.addDependency(first) }
            queue.addOperation(first)
            for dependent in dependents.suffix(4) { dependent.addDependency(first) }
            for dependent in dependents { queue.addOperation(dependent) }
            queue.waitUntilAllOperationsAreFinished()
            counter.join()
        }
    }

    @Test func `an operation that waits for a slot or a key names the operations that hold it`() throws {
        let queue = OperationQueue(name: "work", maxConcurrentOperationCount: 2)
        queue.setLimitPerKey(1)
        let (begun, gate) = (Gate(2), Gate())
        let holders = ["a", "b"].map { name in
            BlockOperation(name: name) {
                begun.open()
                gate.pass()
            }
        }
        queue.addOperation(holders[0], limitKey: "host")
        queue.addOperation(holders[1])
        begun.pass()
        let (next, sameKey) = (BlockOperation {}, BlockOperation {})
        queue.addOperation(next)
        queue.addOperation(sameKey, limitKey: "host")
        guard case .slot(queue: "work", limit: 2, let slots)? = explain(next).reasons.first,
            case .key("host", let turns)? = explain(sameKey).reasons.first
        else {
            Issue.record("\(explain(next)); \(explain(sameKey))")
            gate.open()
            return queue.waitUntilAllOperationsAreFinished()
        }
        #expect(Set(slots.map(\.operation)) == ["BlockOperation 'a'", "BlockOperation 'b'"])
        #expect(turns.map(\.operation) == ["BlockOperation 'a'"])
        #expect(turns.allSatisfy { $0.executionTime != nil })
        gate.open()
        gate.open()
        queue.waitUntilAllOperationsAreFinished()
    }
}
