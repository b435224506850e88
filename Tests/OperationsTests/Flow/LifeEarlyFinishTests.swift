import Operations
import Synchronization
import TestSupport
import Testing

/// Announces an end inside `isReady`, once, and revokes it.
private final class Wavering: CountingOperation, @unchecked Sendable {
    let wavers = Atomic(false)
    private let isOver = Atomic(false)

    override var isFinished: Bool { isOver.load(ordering: .relaxed) || super.isFinished }

    override var isReady: Bool {
        let isReady = super.isReady
        if wavers.exchange(false, ordering: .relaxed) {
            isOver.store(true, ordering: .relaxed)
            didChangeValue(forKey: "isFinished")
            isOver.store(false, ordering: .relaxed)
        }
        return isReady
    }
}

/// Ends inside `start()`, and then runs other code.
private final class Lingering: Operations.Operation, @unchecked Sendable {
    private let isOver = Atomic(false)
    private let code: @Sendable () throws(OperationError) -> Void
    let error = Guarded<OperationError?>(nil)

    init(_ code: @escaping @Sendable () throws(OperationError) -> Void) { self.code = code }

    override var isAsynchronous: Bool { true }
    override var isFinished: Bool { isOver.load(ordering: .acquiring) }

    override func start() {
        willChangeValue(forKey: "isFinished")
        isOver.store(true, ordering: .releasing)
        didChangeValue(forKey: "isFinished")
        do { try code() } catch { self.error.withLock { $0 = error } }
    }
}

