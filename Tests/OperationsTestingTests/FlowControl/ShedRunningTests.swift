import Operations
import OperationsTesting
import TestSupport
import Testing

/// Rule A12: a running operation is never dropped, and an operation that is about to be dropped does not start.
@Suite(.timeLimit(.minutes(5))) struct ShedRunningTests {
    private let executor = ManualExecutor()

    @Test(arguments: [true, false]) func `an operation that is about to be dropped does not start`(isOldest: Bool)
        throws
    {
        let executor = executor
        let queue = executor.makeQueue()
        try queue.setBound(2, whenFull: isOldest ? .shedOldest : .shedLowest)
        let hasRun = Guarded(0)
        // The first victim's `cancel()` makes steps of the queue before the second victim is cancelled.
        let victims = (0..<2).map { _ in
            CancelledBySteps(steps: { executor.runUntilIdle() }, work: { hasRun.withLock { $0 += 1 } })
        }
        for victim in victims { try queue.tryAddOperation(victim) }
        let newcomers = (0..<2).map { _ in BlockOperation {} }
        try queue.tryAddOperations(newcomers, waitUntilFinished: false)
        executor.runUntilIdle()
        #expect(hasRun.withLock { $0 } == 0)
        #expect(victims.allSatisfy { $0.isCancelled && $0.isFinished && $0.calls.withLock { $0 } == 1 })
        #expect(newcomers.allSatisfy { $0.isFinished && !$0.isCancelled })
    }

    /// On real threads: the adder chooses its victims while workers start them.
    @Test(arguments: [true, false]) func `no operation is dropped after its start`(isOldest: Bool) throws {
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 2
        try queue.setBound(4, whenFull: isOldest ? .shedOldest : .shedLowest)
        let wrong = Guarded(0)
        for _ in 0..<5000 {
            let operation = NotesCancellation(wrong)
            _ = try? queue.tryAddOperation(operation)
        }
        queue.waitUntilAllOperationsAreFinished()
        #expect(wrong.withLock { $0 } == 0)
    }

    @Test func `a queue of 20,000 operations drops 20,000 times without a search of the whole queue`() throws {
        for overflow in [OperationQueue.Overflow.shedOldest, .shedLowest] {
            let queue = executor.makeQueue()
            queue.isSuspended = true
            try queue.setBound(20_000, whenFull: overflow)
            let (early, late) = (
                (0..<20_000).map { _ in BlockOperation {} }, (0..<20_000).map { _ in BlockOperation {} }
            )
            for operation in early + late { try queue.tryAddOperation(operation) }
            #expect((early + late).count { $0.isCancelled } == 20_000)
            #expect(overflow == .shedLowest || early.allSatisfy(\.isCancelled))
            queue.isSuspended = false
            executor.runUntilIdle()
        }
    }

    @Test func `the overflow policy can be changed while operations wait, run and are put back`() throws {
        let (queue, clock) = (executor.makeQueue(), VirtualClock())
        try queue.setBound(3)
        let running = TaskOperation { try await clock.sleep(for: .seconds(1)) }
        let putBack = BlockOperation {}
        putBack.addCondition(.notBefore(clock.now.advanced(by: .seconds(1)), clock: clock))
        putBack.queuePriority = .low
        let held = BlockOperation {}
        held.addDependency(Operations.Operation())
        for operation in [running, putBack, held] as [Operations.Operation] { try queue.tryAddOperation(operation) }
        executor.runUntilIdle()
        try queue.setBound(3, whenFull: .shedLowest)
        try queue.tryAddOperation(BlockOperation {})
        #expect(putBack.isCancelled && !running.isCancelled && !held.isCancelled)
        try queue.setBound(3, whenFull: .shedOldest)
        queue.isSuspended = true
        executor.runUntilIdle()
        try queue.tryAddOperation(BlockOperation {})
        try queue.tryAddOperation(BlockOperation {})
        #expect(held.isCancelled && !running.isCancelled)
        queue.isSuspended = false
        executor.runUntilIdle(advancing: clock)
        #expect(!running.isCancelled && running.isFinished)
    }
}

/// An operation that makes steps of the queue in `cancel()`.
private final class CancelledBySteps: Operations.Operation, @unchecked Sendable {
    let calls = Guarded(0)
    private let steps: @Sendable () -> Void
    private let work: @Sendable () -> Void

    init(steps: @escaping @Sendable () -> Void, work: @escaping @Sendable () -> Void) {
        self.steps = steps
        self.work = work
    }

    override func main() { work() }

    override func cancel() {
        calls.withLock { $0 += 1 }
        // A step may cancel another operation, and a step must not call `step()`.
        if calls.withLock({ $0 }) == 1, !isNested.withLock({ $0 }) {
            isNested.withLock { $0 = true }
            steps()
            isNested.withLock { $0 = false }
        }
        super.cancel()
    }
}

private let isNested = Guarded(false)

/// An operation that records a cancellation while it runs.
private final class NotesCancellation: Operations.Operation, @unchecked Sendable {
    private let wrong: Guarded<Int>

    init(_ wrong: Guarded<Int>) { self.wrong = wrong }

    override func main() {
        for _ in 0..<50 where isCancelled {
            wrong.withLock { $0 += 1 }
            return
        }
    }
}
