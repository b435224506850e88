import Dispatch
import Operations
import Synchronization
import TestSupport
import Testing

/// Rules M1–M8: the throwing variants report the misuse and change nothing.
@Suite(.timeLimit(.minutes(5))) struct MisuseTwinTests {
    private func error(_ body: () throws(OperationError) -> Void) -> OperationError? {
        do { try body() } catch { return error }
        return nil
    }

    private func named(_ operation: Operation) -> Operation {
        operation.name = "it"
        return operation
    }

    /// The number of the rule in the text of an error, which also names the operation or the queue.
    private func rule(_ error: OperationError?, names: String = "'it'") -> String? {
        guard let text = error?.description, text.contains(names) else { return nil }
        return switch error {
        case .startedWhileExecuting, .startedWhileInQueue, .startedWhileNotReady: "M1"
        case .alreadyInQueue: "M2"
        case .addedWhileExecuting, .addedAfterFinish: "M3"
        default: nil
        }
    }

    /// Rule M1.
    @Test func `starting an operation that executes`() {
        let operation = GatedOperation()
        operation.name = "it"
        let thread = TestThread { operation.start() }
        operation.began.pass()
        let found = error { () throws(OperationError) in try operation.tryStart() }
        #expect(found == .startedWhileExecuting(operation: "GatedOperation 'it'"))
        #expect(rule(found) == "M1")
        #expect(operation.isExecuting)
        operation.mayEnd.open()
        thread.join()
        #expect(operation.isFinished)
    }

    /// Rules M1 and L7.
    @Test func `starting an asynchronous operation that executes, by hand or in a queue`() {
        for inQueue in [false, true] {
            let operation = SpellingOperation()
            operation.name = "it"
            if inQueue { OperationQueue().addOperation(operation) } else { operation.start() }
            operation.began.pass()
            #expect(rule(error { () throws(OperationError) in try operation.tryStart() }) == "M1")
            #expect(operation.starts.load(ordering: .relaxed) == 1)
            operation.finish()
            operation.waitUntilFinished()
        }
    }

    /// Rule M1.
    @Test func `starting an operation that is in a queue`() {
        let queue = OperationQueue.suspended()
        let operation = CountingOperation()
        queue.addOperation(named(operation))
        let found = error { () throws(OperationError) in try operation.tryStart() }
        #expect(found == .startedWhileInQueue(operation: "CountingOperation 'it'"))
        #expect(rule(found) == "M1")
        #expect(operation.runCount == 0 && queue.countNow == 1)
        queue.isSuspended = false
        operation.waitUntilFinished()
        #expect(operation.runCount == 1)
    }

    /// Rule M1.
    @Test(.tags(.threads)) func `starting an operation by hand while its queue starts it`() {
        let queue = OperationQueue()
        for _ in 0..<500 {
            let operation = CountingOperation()
            let meeting = Gate(2)
            let thread = TestThread {
                meeting.meet()
                for _ in 0..<20 { try? operation.tryStart() }
            }
            // After the addition. Before it, the starting thread would win, and the addition would be misuse.
            queue.addOperation(operation)
            meeting.meet()
            operation.waitUntilFinished()
            thread.join()
            #expect(operation.runCount == 1)
        }
    }

    private final class Conditional: CountingOperation, @unchecked Sendable {
        let isMet = Atomic(false)
        override var isReady: Bool { super.isReady && isMet.load(ordering: .relaxed) }
    }

    /// Rule M1.
    @Test func `starting an operation that is not ready`() throws {
        let operation = Conditional()
        let dependency = Operation()
        operation.addDependency(dependency)
        #expect(rule(error { () throws(OperationError) in try named(operation).tryStart() }) == "M1")
        dependency.start()
        let found = error { () throws(OperationError) in try operation.tryStart() }
        #expect(found == .startedWhileNotReady(operation: "Conditional 'it'"))
        #expect(operation.runCount == 0 && !operation.isFinished)
        operation.isMet.store(true, ordering: .relaxed)
        try operation.tryStart()
        #expect(operation.runCount == 1)
    }

    /// Rule M2.
    @Test func `adding an operation that is in a queue`() {
        let queues = [OperationQueue.suspended(), .suspended()]
        let operation = CountingOperation()
        queues[0].addOperation(named(operation))
        for queue in queues {
            let found = error { () throws(OperationError) in try queue.tryAddOperation(operation) }
            #expect(found == .alreadyInQueue(operation: "CountingOperation 'it'"))
            #expect(rule(found) == "M2")
        }
        #expect(queues[0].countNow == 1 && queues[1].countNow == 0)
        queues[0].isSuspended = false
        operation.waitUntilFinished()
        #expect(operation.runCount == 1)
    }

    /// Rule M2.
    @Test(.tags(.threads)) func `two threads that add one operation to two queues: one wins`() {
        for _ in 0..<500 {
            let queues = [OperationQueue.suspended(), .suspended()]
            let operation = CountingOperation()
            let meeting = Gate(2)
            let threads = queues.map { queue in
                TestThread {
                    meeting.meet()
                    try? queue.tryAddOperation(operation)
                }
            }
            threads.forEach { $0.join() }
            #expect(queues[0].countNow + queues[1].countNow == 1)
            queues.forEach { $0.isSuspended = false }
            operation.waitUntilFinished()
            #expect(operation.runCount == 1)
        }
    }

    /// Rules M2, M3 and Q2.
    @Test func `a batch with one invalid operation is not added at all`() throws {
        let queue = OperationQueue()
        let queued = CountingOperation()
        let waiting = OperationQueue.suspended()
        waiting.addOperation(queued)
        let finished = CountingOperation()
        finished.start()
        let good = (0..<5).map { _ in CountingOperation() }
        let batches: [([Operation], String)] = [
            (good + [named(queued)], "M2"), ([named(finished)] + good, "M3"),
            ([good[0], named(good[1]), good[2], good[1]], "M2"),
        ]
        for (batch, expected) in batches {
            let found = error { () throws(OperationError) in
                try queue.tryAddOperations(batch, waitUntilFinished: true)
            }
            #expect(rule(found) == expected)
            #expect(queue.countNow == 0)
            #expect(good.allSatisfy { $0.runCount == 0 && !$0.isFinished })
        }
        try queue.tryAddOperations(good, waitUntilFinished: true)
        #expect(good.allSatisfy { $0.runCount == 1 })
    }

    /// Rule M3.
    @Test func `adding an operation that executes`() {
        let queue = OperationQueue()
        let operation = GatedOperation()
        operation.name = "it"
        let thread = TestThread { operation.start() }
        operation.began.pass()
        let found = error { () throws(OperationError) in try queue.tryAddOperation(operation) }
        #expect(found == .addedWhileExecuting(operation: "GatedOperation 'it'"))
        #expect(rule(found) == "M3")
        #expect(queue.countNow == 0)
        operation.mayEnd.open()
        thread.join()
        #expect(operation.isFinished)
    }

    /// Rules M3 and L14.
    @Test func `adding an operation whose overridden states say that it executes or has finished`() {
        let queue = OperationQueue()
        let operation = SpellingOperation()
        operation.name = "it"
        operation.start()
        let executing = error { () throws(OperationError) in try queue.tryAddOperation(operation) }
        #expect(executing == .addedWhileExecuting(operation: "SpellingOperation 'it'"))
        operation.finishSilently()
        let finished = error { () throws(OperationError) in try queue.tryAddOperation(operation) }
        #expect(finished == .addedAfterFinish(operation: "SpellingOperation 'it'"))
        #expect(rule(finished) == "M3")
        operation.finish()
        operation.waitUntilFinished()
        #expect(queue.countNow == 0)
    }

    /// Rule M3.
    @Test func `adding an operation that has finished`() {
        let queue = OperationQueue()
        let operation = CountingOperation()
        queue.addOperations([named(operation)], waitUntilFinished: true)
        let found = error { () throws(OperationError) in try queue.tryAddOperation(operation) }
        #expect(found == .addedAfterFinish(operation: "CountingOperation 'it'"))
        #expect(queue.countNow == 0 && operation.runCount == 1)
    }

    /// Calls its hook when `isFinished` is read. Its overridden `isFinished` is true.
    private final class Spoiler: Operation, @unchecked Sendable {
        let whileAsked: @Sendable () -> Void
        init(whileAsked: @escaping @Sendable () -> Void) { self.whileAsked = whileAsked }
        override var isFinished: Bool {
            whileAsked()
            return true
        }
    }

    /// Rules Q2 and L10: the batch is refused, but the end of its member takes effect.
    @Test func `an operation whose end is announced while its batch is refused finishes`() {
        let queue = OperationQueue()
        let bird = EarlyBird()
        let spoiler = Spoiler { bird.finish() }
        let found = error { () throws(OperationError) in
            try queue.tryAddOperations([bird, named(spoiler)], waitUntilFinished: false)
        }
        #expect(rule(found) == "M3")
        #expect(bird.completions.load(ordering: .relaxed) == 1)
        #expect(queue.countNow == 0)
    }

    /// Is added to a queue while it is started by hand, and continues when the queue has claimed it.
    private final class Overtaken: CountingOperation, @unchecked Sendable {
        private let queue = OperationQueue()
        private let starts = Atomic(0)
        private let (claimed, mayGoOn) = (Gate(), Gate())

        override func start() {
            if starts.add(1, ordering: .relaxed).oldValue == 0 {
                queue.addOperation(self)
                claimed.pass()
                super.start()
                mayGoOn.open()
            } else {
                claimed.open()
                mayGoOn.pass()
                super.start()
            }
        }
    }

    /// Rule M1: the thread of the queue is inside `start()` and has not called the default one.
    @Test func `tryStart does not start an operation that its queue has claimed`() {
        let operation = Overtaken()
        operation.name = "it"
        let found = error { () throws(OperationError) in try operation.tryStart() }
        #expect(found == .startedWhileExecuting(operation: "Overtaken 'it'"))
        operation.waitUntilFinished()
        #expect(operation.runCount == 1)
    }
}
