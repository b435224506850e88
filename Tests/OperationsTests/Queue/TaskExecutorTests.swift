import Operations
import Synchronization
import TestSupport
import Testing

/// Rule N2: a queue runs plain tasks.
@Suite(.timeLimit(.minutes(5)), .tags(.threads)) struct TaskExecutorTests {
    @Test func `a task, its child tasks and its groups run on the queue, before and after suspending`() async {
        let queue = OperationQueue()
        let seen = Journal<Bool>()
        await Task(executorPreference: queue) {
            seen.append(OperationQueue.current === queue)
            await Task.yield()
            seen.append(OperationQueue.current === queue)
            async let child: Void = seen.append(OperationQueue.current === queue)
            await withTaskGroup { group in
                for _ in 0..<5 { group.addTask { seen.append(OperationQueue.current === queue) } }
            }
            await child
        }.value
        #expect(seen.entries == Array(repeating: true, count: 8))
    }

    @Test(arguments: [1, 2, 3]) func `no more parts of tasks run at a time than the concurrency limit`(width: Int) async
    {
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = width
        let counter = ConcurrencyCounter()
        await withTaskExecutorPreference(queue) {
            await withTaskGroup { group in
                for _ in 0..<50 {
                    group.addTask {
                        for _ in 0..<20 {
                            counter.enter()
                            counter.leave()
                            await Task.yield()
                        }
                    }
                }
            }
        }
        #expect(counter.most <= width)
    }

    @Test func `tasks of a serial queue can wait for each other, because suspended tasks hold no slot`() async throws {
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 1
        let sum = await Task(executorPreference: queue) {
            let first = Task(executorPreference: queue) { 1 }
            async let second = 2
            let third = queue.addTask { 3 }
            return await first.value + second + (try! third.value)
        }.value
        #expect(sum == 6)
    }

    @Test func `parts of tasks and operations share the concurrency limit and are ordered by priority`() async {
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 1
        queue.isSuspended = true
        let log = Journal<String>()
        let low = Task(executorPreference: queue, priority: .low) { log.append("low task") }
        queue.addOperation { log.append("operation") }
        let medium = Task(executorPreference: queue, priority: .medium) { log.append("medium task") }
        let high = Task(executorPreference: queue, priority: .high) { log.append("high task") }
        queue.isSuspended = false
        await low.value
        await medium.value
        await high.value
        #expect(log.entries == ["high task", "operation", "medium task", "low task"])
    }

    @Test func `a suspended queue runs no part of a task, and a cancellation loses no part`() async {
        let queue = OperationQueue()
        queue.isSuspended = true
        let hasRun = Guarded(false)
        let task = Task(executorPreference: queue) {
            hasRun.withLock { $0 = true }
            return Task.isCancelled
        }
        queue.cancelAllOperations()
        #expect(queue.countNow == 0 && queue.operationsNow.isEmpty && !hasRun.withLock { $0 })
        task.cancel()
        queue.isSuspended = false
        #expect(await task.value && hasRun.withLock { $0 })
    }

    @Test func `a barrier waits for earlier parts of tasks, and later parts wait for the barrier`() async {
        let queue = OperationQueue()
        queue.isSuspended = true
        let log = Journal<Int>()
        let before = Task(executorPreference: queue) { log.append(1) }
        queue.addBarrierBlock { log.append(2) }
        let after = Task(executorPreference: queue) { log.append(3) }
        queue.isSuspended = false
        await before.value
        await after.value
        #expect(log.entries == [1, 2, 3])
    }

    @Test(.tags(.release)) func `the queue stays alive as long as its tasks, and no longer`() async {
        let mayEnd = AsyncGate()
        var queue: OperationQueue? = OperationQueue()
        let weakQueue = Weak(queue)
        let task = Task(executorPreference: queue!) {
            await mayEnd.pass()
            await Task.yield()
        }
        queue = nil
        #expect(!weakQueue.isGone)
        mayEnd.open()
        await task.value
        await weakQueue.goes()
        #expect(weakQueue.isGone)
    }

    @Test func `waiting for all of the queue from one of its tasks is allowed`() async {
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 1
        let count = Atomic(0)
        await Task(executorPreference: queue) {
            for _ in 0..<10 { queue.addOperation { count.add(1, ordering: .relaxed) } }
            await queue.waitUntilAllOperationsAreFinished()
        }.value
        #expect(count.load(ordering: .relaxed) == 10)
    }

    @Test func `tasks run at the service level of the queue, and on an underlying queue`() async {
        #if os(Linux)
        let quiet = OperationQueue()
        quiet.qualityOfService = .background
        let plain = OperationQueue()
        let niceness = await Task(executorPreference: plain) { LifeProcess.niceness }.value
        #expect(niceness == LifeProcess.ownNiceness)
        #expect(await Task(executorPreference: quiet) { LifeProcess.niceness }.value == min(19, niceness + 10))
        #endif
        let underlying = OperationQueue()
        underlying.underlyingQueue = .serial("underlying tasks")
        let isHere = await Task(executorPreference: underlying) {
            await Task.yield()
            return DispatchMark.isHere
        }.value
        #expect(isHere)
    }

    @Test func `tasks of a queue call actors and return from them`() async {
        let queue = OperationQueue()
        let log = Log()
        await Task(executorPreference: queue) {
            for number in 0..<100 {
                await log.append(number)
                #expect(OperationQueue.current === queue)
            }
        }.value
        #expect(await log.numbers == Array(0..<100))
    }

    /// An actor that a queue's task calls, while another caller of the actor uses the queue's only slot.
    @Test func `an actor runs its jobs regardless of the state of its callers' queue`() async {
        for isSuspended in [false, true] {
            let queue = OperationQueue.serial()
            let log = Log()
            let begins = Gate()
            let mayGoOn = Gate()
            let task = Task(executorPreference: queue) {
                begins.open()
                mayGoOn.pass()
                await log.append(1)
            }
            await Self.wait(for: begins)
            let operation = isSuspended ? nil : queue.addTask(priority: .veryHigh) { await log.append(2) }
            if isSuspended { queue.isSuspended = true }
            mayGoOn.open()
            // Another caller of the actor, outside the queue.
            await log.append(3)
            await operation?.waitUntilFinished()
            queue.isSuspended = false
            await task.value
            #expect(await log.numbers.sorted() == (isSuspended ? [1, 3] : [1, 2, 3]))
        }
    }

    private static func wait(for gate: Gate) async {
        await withUnsafeContinuation { continuation in
            _ = TestThread {
                gate.pass()
                continuation.resume()
            }
        }
    }

    private actor Log {
        var numbers: [Int] = []
        func append(_ number: Int) { numbers.append(number) }
    }
}
