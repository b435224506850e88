@testable import Operations
import OperationsTesting
import TestSupport
import Testing

/// A queue that is shut down refuses new operations, drains, and cancels the rest.
@Suite(.timeLimit(.minutes(5)), .tags(.threads)) struct ShutdownTests {
    @Test func `a queue that drains in time cancels nothing`() async {
        let queue = OperationQueue(name: "work")
        let operations = (0..<10).map { _ in queue.addTask { await Task.yield() } }
        let report = await queue.shutDown(grace: .seconds(1000))
        #expect(report.isComplete && report.unfinished.isEmpty && queue.isShutDown)
        #expect(report.description == "queue 'work' was shut down: all operations finished")
        #expect(operations.allSatisfy { $0.operationOutcome == .succeeded })
        // An empty queue, and a second call.
        #expect(await queue.shutDown(grace: .zero).isComplete)
    }

    @Test func `after the grace the rest is cancelled, and work that ignores it is returned`() async {
        let queue = OperationQueue(name: "work", maxConcurrentOperationCount: 2)
        let (begun, gate) = (AsyncGate(), Gate())
        let deaf = BlockOperation(name: "deaf") { gate.pass() }
        queue.addOperation(deaf)
        let polite = queue.addTask(name: "polite") {
            begun.open()
            try await Task.sleep(for: .seconds(1000))
        }
        let waiting = queue.addTask(name: "waiting") {}
        await begun.pass()
        let report = await queue.shutDown(grace: .milliseconds(10), cancellationGrace: .milliseconds(200))
        #expect(
            Set(report.cancelled.map(\.operation)) == [
                "BlockOperation 'deaf'", "TaskOperation 'polite'", "TaskOperation 'waiting'",
            ])
        #expect(report.cancelled.last?.operation == "TaskOperation 'waiting'")
        #expect(report.unfinished.map(\.operation) == ["BlockOperation 'deaf'"])
        #expect(polite.operationOutcome == .cancelled && waiting.operationOutcome == .cancelled && deaf.isCancelled)
        #expect(
            report.description.hasPrefix(
                "queue 'work' was shut down: 3 cancelled, 1 still in the queue\n  BlockOperation 'deaf': executes"))
        gate.open()
        await queue.waitUntilAllOperationsAreFinished()
    }

    @Test(arguments: ["suspended", "limit 0"]) func `operations leave a queue that could start nothing`(_ kind: String)
        async
    {
        let queue = OperationQueue(name: "work")
        if kind == "suspended" { queue.isSuspended = true } else { queue.maxConcurrentOperationCount = 0 }
        let operations = (0..<3).map { _ in queue.addTask {} }
        let report = await queue.shutDown(grace: .milliseconds(1), cancellationGrace: .seconds(1000))
        #expect(report.cancelled.count == 3 && report.unfinished.isEmpty)
        #expect(operations.allSatisfy { $0.operationOutcome == .cancelled })
    }

    @Test func `a cancellation of the calling task ends the grace`() async {
        let queue = OperationQueue(name: "work")
        let begun = AsyncGate()
        let work = queue.addTask {
            begun.open()
            try await Task.sleep(for: .seconds(1000))
        }
        await begun.pass()
        let shutdown = Task { await queue.shutDown(grace: .seconds(1000), cancellationGrace: .seconds(1000)) }
        shutdown.cancel()
        let report = await shutdown.value
        #expect(report.cancelled.count == 1 && report.unfinished.isEmpty && work.operationOutcome == .cancelled)
    }

    @Test func `the grace is measured by the clock of the caller`() async {
        let (queue, clock, gate) = (OperationQueue(), VirtualClock(), AsyncGate())
        let begun = AsyncGate()
        queue.addTask {
            begun.open()
            await gate.pass()
        }
        await begun.pass()
        let shutdown = Task { await queue.shutDown(grace: .seconds(20), cancellationGrace: .seconds(1), clock: clock) }
        await clock.sleepers(atLeast: 1)
        clock.advance(by: .seconds(20))
        await clock.sleepers(atLeast: 1)
        clock.advance(by: .seconds(1))
        #expect(await shutdown.value.unfinished.count == 1)
        gate.open()
        await queue.waitUntilAllOperationsAreFinished()
    }

    /// "The adding call throws or reports, never crashes."
    @Test func `each adding call is refused, the operation fails, and no dependent waits for it`() async throws {
        let queue = OperationQueue(name: "work")
        await queue.shutDown(grace: .zero)
        let error = OperationError.queueShutDown(queue: "queue 'work'")
        func isRefused(_ operation: Operations.Operation) -> Bool {
            guard operation.isFinished, case .failed(let failure)? = operation.operationOutcome else { return false }
            return failure as? OperationError == error
        }
        let completed = Gate()
        let block = BlockOperation { fatalError("runs") }
        block.completionBlock = { completed.open() }
        let dependent = BlockOperation {}
        dependent.addDependency(block)
        queue.addOperation(block)
        completed.pass()
        #expect(isRefused(block))
        OperationQueue().addOperation(dependent)
        await dependent.waitUntilFinished()
        queue.addOperation { fatalError("runs") }
        #expect(isRefused(queue.addOperation(name: "a") { fatalError("runs") }))
        let keyed = BlockOperation { fatalError("runs") }
        queue.addOperation(keyed, limitKey: "host")
        #expect(isRefused(keyed))
        let several = [BlockOperation { fatalError("runs") }, BlockOperation { fatalError("runs") }]
        await queue.addOperations(several, waitUntilFinished: true)
        let areRefused = several.allSatisfy { isRefused($0) }
        #expect(areRefused)
        let task = queue.addTask {}
        await #expect(throws: error) { try await task.value }
        await #expect(throws: error) { try await queue.run {} }
        await #expect(throws: error) { try await queue.map([1]) { $0 } }
        await #expect(throws: error) { try await queue.addTaskWaitingForCapacity {} }
        #expect(throws: error) { try queue.tryAddOperation(BlockOperation {}) }
        let group = GroupOperation { [BlockOperation { fatalError("runs") }] }
        queue.addOperation(group)
        await group.waitUntilFinished()
        #expect(isRefused(group))
        queue.addBarrierBlock { fatalError("runs") }
        await queue.waitUntilAllOperationsAreFinished()
        // Not misuse, and a job of a task is not an operation.
        await Task(executorPreference: queue) { await Task.yield() }.value
        #expect(queue.refusedCount == 9)
        await queue.waitUntilAllOperationsAreFinished()
    }

    /// Some subclasses do not call super in `cancel()`, and have a readiness of their own.
    @Test func `a refused operation whose cancel is overridden ends without its work`() async {
        let queue = OperationQueue(name: "work")
        await queue.shutDown(grace: .zero)
        let deaf = Deaf()
        deaf.addDependency(Operation())
        queue.addOperation(deaf)
        #expect(deaf.isFinished && deaf.operationOutcome?.description.hasPrefix("failed") == true)
    }

    @Test func `an operation that a bounded queue has refused at its shutdown takes no place of another one for free`()
        async
    {
        let (first, second) = (OperationQueue(name: "first"), OperationQueue(name: "second"))
        for queue in [first, second] { queue.setCapacity(1) }
        let gate = AsyncGate()
        first.addTask { await gate.pass() }
        second.addTask { await gate.pass() }
        let operation = BlockOperation {}
        let waiting = Task { try await first.addOperationWaitingForCapacity(operation) }
        await untilTrue { first.explain(operation).description.contains("capacity") }
        let shutdown = Task { await first.shutDown(grace: .seconds(1000)) }
        _ = await waiting.result
        #expect(throws: OperationError.queueFull(queue: "queue 'second'", capacity: 1)) {
            try second.tryAddOperation(operation)
        }
        gate.open()
        #expect(await shutdown.value.isComplete)
    }

    @Test func `a barrier that runs is left over`() async {
        let (queue, gate) = (OperationQueue(name: "work"), Gate())
        queue.addBarrierBlock { gate.pass() }
        let report = await queue.shutDown(grace: .milliseconds(1), cancellationGrace: .milliseconds(1))
        #expect(!report.isComplete)
        until { queue.explain().executing.count == 1 }
        #expect(OperationQueue.explainAll().queues.contains { $0.queue == "work" })
        gate.open()
        await queue.waitUntilAllOperationsAreFinished()
    }

    @Test func `callers that wait for capacity are refused by the shutdown`() async {
        let queue = OperationQueue(name: "work")
        queue.setCapacity(1)
        let gate = AsyncGate()
        queue.addTask { await gate.pass() }
        let waiting = Task { try await queue.addTaskWaitingForCapacity {} }
        let other = BlockOperation {}
        let second = Task { try await queue.addOperationWaitingForCapacity(other) }
        await untilTrue { queue.explain(other).description.contains("capacity") }
        let shutdown = Task { await queue.shutDown(grace: .seconds(1000)) }
        await #expect(throws: OperationError.queueShutDown(queue: "queue 'work'")) { try await waiting.value }
        await #expect(throws: OperationError.queueShutDown(queue: "queue 'work'")) { try await second.value }
        gate.open()
        #expect(await shutdown.value.isComplete)
    }

    @Test func `an operation may shut down its own queue`() async {
        let queue = OperationQueue(name: "work", maxConcurrentOperationCount: 1)
        let report = Journal<ShutdownReport>()
        queue.addTask(name: "self") {
            report.append(await queue.shutDown(grace: .milliseconds(1), cancellationGrace: .milliseconds(1)))
        }
        await untilTrue { !report.entries.isEmpty }
        #expect(report.entries[0].unfinished.map(\.operation) == ["TaskOperation 'self'"])
        await queue.waitUntilAllOperationsAreFinished()
    }

    @Test func `operations that are added while the queue is shut down either finish or fail`() async {
        for _ in 0..<Stress.rounds(50) {
            let queue = OperationQueue(name: "work", maxConcurrentOperationCount: 2)
            let added = Journal<BlockOperation>()
            let threads = (0..<2).map { _ in
                TestThread {
                    for _ in 0..<20 {
                        let operation = BlockOperation {}
                        added.append(operation)
                        queue.addOperation(operation)
                    }
                }
            }
            await queue.shutDown(grace: .seconds(1000))
            for thread in threads { thread.join() }
            await queue.waitUntilAllOperationsAreFinished()
            #expect(added.entries.allSatisfy { $0.isFinished })
        }
    }
}

private final class Deaf: Operations.Operation, @unchecked Sendable {
    override func cancel() {}
    override func main() { Issue.record("runs") }
}
