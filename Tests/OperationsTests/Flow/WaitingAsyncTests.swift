import Operations
import TestSupport
import Testing

/// Rules W3 and W4: waiting, by tasks.
@Suite(.timeLimit(.minutes(5)), .tags(.threads)) struct WaitingAsyncTests {
    /// Rule W3.
    @Test func `a task that has waited finds that the operation has left the queue, each time`() async {
        let queue = OperationQueue()
        var wrong = 0
        for round in 0..<Stress.rounds(3000, least: 600) {
            let operation = CountingOperation()
            if round % 3 == 0 { operation.cancel() }
            queue.addOperation(operation)
            await operation.waitUntilFinished()
            if queue.countNow != 0 || !operation.isFinished { wrong += 1 }
        }
        #expect(wrong == 0)
    }

    /// Rule W3: more tasks wait than there are threads for tasks, and the operation still runs.
    @Test func `waiting tasks block no thread`() async {
        let operation = GatedOperation()
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<500 { group.addTask { await operation.waitUntilFinished() } }
            group.addTask {
                OperationQueue().addOperation(operation)
                operation.mayEnd.open()
            }
        }
        #expect(operation.isFinished)
        await operation.waitUntilFinished()
    }

    /// Rule W4.
    @Test func `a task waits for all operations of a queue, including barriers and later additions`() async {
        let queue = OperationQueue()
        await queue.waitUntilAllOperationsAreFinished()
        for _ in 0..<300 {
            let log = Journal<Int>()
            queue.addOperation { [unowned queue] in
                log.append(1)
                queue.addOperation { log.append(2) }
                queue.addBarrierBlock { log.append(3) }
            }
            await queue.waitUntilAllOperationsAreFinished()
            if log.entries != [1, 2, 3] { Issue.record("\(log.entries)") }
        }
        #expect(queue.countNow == 0)
    }

    /// Rule W3.
    @Test func `a task adds a batch and waits for it`() async {
        let queue = OperationQueue()
        let operations = (0..<100).map { _ in CountingOperation() }
        await queue.addOperations(operations, waitUntilFinished: true)
        #expect(operations.allSatisfy { $0.runCount == 1 } && queue.countNow == 0)
        let later = GatedOperation()
        await queue.addOperations([later], waitUntilFinished: false)
        #expect(!later.isFinished)
        later.mayEnd.open()
        await queue.waitUntilAllOperationsAreFinished()
    }

    /// Rule W4.
    @Test func `threads and tasks wait for one queue together`() async {
        let queue = OperationQueue()
        let blocker = GatedOperation()
        queue.addOperation(blocker)
        let waiting = Gate(3)
        let threads = (0..<3).map { _ in
            TestThread {
                waiting.open()
                queue.waitUntilAllOperationsAreFinished()
                if !blocker.isFinished { Issue.record("too early") }
            }
        }
        async let first: Void = queue.waitUntilAllOperationsAreFinished()
        async let second: Void = blocker.waitUntilFinished()
        TestThread {
            waiting.pass()
            blocker.mayEnd.open()
        }.join()
        await first
        await second
        threads.forEach { $0.join() }
        #expect(blocker.isFinished)
    }
}
