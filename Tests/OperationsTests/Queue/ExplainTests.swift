import Operations
import Synchronization
import TestSupport
import Testing

/// Rule N3: `explain` returns the reasons for which an operation waits, in every state.
@Suite(.timeLimit(.minutes(5))) struct ExplainTests {
    private func reasons(_ operation: Operations.Operation) -> [WaitingReason] {
        OperationQueue().explain(operation).reasons
    }

    private func holders(_ reason: WaitingReason) -> [String] {
        guard case .barrier(let holders) = reason else { return [] }
        return holders.map { $0.operation.hasPrefix("BarrierBlock") ? "the barrier" : $0.operation }
    }

    /// Rule N3.
    @Test func `an operation in no queue and a finished operation are explained as such`() {
        let operation = Operation(named: "a")
        #expect(OperationQueue().explain(operation).operation == "Operation 'a'")
        #expect(reasons(operation) == [.inNoQueue])
        operation.start()
        #expect(reasons(operation) == [.finished])
    }

    /// Rule N3.
    @Test func `a running operation executes, in a queue or not, and the next one waits for the slot`() throws {
        let held = HeldQueue()
        let next = Operation()
        held.queue.addOperation(next)
        #expect(reasons(held.queue.snapshot.listedOperations[0]) == [.executing])
        guard case .slot(_, limit: 1, let holders) = try #require(reasons(next).first) else {
            Issue.record("\(reasons(next))")
            return held.release()
        }
        #expect(holders.count == 1 && reasons(next).count == 1)
        held.release()
        let byHand = AsynchronousOperation()
        byHand.start()
        #expect(reasons(byHand) == [.executing])
        byHand.finish()
        #expect(reasons(byHand) == [.finished])
    }

    /// Rule N3: only present reasons are named.
    @Test func `every unfinished dependency is named, and no finished one`() {
        let (held, queue) = (HeldQueue(), OperationQueue())
        let (finished, queued, forgotten) = (Operation(), Operation(named: "queued"), Operation(named: "forgotten"))
        let waiting = Operation()
        finished.start()
        held.queue.addOperation(queued)
        for dependency in [finished, queued, forgotten] { waiting.addDependency(dependency) }
        queue.addOperation(waiting)
        #expect(reasons(waiting) == [.dependency("Operation 'queued'"), .dependencyInNoQueue("Operation 'forgotten'")])
        forgotten.start()
        #expect(reasons(waiting) == [.dependency("Operation 'queued'")])
        held.release()
        waiting.waitUntilFinished()
        #expect(reasons(waiting) == [.finished])
    }

    /// Rule N3: the operation runs, so no other code has to start it.
    @Test func `a dependency that was started by hand is named as a running one`() {
        let (queue, dependency, waiting) = (OperationQueue(), AsynchronousOperation(), Operation())
        dependency.name = "by hand"
        waiting.addDependency(dependency)
        queue.addOperation(waiting)
        #expect(reasons(waiting) == [.dependencyInNoQueue("AsynchronousOperation 'by hand'")])
        dependency.start()
        #expect(reasons(waiting) == [.dependency("AsynchronousOperation 'by hand'")])
        dependency.finish()
        waiting.waitUntilFinished()
    }

    /// Rules N3, C2: a cancelled operation does not wait for its dependencies.
    @Test func `a cancelled operation in a suspended queue waits only for the queue`() {
        let queue = OperationQueue()
        queue.name = "q"
        queue.isSuspended = true
        let operation = Operation()
        operation.addDependency(Operation())
        queue.addOperation(operation)
        operation.cancel()
        #expect(reasons(operation) == [.queueSuspended(queue: "q")])
        queue.isSuspended = false
        operation.waitUntilFinished()
    }

    /// Rule N3.
    @Test func `a suspended queue and width 0 are both named`() {
        let queue = OperationQueue()
        queue.name = "q"
        queue.isSuspended = true
        queue.maxConcurrentOperationCount = 0
        let operation = Operation()
        queue.addOperation(operation)
        #expect(reasons(operation) == [.queueSuspended(queue: "q"), .limitZero(queue: "q")])
        queue.isSuspended = false
        #expect(reasons(operation) == [.limitZero(queue: "q")])
        queue.maxConcurrentOperationCount = 1
        operation.waitUntilFinished()
    }

    /// Rules N3, X1: a barrier that runs, one that waits, and no cycle in either case.
    @Test func `an operation behind a barrier waits for it`() {
        let queue = OperationQueue()
        let (first, barrier, started) = (Gate(), Gate(), Gate())
        queue.addOperation(BlockOperation(name: "first") { first.pass() })
        queue.addBarrierBlock {
            started.open()
            barrier.pass()
        }
        let (behind, last) = (Operation(), Operation())
        queue.addOperation(behind)
        queue.addBarrierBlock {}
        queue.addOperation(last)
        #expect(reasons(behind).map(holders) == [["BlockOperation 'first'"]])
        #expect(reasons(last).map(holders) == [["BlockOperation 'first'"]])
        #expect(queue.explain(behind).description.contains("barrier in front of it, held by BlockOperation 'first'"))
        first.open()
        started.pass()
        #expect(reasons(behind).map(holders) == [["the barrier"]])
        #expect(reasons(last).map(holders) == [["the barrier"]])
        #expect(queue.stallReport() == nil)
        barrier.open()
        queue.waitUntilAllOperationsAreFinished()
    }

    /// Rules N3, X1: a barrier that stands first in a suspended queue.
    @Test func `behind a barrier of a suspended queue there is no cycle`() {
        let queue = OperationQueue()
        queue.name = "q"
        queue.isSuspended = true
        queue.addBarrierBlock {}
        let (behind, next) = (Operation(), Operation())
        queue.addOperations([behind, next], waitUntilFinished: false)
        #expect(reasons(behind) == [.queueSuspended(queue: "q"), .barrier(heldBy: [])])
        #expect(reasons(next) == [.queueSuspended(queue: "q"), .barrier(heldBy: [])])
        queue.isSuspended = false
        queue.waitUntilAllOperationsAreFinished()
    }

    /// Rule N3: the dependency comes before the custom condition.
    @Test func `a custom isReady is named once the dependencies are finished`() {
        let (queue, dependency) = (OperationQueue(), Operation(named: "dependency"))
        let operation = Unready()
        operation.addDependency(dependency)
        queue.addOperation(operation)
        #expect(reasons(operation) == [.dependencyInNoQueue("Operation 'dependency'")])
        dependency.start()
        #expect(reasons(operation) == [.customIsReady])
        operation.cancel()
        operation.waitUntilFinished()
    }

    /// Rules N3, L7.
    @Test func `an end that was not announced is named`() {
        let queue = OperationQueue()
        let operation = Forgetful()
        queue.addOperation(operation)
        operation.started.pass()
        #expect(reasons(operation) == [.executing])
        operation.isDone.store(true, ordering: .sequentiallyConsistent)
        #expect(reasons(operation) == [.finishNotAnnounced])
        operation.didChangeValue(forKey: "isFinished")
        operation.waitUntilFinished()
    }

    /// Rule N3.
    @Test(.onSmallStack, .tags(.slow)) func `explaining a long chain of operations is not recursive`() {
        let queue = OperationQueue()
        queue.isSuspended = true
        let operations = (0..<Stress.rounds(100_000, least: 5_000)).map { _ in Operation() }
        for i in 1..<operations.count { operations[i].addDependency(operations[i - 1]) }
        queue.addOperations(operations, waitUntilFinished: false)
        #expect(queue.explain(operations.last!).reasons.count == 2)
        queue.isSuspended = false
        queue.waitUntilAllOperationsAreFinished()
    }

    /// Rule N3: the descriptions.
    @Test func `the description of every reason names a remedy`() {
        let words: [(WaitingReason, String)] = [
            (.executing, "executes"), (.finished, "finished"), (.inNoQueue, "no queue"), (.cycle(["a", "a"]), "a → a"),
            (.dependencyInNoQueue("x"), "x"), (.dependency("x"), "waits for x"), (.barrier(heldBy: []), "barrier"),
            (.queueSuspended(queue: "q"), "isSuspended"), (.limitZero(queue: "q"), "maxConcurrentOperationCount"),
            (.customIsReady, "announce"), (.finishNotAnnounced, "announced"),
            (.slot(queue: "q", limit: 1, heldBy: []), "start"),
        ]
        for (reason, word) in words { #expect(reason.description.contains(word)) }
    }
}

private final class Unready: Operations.Operation, @unchecked Sendable {
    override var isReady: Bool { isCancelled }
}

private final class Forgetful: Operations.Operation, @unchecked Sendable {
    let isDone = Atomic(false)
    let started = Gate()

    override var isFinished: Bool { isDone.load(ordering: .sequentiallyConsistent) }
    override var isExecuting: Bool { false }
    override func start() { started.open() }
}
