import Operations
import Synchronization
import TestSupport
import Testing

/// Rule D9: no wake-up is ever lost. `Stress` sets the size.
@Suite(.onOwnThread, .timeLimit(.minutes(10)), .tags(.threads, .release, .slow)) struct LostWakeupStress {
    private static let pairs = Stress.rounds(100_000, small: 1_500)

    @Test(arguments: [1, 2])
    func `a dependent added while its dependency finishes always starts`(queues: Int) {
        let (one, two) = (OperationQueue(), OperationQueue())
        let other = queues == 1 ? one : two
        let count = Atomic<Int>(0)
        for _ in 0..<Self.pairs {
            let first = BlockOperation { count.wrappingAdd(1, ordering: .relaxed) }
            let second = BlockOperation { count.wrappingAdd(1, ordering: .relaxed) }
            second.addDependency(first)
            one.addOperation(first)
            other.addOperation(second)
        }
        one.waitUntilAllOperationsAreFinished()
        other.waitUntilAllOperationsAreFinished()
        let ran = count.load(ordering: .relaxed)
        #expect(ran == 2 * Self.pairs)
    }

    @Test func `a dependency added while it finishes does not delay the dependent`() {
        let queue = OperationQueue()
        let count = Atomic<Int>(0)
        for _ in 0..<Self.pairs {
            let first = BlockOperation { count.wrappingAdd(1, ordering: .relaxed) }
            let second = BlockOperation { count.wrappingAdd(1, ordering: .relaxed) }
            queue.addOperation(first)
            second.addDependency(first)
            queue.addOperation(second)
        }
        queue.waitUntilAllOperationsAreFinished()
        let ran = count.load(ordering: .relaxed)
        #expect(ran == 2 * Self.pairs)
    }

    /// Two workers run the operations before the barrier. Each may leave the queue to the other.
    @Test func `a barrier behind tiny operations runs, regardless of the worker that leaves last`() {
        let queue = OperationQueue()
        for _ in 0..<Stress.rounds(5_000, small: 60) {
            for _ in 0..<Int.random(in: 60...140) { queue.addOperation {} }
            queue.addBarrierBlock {}
            queue.waitUntilAllOperationsAreFinished()
        }
    }

    /// A completion block that is set while the operation ends runs when no other thread may know that the worker is busy.
    @Test func `a completion block that waits for an operation added meanwhile sees its end`() {
        let queue = OperationQueue()
        for _ in 0..<Stress.rounds(2_000) {
            for _ in 0..<100 { queue.addOperation {} }
            let operation = BlockOperation {}
            queue.addOperation(operation)
            operation.completionBlock = {
                let other = BlockOperation {}
                queue.addOperation(other)
                other.waitUntilFinished()
            }
            queue.waitUntilAllOperationsAreFinished()
        }
    }

    @Test func `a dependency added and removed by several threads at once delays no operation in the end`() {
        for _ in 0..<Stress.rounds(2_000) {
            let (dependent, dependency, meeting) = (Operation(), Operation(), Gate(3))
            let adders = (0..<2).map { _ in
                TestThread {
                    meeting.meet()
                    for _ in 0..<20 { dependent.addDependency(dependency) }
                }
            }
            let remover = TestThread {
                meeting.meet()
                for _ in 0..<20 { dependent.removeDependency(dependency) }
            }
            for thread in adders + [remover] { thread.join() }
            if Bool.random() { dependency.start() } else { dependent.removeDependency(dependency) }
            #expect(dependent.isReady)
        }
    }

    /// A thread that changes the priority may see the operation in its queue, and has to find that queue.
    @Test func `an operation whose priority changes while it is being added always runs`() {
        let (queue, changers) = (OperationQueue(), OperationQueue())
        changers.maxConcurrentOperationCount = 1
        let next = Guarded<BlockOperation?>(nil)
        let isOver = Atomic(false)
        changers.addOperation {
            var round = 0
            while !isOver.load(ordering: .relaxed) {
                round += 1
                next.withLock { $0 }?.queuePriority = round % 2 == 0 ? .low : .high
            }
        }
        let count = Atomic<Int>(0)
        for _ in 0..<Stress.rounds(100_000) {
            let operation = BlockOperation { count.wrappingAdd(1, ordering: .relaxed) }
            next.withLock { $0 = operation }
            queue.addOperation(operation)
        }
        queue.waitUntilAllOperationsAreFinished()
        isOver.store(true, ordering: .relaxed)
        changers.waitUntilAllOperationsAreFinished()
        let ran = count.load(ordering: .relaxed)
        #expect(ran == Stress.rounds(100_000))
    }

    @Test func `a waiter never sleeps through the end of an operation`() {
        let queue = OperationQueue()
        for _ in 0..<Stress.rounds(20_000) {
            let operation = BlockOperation {}
            queue.addOperation(operation)
            operation.waitUntilFinished()
        }
    }

    @Test func `a waiter never sleeps through the end of all operations`() {
        let queue = OperationQueue()
        for _ in 0..<Stress.rounds(20_000) {
            for _ in 0..<3 { queue.addOperation {} }
            queue.waitUntilAllOperationsAreFinished()
        }
    }

    @Test(arguments: [1, 2, 8, OperationQueue.defaultMaxConcurrentOperationCount])
    func `operations added by four threads are not lost`(width: Int) {
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = width
        let count = Atomic<Int>(0)
        let each = Stress.rounds(25_000, small: 500)
        let adders = OperationQueue()
        adders.maxConcurrentOperationCount = 4
        for _ in 0..<4 {
            adders.addOperation {
                for _ in 0..<each { queue.addOperation { count.wrappingAdd(1, ordering: .relaxed) } }
            }
        }
        adders.waitUntilAllOperationsAreFinished()
        queue.waitUntilAllOperationsAreFinished()
        let ran = count.load(ordering: .relaxed)
        #expect(ran == 4 * each)
    }

    /// Ends when the test ends it.
    private final class Asynchronous: Operation, @unchecked Sendable {
        private let state = Atomic<Int>(0)

        var hasStarted: Bool { state.load(ordering: .acquiring) > 0 }
        override var isFinished: Bool { state.load(ordering: .acquiring) > 1 }
        override func start() { state.store(1, ordering: .releasing) }

        func finish() {
            state.store(2, ordering: .releasing)
            didChangeValue(forKey: "isFinished")
        }
    }

    /// The thread that frees the slot is not a worker, which would look again.
    @Test func `an operation that is added as an asynchronous one ends elsewhere is run`() {
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 1
        let operations = (0..<Stress.rounds(20_000)).map { _ in Asynchronous() }
        let (turn, pause) = (Counter(), Counter())
        let finisher = TestThread {
            for round in operations.indices {
                while turn.value <= round { Pause.yield() }
                operations[round].finish()
            }
        }
        for (round, operation) in operations.enumerated() {
            queue.addOperation(operation)
            while !operation.hasStarted { Pause.yield() }
            turn.add()
            // A different pause each round, around the time that leaving the queue takes.
            for _ in 0..<(round % 200) { pause.add() }
            let next = BlockOperation {}
            queue.addOperation(next)
            next.waitUntilFinished()
        }
        finisher.join()
    }

    /// The adding thread has seen that the queue is held. The resuming thread has looked before.
    @Test func `an operation that is added as another thread resumes the queue is run`() {
        let queue = OperationQueue()
        let (turn, done, pause) = (Counter(), Counter(), Counter())
        let rounds = Stress.rounds(20_000)
        let resumer = TestThread {
            for round in 0..<rounds {
                while turn.value <= round { Pause.yield() }
                queue.isSuspended = false
                done.add()
            }
        }
        for round in 0..<rounds {
            queue.isSuspended = true
            turn.add()
            for _ in 0..<(round % 100) { pause.add() }
            let next = BlockOperation {}
            queue.addOperation(next)
            next.waitUntilFinished()
            while done.value <= round { Pause.yield() }
        }
        resumer.join()
    }

    private final class Counter: Sendable {
        private let number = Atomic<Int>(0)

        var value: Int { number.load(ordering: .acquiring) }

        func add() { number.add(1, ordering: .acquiringAndReleasing) }
    }
}
