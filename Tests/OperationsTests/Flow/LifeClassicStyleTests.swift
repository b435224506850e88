import Operations
import TestSupport
import Testing
import Synchronization

/// Rule L14: classic subclasses work unchanged. The queue reads and calls their overrides.
@Suite(.timeLimit(.minutes(5))) struct LifeClassicStyleTests {
    /// Rule L14.
    @Test func `operations that jump to a thread of their own run there, one after the other`() {
        let loop = LoopThread()
        let queue = OperationQueue.serial()
        let operations = (0..<200).map { _ in LoopOperation(loop) }
        for (first, second) in zip(operations, operations.dropFirst(100)) { second.addDependency(first) }
        operations.forEach(queue.addOperation)
        queue.waitUntilAllOperationsAreFinished()
        let home = Journal<ThreadIdentity>()
        let asked = Gate()
        loop.perform {
            home.append(.current)
            asked.open()
        }
        asked.pass()
        #expect(operations.allSatisfy { $0.isFinished && $0.threads.entries == home.entries })
        loop.stop()
    }

    /// Rules L14 and C2.
    @Test(.tags(.threads)) func `operations that jump to a thread of their own can be cancelled at any time`() {
        let loop = LoopThread()
        let queue = OperationQueue()
        for _ in 0..<50 {
            let operations = (0..<20).map { _ in LoopOperation(loop) }
            for operation in operations { queue.addOperation(operation) }
            queue.cancelAllOperations()
            queue.waitUntilAllOperationsAreFinished()
            #expect(operations.allSatisfy { $0.isFinished && !$0.isExecuting })
        }
        loop.stop()
    }

    /// Rule L14.
    @Test(arguments: [-1, 1, 4]) func `operations with a state of their own run in order of dependency`(width: Int) {
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = width
        let loop = LoopThread()
        let operations = (0..<200).map { _ in StateOperation() }
        for (first, second) in zip(operations, operations.dropFirst()) { second.addDependency(first) }
        for operation in operations.reversed() { queue.addOperation(operation) }
        for operation in operations {
            operation.began.pass()
            #expect(operation.dependencies.allSatisfy { $0.isFinished })
            loop.perform { operation.state = .finished }
        }
        queue.waitUntilAllOperationsAreFinished()
        #expect(operations.allSatisfy { $0.mains.load(ordering: .relaxed) == 1 })
        loop.stop()
    }

    /// Rules L14 and C2.
    @Test func `an operation with a state of its own that is cancelled while waiting finishes without main`() {
        let queue = OperationQueue()
        let operation = StateOperation()
        operation.addDependency(Operation())
        queue.addOperation(operation)
        operation.cancel()
        operation.waitUntilFinished()
        #expect(operation.mains.load(ordering: .relaxed) == 0)
    }

    /// Rules L14, C2 and A4: the queue starts the operation early, and `start()`, which reads only its own flag, runs
    /// `main()`.
    @Test func `an operation whose cancel only sets and announces its own flag is cancelled`() {
        let queue = OperationQueue()
        let operation = FlagOperation()
        let dependent = CountingOperation()
        operation.addDependency(Operation())
        dependent.addDependency(operation)
        queue.addOperations([operation, dependent], waitUntilFinished: false)
        queue.cancelAllOperations()
        queue.waitUntilAllOperationsAreFinished()
        #expect(operation.isCancelled && operation.isFinished && operation.runCount == 1)
        #expect(dependent.isFinished && dependent.runCount == 0)
    }

    /// Rules L14, C4 and A4.
    @Test func `an operation that has set its own flag before it is added is ready and ends in main`() {
        let operation = FlagOperation()
        operation.addDependency(Operation())
        operation.cancel()
        #expect(operation.isReady)
        OperationQueue().addOperation(operation)
        operation.waitUntilFinished()
        #expect(operation.isCancelled && operation.runCount == 1)
    }

    /// Rules L14 and L8.
    @Test(arguments: [true, false])
    func `operations that look at conditions inside isReady run once`(usesLoop: Bool) {
        let loop = LoopThread()
        let queue = EvaluatingQueue()
        let operations = (0..<300).map { _ in EvaluatingOperation(evaluator: usesLoop ? loop : nil) }
        for (index, operation) in operations.enumerated() where index > 0 {
            operation.addDependency(operations[index / 2])
        }
        for operation in operations { queue.addOperation(operation) }
        queue.waitUntilAllOperationsAreFinished()
        #expect(operations.allSatisfy { $0.isFinished && $0.mains.load(ordering: .relaxed) == 1 })
        #expect(operations.allSatisfy { $0.evaluations.load(ordering: .relaxed) == 1 })
        loop.stop()
    }

    private final class Eager: CountingOperation, @unchecked Sendable {
        override var isReady: Bool { true }
    }

    /// Rule L14.
    @Test func `an overridden isReady that ignores dependencies decides`() {
        let operation = Eager()
        operation.addDependency(Operation())
        let queue = OperationQueue()
        queue.addOperation(operation)
        operation.waitUntilFinished()
        #expect(operation.runCount == 1)
    }

    private final class OwnPriority: Operation, @unchecked Sendable {
        let mine = Guarded(QueuePriority.normal)
        let log: Journal<Int>
        let number: Int
        init(_ number: Int, _ log: Journal<Int>) {
            self.number = number
            self.log = log
        }

        override var queuePriority: QueuePriority {
            get { mine.withLock { $0 } }
            set {
                willChangeValue(forKey: "queuePriority")
                mine.withLock { $0 = newValue }
                didChangeValue(forKey: "queuePriority")
            }
        }

        override func main() { log.append(number) }
    }

    /// Rule L14.
    @Test func `an overridden queuePriority decides the order`() {
        let queue = OperationQueue.serial()
        queue.isSuspended = true
        let log = Journal<Int>()
        let operations = (0..<5).map { OwnPriority($0, log) }
        operations[3].queuePriority = .veryHigh
        operations.forEach(queue.addOperation)
        operations[1].queuePriority = .veryLow
        operations[4].queuePriority = .high
        queue.isSuspended = false
        queue.waitUntilAllOperationsAreFinished()
        #expect(log.entries == [3, 4, 0, 2, 1])
    }

    private final class Jumping: CountingOperation, @unchecked Sendable {
        let loop: LoopThread
        let threads = Journal<ThreadIdentity>()
        init(_ loop: LoopThread) { self.loop = loop }
        override func start() { loop.perform { super.start() } }
        override func main() {
            super.main()
            threads.append(.current)
        }
    }

    /// Rule L14.
    @Test func `a start that only calls super's start on another thread works`() {
        let loop = LoopThread()
        let queue = OperationQueue.serial()
        let operations = (0..<50).map { _ in Jumping(loop) }
        operations.forEach(queue.addOperation)
        queue.waitUntilAllOperationsAreFinished()
        #expect(operations.allSatisfy { $0.runCount == 1 })
        #expect(operations.allSatisfy { $0.threads.entries == operations[0].threads.entries })
        loop.stop()
    }
}
