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
        queue.setCapacity(2, onOverflow: isOldest ? .dropOldest : .dropLowest)
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

    /// On real threads: a worker comes to the other victim while the adder waits.
    @Test(.tags(.threads), arguments: [true, false], [true, false])
    func `the cancel of one victim may wait for another victim`(isOldest: Bool, isReady: Bool) throws {
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 1
        let (started, mayEnd) = (Gate(), Gate())
        queue.addOperation {
            started.open()
            mayEnd.pass()
        }
        started.pass()
        queue.setCapacity(2, onOverflow: isOldest ? .dropOldest : .dropLowest)
        let runs = Guarded(0)
        let victims = Guarded<[CancelledWaiting]>([])
        let wait: @Sendable (CancelledWaiting) -> Void = { victim in
            // The first one to be cancelled waits for the other one.
            let others = victims.withLock { victims in
                defer { victims = [] }
                return victims
            }
            mayEnd.open()
            for other in others where other !== victim { other.waitUntilFinished() }
        }
        let pair = (0..<2).map { _ in CancelledWaiting(wait, runs) }
        victims.withLock { $0 = pair }
        for victim in pair {
            if !isReady { victim.addDependency(Operations.Operation()) }
            try queue.tryAddOperation(victim)
        }
        let newcomers = (0..<2).map { _ in BlockOperation {} }
        try queue.tryAddOperations(newcomers, waitUntilFinished: false)
        queue.waitUntilAllOperationsAreFinished()
        #expect(pair.allSatisfy { $0.isCancelled && $0.calls.withLock { $0 } == 1 } && runs.withLock { $0 } == 0)
        #expect(newcomers.allSatisfy { $0.isFinished && !$0.isCancelled })
    }

    @Test(arguments: [true, false])
    func `a paused operation that has begun is not shed`(isOldest: Bool) throws {
        let queue = executor.makeQueue()
        let overflow = isOldest ? OperationQueue.OverflowPolicy.dropOldest : .dropLowest
        queue.setCapacity(1, onOverflow: overflow)
        let operation = PausesOnce()
        operation.queuePriority = .veryLow
        try queue.tryAddOperation(operation)
        executor.runUntilIdle()
        #expect(!operation.isExecuting && !operation.isFinished)
        let refuse = { try queue.tryAddOperation(BlockOperation {}) }
        #expect(throws: OperationError.self, performing: refuse)
        // The queue schedules the operation again.
        operation.queuePriority = .low
        #expect(throws: OperationError.self, performing: refuse)
        queue.setCapacity(1)
        queue.setCapacity(1, onOverflow: overflow)
        #expect(throws: OperationError.self, performing: refuse)
        // About to resume, and put back once more.
        queue.isSuspended = true
        operation.resume()
        #expect(throws: OperationError.self, performing: refuse)
        operation.pause()
        queue.isSuspended = false
        executor.runUntilIdle()
        #expect(throws: OperationError.self, performing: refuse)
        operation.resume()
        executor.runUntilIdle()
        #expect(operation.isFinished && !operation.isCancelled)
    }

    @Test func `shedding compares the priority that an override returns`() throws {
        let queue = executor.makeQueue()
        queue.isSuspended = true
        queue.setCapacity(1, onOverflow: .dropLowest)
        let waiting = BlockOperation {}
        waiting.queuePriority = .low
        try queue.tryAddOperation(waiting)
        #expect(throws: OperationError.self) { try queue.tryAddOperation(OwnPriority(.veryLow)) }
        #expect(!waiting.isCancelled)
        waiting.queuePriority = .high
        try queue.tryAddOperation(OwnPriority(.veryHigh))
        #expect(waiting.isCancelled)
        queue.isSuspended = false
        executor.runUntilIdle()
    }

    @Test func `shedding compares the lent priority, in a queue that inherits priorities`() async throws {
        let queue = executor.makeQueue()
        queue.priorityPolicy = .init(inheritsPriority: true)
        queue.isSuspended = true
        queue.setCapacity(2, onOverflow: .dropLowest)
        let (urgent, needed, waiting) = (BlockOperation {}, BlockOperation {}, BlockOperation {})
        urgent.queuePriority = .veryHigh
        needed.queuePriority = .low
        urgent.addDependency(needed)
        for operation in [urgent, waiting] { try queue.tryAddOperation(operation) }
        try queue.tryAddOperation(needed)
        #expect(waiting.isCancelled && !needed.isCancelled)
        queue.isSuspended = false
        executor.runUntilIdle()
    }

    /// On real threads: the adder chooses its victims while workers start them.
    @Test(.tags(.threads), arguments: [true, false]) func `no operation is dropped after its start`(isOldest: Bool)
        throws
    {
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 2
        queue.setCapacity(4, onOverflow: isOldest ? .dropOldest : .dropLowest)
        let wrong = Guarded(0)
        for _ in 0..<Stress.rounds(5000, least: 1_000) {
            let operation = NotesCancellation(wrong)
            _ = try? queue.tryAddOperation(operation)
        }
        queue.waitUntilAllOperationsAreFinished()
        #expect(wrong.withLock { $0 } == 0)
    }

    @Test(.tags(.slow)) func `a queue of very many operations drops as many without a search of the whole queue`()
        throws
    {
        let count = Stress.rounds(20_000, least: 1_000)
        for overflow in [OperationQueue.OverflowPolicy.dropOldest, .dropLowest] {
            let queue = executor.makeQueue()
            queue.isSuspended = true
            queue.setCapacity(count, onOverflow: overflow)
            let (early, late) = (
                (0..<count).map { _ in BlockOperation {} }, (0..<count).map { _ in BlockOperation {} }
            )
            for operation in early + late { try queue.tryAddOperation(operation) }
            #expect((early + late).count { $0.isCancelled } == count)
            #expect(overflow == .dropLowest || early.allSatisfy(\.isCancelled))
            queue.isSuspended = false
            executor.runUntilIdle()
        }
    }

    @Test func `the overflow policy can be changed while operations wait, run and are put back`() throws {
        let (queue, clock) = (executor.makeQueue(), VirtualClock())
        queue.setCapacity(3)
        let running = TaskOperation { try await clock.sleep(for: .seconds(1)) }
        let putBack = BlockOperation {}
        putBack.addCondition(.notBefore(clock.now.advanced(by: .seconds(1)), clock: clock))
        putBack.queuePriority = .low
        let held = BlockOperation {}
        held.addDependency(Operations.Operation())
        for operation in [running, putBack, held] as [Operations.Operation] { try queue.tryAddOperation(operation) }
        executor.runUntilIdle()
        queue.setCapacity(3, onOverflow: .dropLowest)
        try queue.tryAddOperation(BlockOperation {})
        #expect(putBack.isCancelled && !running.isCancelled && !held.isCancelled)
        queue.setCapacity(3, onOverflow: .dropOldest)
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

/// An operation whose `cancel()` makes steps of the queue.
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

/// An operation that calls a closure when it is cancelled.
private final class CancelledWaiting: Operations.Operation, @unchecked Sendable {
    // Sendable: constants.
    let calls = Guarded(0)
    private let runs: Guarded<Int>
    private let wait: @Sendable (CancelledWaiting) -> Void

    init(_ wait: @escaping @Sendable (CancelledWaiting) -> Void, _ runs: Guarded<Int>) {
        self.wait = wait
        self.runs = runs
    }

    override func main() { runs.withLock { $0 += 1 } }

    override func cancel() {
        calls.withLock { $0 += 1 }
        wait(self)
        super.cancel()
    }
}

/// An operation that releases its slot in the middle of its work.
private final class PausesOnce: AsyncOperation, @unchecked Sendable {
    override func run() async {
        pause()
        await waitWhilePaused()
    }
}

private final class OwnPriority: Operations.Operation, @unchecked Sendable {
    // Sendable: a constant.
    private let own: QueuePriority

    init(_ own: QueuePriority) { self.own = own }

    override var queuePriority: QueuePriority {
        get { own }
        set {}
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