/// Rule L10: the system survives operations that finish before their queue started them.
@Suite(.timeLimit(.minutes(5)), .tags(.threads)) struct LifeEarlyFinishTests {
    /// Adds the operation, lets it finish early, and expects the results that the rule requires.
    private func expectSurvival(
        in queue: OperationQueue, of bird: EarlyBird = EarlyBird(), startsLater: () -> Void = {},
        add: ((EarlyBird) -> Void)? = nil, finish: (EarlyBird) -> Void = { $0.finish() }
    ) {
        let dependent = CountingOperation()
        dependent.addDependency(bird)
        let before = queue.countNow
        if let add { add(bird) } else { queue.addOperation(bird) }
        finish(bird)
        bird.waitUntilFinished()
        #expect(queue.countNow == before)
        #expect(!queue.operationsNow.contains(bird))
        #expect(bird.starts.load(ordering: .relaxed) == 0)
        bird.completed.pass()
        #expect(bird.completions.load(ordering: .relaxed) == 1)
        queue.addOperation(dependent)
        startsLater()
        dependent.waitUntilFinished()
        queue.waitUntilAllOperationsAreFinished()
        #expect(dependent.runCount == 1)
    }

    /// Rules L10, M8: it holds the only slot of its queue no longer.
    @Test(arguments: [false, true])
    func `after its end an operation may wait for others of its serial queue, and for all`(waitsForAll: Bool) {
        let (queue, other, done) = (OperationQueue.serial(), CountingOperation(), Gate())
        let lingering = Lingering { () throws(OperationError) in
            defer { done.open() }
            if waitsForAll {
                try queue.tryWaitUntilAllOperationsAreFinished()
            } else {
                try other.tryWaitUntilFinished()
            }
        }
        queue.addOperations([lingering, other], waitUntilFinished: false)
        done.pass()
        queue.waitUntilAllOperationsAreFinished()
        #expect(lingering.error.withLock { $0 } == nil && other.runCount == 1)
    }

    /// Rule L10.
    @Test(arguments: Spelling.allCases) func `in a suspended queue`(spelling: Spelling) {
        let queue = OperationQueue.suspended()
        expectSurvival(in: queue, of: EarlyBird(spelling), startsLater: { queue.isSuspended = false })
    }

    /// Rule L10.
    @Test func `behind another operation of a serial queue`() {
        let queue = OperationQueue.serial()
        let blocker = GatedOperation()
        queue.addOperation(blocker)
        blocker.began.pass()
        expectSurvival(in: queue, startsLater: { blocker.mayEnd.open() })
    }

    /// Rule L10.
    @Test func `behind a barrier`() {
        let queue = OperationQueue()
        let gate = Gate()
        queue.addBarrierBlock { gate.pass() }
        expectSurvival(in: queue, startsLater: { gate.open() })
    }

    /// Rule L10.
    @Test func `in a queue of width 0`() {
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 0
        expectSurvival(in: queue, startsLater: { queue.maxConcurrentOperationCount = 2 })
    }

    /// Rule L10.
    @Test func `while it waits for a dependency that never finishes`() {
        let bird = EarlyBird()
        bird.addDependency(Operation())
        expectSurvival(in: OperationQueue(), of: bird)
    }

    /// Rule L10.
    @Test func `when its overridden start is called by hand although it is in a queue`() {
        let queue = OperationQueue.suspended()
        let operation = AsynchronousOperation()
        operation.onStart = { $0.finish() }
        queue.addOperation(operation)
        operation.start()
        operation.waitUntilFinished()
        #expect(queue.countNow == 0)
        queue.isSuspended = false
        let later = CountingOperation()
        queue.addOperation(later)
        later.waitUntilFinished()
        #expect(later.runCount == 1)
    }

    /// Rules L10 and L8.
    @Test(arguments: [false, true]) func `from inside isReady, while being added`(inBatch: Bool) {
        for queue in [OperationQueue(), .serial()] {
            let bird = EarlyBird()
            bird.whileAsked.withLock { $0 = { $0.finish() } }
            expectSurvival(
                in: queue, of: bird,
                add: { inBatch ? queue.addOperations([$0], waitUntilFinished: false) : queue.addOperation($0) },
                finish: { _ in })
        }
    }

    /// Rule L10.
    @Test func `from inside queuePriority, while being added`() {
        let bird = EarlyBird()
        bird.whileAskedForPriority.withLock { $0 = { $0.finish() } }
        expectSurvival(in: OperationQueue(), of: bird, finish: { _ in })
    }

    /// Rule L10.
    @Test func `by another thread, while being added`() {
        let bird = EarlyBird()
        let asked = Gate()
        let finished = Gate()
        bird.whileAsked.withLock {
            $0 = { _ in
                asked.open()
                finished.pass()
            }
        }
        let other = TestThread {
            asked.pass()
            bird.finish()
            finished.open()
        }
        expectSurvival(in: OperationQueue(), of: bird, finish: { _ in })
        other.join()
    }

    /// Rule L10.
    @Test func `from inside isReady, when its last dependency finishes`() {
        let bird = EarlyBird()
        let dependency = Operation()
        bird.addDependency(dependency)
        expectSurvival(
            in: OperationQueue(), of: bird,
            finish: { bird in
                bird.whileAsked.withLock { $0 = { $0.finish() } }
                dependency.start()
            })
    }

    /// Rule L10.
    @Test(arguments: [true, false])
    func `from inside isReady of another operation of the same batch`(comesFirst: Bool) {
        let queue = OperationQueue()
        let bird = EarlyBird()
        let other = EarlyBird()
        bird.addDependency(Operation())
        other.whileAsked.withLock { $0 = { [bird] _ in bird.finish() } }
        queue.addOperations(comesFirst ? [bird, other] : [other, bird], waitUntilFinished: false)
        bird.waitUntilFinished()
        #expect(bird.starts.load(ordering: .relaxed) == 0)
        other.began.pass()
        other.finish()
        queue.waitUntilAllOperationsAreFinished()
        #expect(queue.countNow == 0)
    }

    /// Rules L10 and C6.
    @Test func `from inside its own cancel`() {
        let queue = OperationQueue.serial()
        let blocker = GatedOperation()
        let operations = (0..<20).map { _ in FinishesInCancel() }
        queue.addOperation(blocker)
        blocker.began.pass()
        operations.forEach(queue.addOperation)
        queue.cancelAllOperations()
        operations.forEach { $0.waitUntilFinished() }
        #expect(queue.countNow == 1)
        blocker.mayEnd.open()
        queue.waitUntilAllOperationsAreFinished()
        #expect(operations.allSatisfy { $0.starts.load(ordering: .relaxed) == 0 })
    }

    /// Rule L10.
    @Test func `at the moment when the queue starts it`() {
        let queue = OperationQueue()
        for round in 0..<Stress.rounds(2000, least: 300) {
            let bird = EarlyBird(Spelling.allCases[round % 3])
            let other = TestThread { bird.finish() }
            // Refused if the end came first.
            try? queue.tryAddOperation(bird)
            bird.waitUntilFinished()
            bird.completed.pass()
            other.join()
            if bird.completions.load(ordering: .relaxed) != 1 { Issue.record("completed twice") }
            if queue.operationsNow.contains(bird) { Issue.record("still in the queue") }
        }
        queue.waitUntilAllOperationsAreFinished()
    }

    /// Rules L10 and L8: a thread that would have finished the operation finds that it has not finished.
    @Test(arguments: [false, true]) func `an end that is revoked at once, while being added`(inBatch: Bool) {
        let queue = OperationQueue()
        // A survey of a stall would read isReady again.
        queue.stallDelay = .zero
        let operation = Wavering()
        operation.wavers.store(true, ordering: .relaxed)
        if inBatch { queue.addOperations([operation], waitUntilFinished: false) } else { queue.addOperation(operation) }
        operation.waitUntilFinished()
        #expect(operation.runCount == 1)
    }

    /// Rules L10 and L8.
    @Test func `an end that is revoked at once, when the last dependency finishes`() {
        let queue = OperationQueue()
        // A survey of a stall would read isReady again.
        queue.stallDelay = .zero
        let (operation, dependency) = (Wavering(), Operation())
        operation.addDependency(dependency)
        queue.addOperation(operation)
        operation.wavers.store(true, ordering: .relaxed)
        dependency.start()
        operation.waitUntilFinished()
        #expect(operation.runCount == 1)
    }
}
