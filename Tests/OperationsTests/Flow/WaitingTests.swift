import Synchronization
import TestSupport
import Testing

@testable import Operations

/// Rules W3 and W4: waiting, by threads.
@Suite(.timeLimit(.minutes(5)), .tags(.threads)) struct WaitingTests {
    /// Rule W3.
    @Test(arguments: [-1, 1, 3])
    func `a thread that has waited finds that the operation has left the queue, each time`(width: Int) {
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = width
        var wrong = 0
        for round in 0..<Stress.rounds(4000, least: 200) {
            let operation: Operation
            switch round % 4 {
            case 0: operation = BlockOperation {}
            case 1:
                operation = CountingOperation()
                operation.cancel()
            case 2: operation = CountingOperation()
            default:
                let asynchronous = AsynchronousOperation()
                asynchronous.onStart = { $0.finish() }
                operation = asynchronous
            }
            queue.addOperation(operation)
            operation.waitUntilFinished()
            if queue.countNow != 0 || !operation.isFinished { wrong += 1 }
        }
        #expect(wrong == 0)
    }

    /// Rule M8 forbids this wait in a serial queue only.
    @Test func `an operation of a queue with two places may wait for an operation that has not started`() {
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 2
        let (dependency, later) = (BlockOperation {}, BlockOperation {})
        later.addDependency(dependency)
        let isRefused = Guarded(false)
        queue.addOperation {
            queue.addOperation(later)
            do { try later.checkWait() } catch { isRefused.withLock { $0 = true } }
            dependency.start()
        }
        queue.waitUntilAllOperationsAreFinished()
        #expect(!isRefused.withLock { $0 })
    }

    /// Rule W3.
    @Test func `an asynchronous operation that ends on its own thread has left the queue too`() {
        let queue = OperationQueue()
        let loop = LoopThread()
        var wrong = 0
        for _ in 0..<Stress.rounds(2000, least: 400) {
            let operation = AsynchronousOperation()
            operation.onStart = { operation in loop.perform { operation.finish() } }
            queue.addOperation(operation)
            operation.waitUntilFinished()
            if queue.countNow != 0 || !queue.operationsNow.isEmpty { wrong += 1 }
        }
        loop.stop()
        #expect(wrong == 0)
    }

    /// Rule W3.
    @Test func `a batch that was waited for has left the queue`() {
        let queue = OperationQueue()
        var wrong = 0
        for _ in 0..<500 {
            let operations = (0..<8).map { _ in CountingOperation() }
            queue.addOperations(operations, waitUntilFinished: true)
            if queue.countNow != 0 || !operations.allSatisfy({ $0.runCount == 1 }) { wrong += 1 }
        }
        #expect(wrong == 0)
    }

    /// Rule W3.
    @Test func `many threads may wait for one operation, in a queue or not`() {
        for inQueue in [true, false] {
            let operation = GatedOperation()
            let waiting = Gate(8)
            let waiters = (0..<8).map { _ in
                TestThread {
                    waiting.open()
                    operation.waitUntilFinished()
                    if !operation.isFinished { Issue.record("not finished") }
                }
            }
            waiting.pass()
            operation.mayEnd.open()
            if inQueue { OperationQueue().addOperation(operation) } else { operation.start() }
            waiters.forEach { $0.join() }
        }
    }

    /// Rule W3.
    @Test func `waiting for a finished operation returns at once`() {
        let operation = CountingOperation()
        operation.start()
        operation.waitUntilFinished()
        #expect(operation.isFinished)
    }

    /// Rule W3.
    @Test func `an operation may wait for one of another queue, and with a free slot for one of its own`() {
        let other = OperationQueue.serial()
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 2
        let far = CountingOperation()
        let near = CountingOperation()
        let log = Journal<Bool>()
        queue.addOperation { [unowned queue] in
            other.addOperation(far)
            far.waitUntilFinished()
            queue.addOperation(near)
            near.waitUntilFinished()
            log.append(far.isFinished && near.isFinished)
        }
        queue.waitUntilAllOperationsAreFinished()
        #expect(log.entries == [true])
    }

    /// Rule W4.
    @Test func `waiting for all returns at once in an empty queue, suspended or of width 0`() {
        OperationQueue().waitUntilAllOperationsAreFinished()
        OperationQueue.suspended().waitUntilAllOperationsAreFinished()
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 0
        queue.waitUntilAllOperationsAreFinished()
        queue.addOperations([], waitUntilFinished: true)
    }

    /// Rule W4.
    @Test func `waiting for all waits for barriers too`() {
        let queue = OperationQueue()
        for _ in 0..<500 {
            let log = Journal<Int>()
            queue.addOperation { log.append(1) }
            queue.addBarrierBlock { log.append(2) }
            queue.waitUntilAllOperationsAreFinished()
            if log.entries != [1, 2] { Issue.record("\(log.entries)") }
        }
    }

    /// Rule W4.
    @Test func `waiting for all includes operations that other threads add meanwhile`() {
        let queue = OperationQueue()
        let first = GatedOperation()
        let added = (0..<100).map { _ in CountingOperation() }
        queue.addOperation(first)
        first.began.pass()
        let waiting = Gate()
        let adder = TestThread {
            waiting.pass()
            added.forEach(queue.addOperation)
            first.mayEnd.open()
        }
        waiting.open()
        queue.waitUntilAllOperationsAreFinished()
        #expect(added.allSatisfy { $0.isFinished })
        adder.join()
    }

    /// Rule W4.
    @Test func `waiting for all includes operations that operations add, at any depth`() {
        let queue = OperationQueue()
        let log = Journal<Int>()
        @Sendable func add(_ depth: Int) {
            queue.addOperation {
                log.append(depth)
                if depth > 0 { add(depth - 1) }
            }
        }
        add(500)
        queue.waitUntilAllOperationsAreFinished()
        #expect(log.entries == Array((0...500).reversed()))
    }

    /// Rule W4.
    @Test func `many threads that wait for all and add see their own operations done`() {
        let queue = OperationQueue()
        let wrong = Atomic(0)
        let threads = (0..<4).map { _ in
            TestThread {
                for _ in 0..<300 {
                    let operation = CountingOperation()
                    queue.addOperation(operation)
                    queue.waitUntilAllOperationsAreFinished()
                    if operation.runCount != 1 { wrong.add(1, ordering: .relaxed) }
                }
            }
        }
        threads.forEach { $0.join() }
        #expect(wrong.load(ordering: .relaxed) == 0)
    }
}
