import Operations
import Synchronization
import TestSupport
import Testing

/// Ready when its own condition and its superclass's condition are true.
class ConditionOperation: CountingOperation, @unchecked Sendable {
    let spelling: Spelling
    private let condition = Atomic(false)
    /// Called inside `isReady`, between the read of the condition and the return.
    let whileAsked = Guarded<(@Sendable (ConditionOperation) -> Void)?>(nil)

    init(_ spelling: Spelling = .key, isMet: Bool = false) {
        self.spelling = spelling
        condition.store(isMet, ordering: .relaxed)
    }

    override var isReady: Bool {
        let answer = super.isReady && condition.load(ordering: .acquiring)
        whileAsked.withLock { $0.take() }?(self)
        return answer
    }

    func set(_ isMet: Bool) {
        switch spelling {
        case .key: willChangeValue(forKey: "isReady")
        case .shortKey: willChangeValue(forKey: "ready")
        case .keyPath: willChangeValue(for: \.isReady)
        }
        condition.store(isMet, ordering: .releasing)
        switch spelling {
        case .key: didChangeValue(forKey: "isReady")
        case .shortKey: didChangeValue(forKey: "ready")
        case .keyPath: didChangeValue(for: \.isReady)
        }
    }
}

/// Rule L8: overridden readiness; no announcement is lost.
@Suite(.timeLimit(.minutes(5)), .tags(.threads)) struct LifeReadinessTests {
    /// Rule L8.
    @Test(arguments: Spelling.allCases)
    func `an operation starts when its readiness is announced, and not before`(spelling: Spelling) {
        let queue = OperationQueue.serial()
        let operation = ConditionOperation(spelling)
        queue.addOperation(operation)
        let follower = CountingOperation()
        queue.addOperation(follower)
        follower.waitUntilFinished()
        #expect(operation.runCount == 0 && queue.countNow == 1)
        operation.set(true)
        operation.waitUntilFinished()
        #expect(operation.runCount == 1)
    }

    /// Rule L8.
    @Test(arguments: [false, true])
    func `a change that is announced from inside isReady while being added is not lost`(inBatch: Bool) {
        let queue = OperationQueue()
        let operation = ConditionOperation()
        operation.whileAsked.withLock { $0 = { $0.set(true) } }
        if inBatch {
            queue.addOperations([operation], waitUntilFinished: false)
        } else {
            queue.addOperation(operation)
        }
        operation.waitUntilFinished()
        #expect(operation.runCount == 1)
    }

    /// Rule L8.
    @Test func `a change that is announced by another thread while isReady is asked is not lost`() {
        let queue = OperationQueue()
        let operation = ConditionOperation()
        let asked = Gate()
        let announced = Gate()
        operation.whileAsked.withLock {
            $0 = { _ in
                asked.open()
                announced.pass()
            }
        }
        let other = TestThread {
            asked.pass()
            operation.set(true)
            announced.open()
        }
        queue.addOperation(operation)
        operation.waitUntilFinished()
        other.join()
        #expect(operation.runCount == 1)
    }

    /// Rule L8.
    @Test(arguments: [true, false])
    func `a change that is announced while a finished dependency reads isReady is not lost`(isCancelled: Bool) {
        let queue = OperationQueue()
        let operation = ConditionOperation()
        let dependency = Operation()
        operation.addDependency(dependency)
        queue.addOperation(operation)
        operation.whileAsked.withLock { $0 = { $0.set(true) } }
        if isCancelled { dependency.cancel() }
        dependency.start()
        operation.waitUntilFinished()
        #expect(operation.runCount == 1)
    }

    /// Rule L8.
    @Test func `a dependency that finishes while isReady is asked is not lost`() {
        let queue = OperationQueue()
        let operation = ConditionOperation(isMet: true)
        let dependency = Operation()
        operation.addDependency(dependency)
        operation.whileAsked.withLock { $0 = { _ in dependency.start() } }
        queue.addOperation(operation)
        operation.waitUntilFinished()
        #expect(operation.runCount == 1)
    }

    /// Rule L8.
    @Test func `a dependency that is added while isReady is read delays the operation`() {
        let queue = OperationQueue.serial()
        let operation = ConditionOperation(isMet: true)
        let dependency = Operation()
        operation.whileAsked.withLock { $0 = { $0.addDependency(dependency) } }
        queue.addOperation(operation)
        let follower = Operation()
        queue.addOperation(follower)
        follower.waitUntilFinished()
        #expect(operation.runCount == 0)
        dependency.start()
        operation.waitUntilFinished()
        #expect(operation.runCount == 1)
    }

    /// Rules L8 and C2.
    @Test func `an operation that is cancelled while isReady is asked finishes without main`() {
        let queue = OperationQueue()
        let operation = ConditionOperation(isMet: true)
        operation.addDependency(Operation())
        operation.whileAsked.withLock { $0 = { $0.cancel() } }
        queue.addOperation(operation)
        operation.waitUntilFinished()
        #expect(operation.runCount == 0)
    }

    /// Rule L8.
    @Test func `an operation that announces that it is no longer ready does not start`() {
        let queue = OperationQueue.serial()
        let blocker = GatedOperation()
        let operation = ConditionOperation(isMet: true)
        let follower = CountingOperation()
        queue.addOperation(blocker)
        blocker.began.pass()
        queue.addOperation(operation)
        queue.addOperation(follower)
        operation.set(false)
        blocker.mayEnd.open()
        follower.waitUntilFinished()
        #expect(operation.runCount == 0)
        operation.set(true)
        operation.waitUntilFinished()
        #expect(operation.runCount == 1)
    }

    /// Rule L8.
    @Test func `in a queue without a worker, the last announcement decides`() {
        let queue = OperationQueue.suspended()
        queue.maxConcurrentOperationCount = 1
        let operation = ConditionOperation()
        queue.addOperation(operation)
        for isMet in [true, false, true, true, false] { operation.set(isMet) }
        let follower = CountingOperation()
        queue.addOperation(follower)
        queue.isSuspended = false
        follower.waitUntilFinished()
        #expect(operation.runCount == 0)
        operation.set(true)
        operation.waitUntilFinished()
    }

    /// Rule L8.
    @Test func `no announcement of another thread is lost while operations are added`() {
        let rounds = 3000
        let queue = OperationQueue()
        let operations = (0..<rounds).map { ConditionOperation(Spelling.allCases[$0 % 3]) }
        let progress = Atomic(0)
        let other = TestThread {
            for (index, operation) in operations.enumerated() {
                // With a short delay, so that the announcement and the addition overlap.
                while progress.load(ordering: .relaxed) < index {}
                operation.set(true)
            }
        }
        for (index, operation) in operations.enumerated() {
            progress.store(index, ordering: .relaxed)
            queue.addOperation(operation)
        }
        other.join()
        queue.waitUntilAllOperationsAreFinished()
        #expect(operations.allSatisfy { $0.runCount == 1 })
    }

    /// Rule L8.
    @Test func `an operation whose condition several threads flip is ready at the end`() {
        for _ in 0..<100 {
            let queue = OperationQueue()
            let operation = ConditionOperation()
            let flippers = (0..<2).map { _ in TestThread { for round in 0..<20 { operation.set(round % 2 == 1) } } }
            queue.addOperation(operation)
            flippers.forEach { $0.join() }
            operation.set(true)
            operation.waitUntilFinished()
            #expect(operation.runCount == 1)
        }
    }
}
