import KeyValueObserving
@testable import Operations
import SchedulerCore
import TestSupport
import Testing

/// Work in two parts, with a point in between where it can pause.
private final class TwoParts: AsyncOperation, @unchecked Sendable {
    let begins = AsyncGate()
    let mayPause = AsyncGate()
    let continues = AsyncGate()
    let mayEnd = AsyncGate()
    let journal = Journal<String>()
    private let counter: ConcurrencyCounter?

    init(counter: ConcurrencyCounter? = nil) {
        self.counter = counter
        super.init()
    }

    override func run() async throws {
        journal.append("first")
        counter?.enter()
        begins.open()
        await mayPause.pass()
        counter?.leave()
        await waitWhilePaused()
        counter?.enter()
        journal.append(isCancelled ? "cancelled" : "second")
        continues.open()
        await mayEnd.pass()
        counter?.leave()
        try Task.checkCancellation()
    }

    /// Pauses the operation, and waits until it has released its slot.
    func pauses(in queue: OperationQueue) async {
        await begins.pass()
        pause()
        mayPause.open()
        // Its slot is free when another operation has used the slot.
        await queue.addTask {}.waitUntilFinished()
    }
}

@Suite(.timeLimit(.minutes(5)), .tags(.threads)) struct PauseTests {
    private func queue(width: Int = 1) -> OperationQueue {
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = width
        return queue
    }

    @Test(arguments: [false, true])
    func `an operation whose work returns while another task keeps it paused finishes later`(isCancelled: Bool) async {
        final class Absent: AsyncOperation, @unchecked Sendable {
            let returns = AsyncGate()

            override func run() async throws {
                defer { returns.open() }
                pause()
                Task { await self.waitWhilePaused() }
                while word.lifecycle.phase == .executing { await Task.yield() }
            }
        }
        let (queue, operation) = (queue(), Absent())
        queue.addOperation(operation)
        await operation.returns.pass()
        if isCancelled { operation.cancel() } else { operation.resume() }
        await operation.waitUntilFinished()
        await queue.addTask {}.waitUntilFinished()
        #expect(operation.isFinished)
    }

    @Test func `a paused operation waits with the priority that it inherited while it ran`() async {
        let (queue, operation, mayEnd) = (queue(), TwoParts(), AsyncGate())
        queue.priorityPolicy = .init(inheritsPriority: true)
        operation.queuePriority = .low
        queue.addOperation(operation)
        await operation.begins.pass()
        let urgent = BlockOperation {}
        urgent.queuePriority = .veryHigh
        urgent.addDependency(operation)
        queue.addOperation(urgent)
        await operation.pauses(in: queue)
        queue.addTask { await mayEnd.pass() }
        let other = BlockOperation { operation.journal.append("other") }
        queue.addOperation(other)
        operation.mayEnd.open()
        operation.resume()
        mayEnd.open()
        await queue.waitUntilAllOperationsAreFinished()
        #expect(operation.journal.entries == ["first", "second", "other"])
    }

    /// Two child tasks pause at the same point. The journal shows that both continue.
    private final class TwoChildren: AsyncOperation, @unchecked Sendable {
        let begins = AsyncGate()
        let mayPause = AsyncGate()
        let journal = Journal<String>()

        override func run() async throws {
            begins.open()
            await mayPause.pass()
            await withTaskGroup { group in
                for _ in 0..<2 {
                    group.addTask {
                        await self.waitWhilePaused()
                        self.journal.append("child")
                    }
                }
            }
        }
    }

    @Test(arguments: [false, true]) func `two child tasks that pause both continue`(isInQueue: Bool) async {
        let (queue, operation) = (queue(), TwoChildren())
        if isInQueue { queue.addOperation(operation) } else { operation.start() }
        await operation.begins.pass()
        operation.pause()
        operation.mayPause.open()
        // In a queue, its slot is free when another operation has used the slot.
        await queue.addTask {}.waitUntilFinished()
        operation.resume()
        await operation.waitUntilFinished()
        #expect(operation.journal.entries == ["child", "child"])
    }

    @Test func `a task may wait for a pause after the operation has ended and its queue was released`() async {
        let operation = TwoParts()
        do {
            let queue = queue()
            queue.addOperation(operation)
            await operation.begins.pass()
            for gate in [operation.mayPause, operation.mayEnd] { gate.open() }
            await operation.continues.pass()
            operation.pause()
            await operation.waitUntilFinished()
        }
        await operation.waitWhilePaused()
        #expect(operation.isFinished)
    }

    @Test func `a paused operation releases its slot and continues where it was`() async {
        let queue = queue()
        let operation = TwoParts()
        queue.addOperation(operation)
        await operation.pauses(in: queue)
        #expect(!operation.isExecuting && !operation.isFinished)
        #expect(queue.explain(operation).reasons == [.paused])
        operation.mayEnd.open()
        operation.resume()
        await operation.waitUntilFinished()
        #expect(operation.journal.entries == ["first", "second"])
        #expect(operation.operationOutcome?.description == "succeeded")
    }

    @Test func `a paused operation is explained as paused, also before its queue has asked it`() async {
        let (queue, mayEnd) = (OperationQueue(), AsyncGate())
        queue.maxConcurrentOperationCount = 1
        queue.addTask { await mayEnd.pass() }
        let operation = TaskOperation {}
        operation.pause()
        queue.addOperation(operation)
        #expect(queue.explain(operation).reasons == [.paused])
        operation.resume()
        #expect(!queue.explain(operation).reasons.contains(.paused))
        mayEnd.open()
        await operation.waitUntilFinished()
    }

    /// Its threads are not threads of the queue, so they do not look for other work there.
    @Test func `a paused operation with its own service level releases its slot to a waiting operation`() async {
        let queue = queue()
        let operation = TwoParts()
        operation.qualityOfService = .userInitiated
        queue.addOperation(operation)
        await operation.begins.pass()
        operation.pause()
        let other = queue.addTask {}
        operation.mayPause.open()
        await other.waitUntilFinished()
        operation.mayEnd.open()
        operation.resume()
        await operation.waitUntilFinished()
        #expect(operation.journal.entries == ["first", "second"])
    }

    @Test func `a resumed operation waits for a slot`() async {
        let queue = queue()
        let operation = TwoParts()
        queue.addOperation(operation)
        await operation.pauses(in: queue)
        let isOpen = AsyncGate()
        let began = AsyncGate()
        let other = queue.addTask {
            began.open()
            await isOpen.pass()
        }
        await began.pass()
        operation.resume()
        #expect(operation.isReady && !operation.isExecuting)
        #expect(queue.explain(operation).description.contains("waits for a slot"))
        isOpen.open()
        await operation.continues.pass()
        #expect(other.isFinished && operation.isExecuting)
        operation.mayEnd.open()
        await operation.waitUntilFinished()
    }

    @Test func `a paused operation that is cancelled ends in its queue, once, after its work`() async {
        let queue = queue()
        let operation = TwoParts()
        let completions = Guarded(0)
        let completed = AsyncGate()
        operation.completionBlock = {
            completions.withLock { $0 += 1 }
            completed.open()
        }
        queue.addOperation(operation)
        await operation.pauses(in: queue)
        operation.cancel()
        await operation.continues.pass()
        #expect(!operation.isFinished && operation.isExecuting)
        operation.mayEnd.open()
        await queue.waitUntilAllOperationsAreFinished()
        #expect(operation.journal.entries == ["first", "cancelled"])
        #expect(operation.operationOutcome?.description == "was cancelled")
        // The block delays neither waiters of the queue nor later operations there (rule W1).
        await completed.pass()
        operation.resume()
        await queue.addTask {}.waitUntilFinished()
        #expect(completions.withLock { $0 } == 1)
    }

    @Test func `an operation paused before its start starts when it is resumed or cancelled`() async {
        let queue = queue()
        for isCancelled in [false, true] {
            let operation = TwoParts()
            operation.pause()
            operation.mayPause.open()
            operation.mayEnd.open()
            queue.addOperation(operation)
            await queue.addTask {}.waitUntilFinished()
            #expect(!operation.isFinished && operation.journal.entries.isEmpty)
            if isCancelled { operation.cancel() } else { operation.resume() }
            await operation.waitUntilFinished()
            #expect(operation.journal.entries == (isCancelled ? [] : ["first", "second"]))
        }
    }

    @Test func `a point where work can pause has no effect without a pause or after cancellation`() async {
        let queue = queue()
        let free = TwoParts()
        let cancelled = TwoParts()
        for operation in [free, cancelled] {
            operation.mayEnd.open()
            queue.addOperation(operation)
        }
        free.mayPause.open()
        await cancelled.begins.pass()
        cancelled.pause()
        cancelled.cancel()
        cancelled.mayPause.open()
        await queue.waitUntilAllOperationsAreFinished()
        #expect(free.journal.entries == ["first", "second"])
        #expect(cancelled.journal.entries == ["first", "cancelled"])
    }

    @Test func `without a queue an operation pauses until it is resumed or cancelled`() async {
        for isCancelled in [false, true] {
            let operation = TwoParts()
            operation.start()
            await operation.begins.pass()
            operation.pause()
            operation.mayPause.open()
            operation.mayEnd.open()
            if isCancelled { operation.cancel() } else { operation.resume() }
            await operation.waitUntilFinished()
            #expect(operation.journal.entries == ["first", isCancelled ? "cancelled" : "second"])
        }
    }

    @Test func `observers see isExecuting change, and the events of the queue have one start`() async {
        let queue = queue()
        let operation = TwoParts()
        let states = Journal<Bool>()
        let token = operation.observe(\.isExecuting, options: .new) { _, change in
            if let value = change.newValue { states.append(value) }
        }
        let events = queue.events
        queue.addOperation(operation)
        await operation.pauses(in: queue)
        // Its slot is free before its observers are notified.
        while states.entries.count < 2 { await Task.yield() }
        operation.mayEnd.open()
        operation.resume()
        await operation.waitUntilFinished()
        token.invalidate()
        #expect(states.entries == [true, false, true, false])
        var starts = 0
        for await event in events where event.operation.contains("TwoParts") {
            if case .started = event.kind { starts += 1 }
            if case .finished = event.kind { break }
        }
        #expect(starts == 1)
    }

    @Test func `a paused operation releases its resources and acquires them again`() async throws {
        let queue = queue(width: 4)
        let operation = TwoParts()
        operation.addRequirement(.exclusive("stand-aside"))
        queue.addOperation(operation)
        await operation.begins.pass()
        operation.pause()
        operation.mayPause.open()
        let isOpen = AsyncGate()
        let began = AsyncGate()
        let other = TaskOperation {
            began.open()
            await isOpen.pass()
        }
        other.addRequirement(.exclusive("stand-aside"))
        queue.addOperation(other)
        await began.pass()
        // The resource is returned before the slot.
        while operation.isExecuting { await Task.yield() }
        operation.resume()
        #expect(!operation.isExecuting)
        isOpen.open()
        operation.mayEnd.open()
        await operation.waitUntilFinished()
        #expect(operation.journal.entries == ["first", "second"])
    }

    @Test func `a paused operation releases its turn under a limit key`() async throws {
        let queue = queue(width: 4)
        queue.setLimitPerKey(1)
        let operation = TwoParts()
        operation.mayEnd.open()
        queue.addOperation(operation, limitKey: "host")
        await operation.begins.pass()
        operation.pause()
        operation.mayPause.open()
        let other = TaskOperation {}
        queue.addOperation(other, limitKey: "host")
        await other.waitUntilFinished()
        #expect(!operation.isFinished)
        operation.resume()
        await operation.waitUntilFinished()
        #expect(operation.journal.entries == ["first", "second"])
    }

    @Test(arguments: 0..<UInt64(Stress.rounds(8, least: 2)))
    func `hundreds of operations paused, resumed and cancelled at once keep the limit, and all end`(
        seed: UInt64
    ) async {
        let queue = queue(width: 3)
        let counter = ConcurrencyCounter()
        var random = SeededRandom(seed: seed)
        let operations = (0..<300).map { _ in TwoParts(counter: counter) }
        for operation in operations {
            operation.mayEnd.open()
            if random.chance(50) { operation.mayPause.open() }
        }
        await queue.addOperations(operations, waitUntilFinished: false)
        let orders = operations.map { ($0, isCancelled: random.chance(25)) }
        await withTaskGroup { group in
            for (operation, isCancelled) in orders {
                group.addTask {
                    for _ in 0..<3 {
                        operation.pause()
                        await Task.yield()
                        operation.mayPause.open()
                        await Task.yield()
                        if isCancelled { operation.cancel() }
                        operation.resume()
                    }
                }
            }
        }
        await queue.waitUntilAllOperationsAreFinished()
        #expect(counter.most <= 3)
        #expect(operations.allSatisfy { $0.isFinished && !$0.isExecuting })
        for operation in operations where !operation.isCancelled {
            #expect(operation.journal.entries == ["first", "second"])
        }
    }
}
