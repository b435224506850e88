import Operations
import Synchronization
import TestSupport
import Testing

/// Rule N1: operations whose work is async.
@Suite(.timeLimit(.minutes(5)), .tags(.threads)) struct AsyncOperationTests {
    @Test func `the value of a task is the result or the error of its closure`() async throws {
        let queue = OperationQueue()
        let number = queue.addTask(name: "number") { 42 }
        let text = queue.addTask(after: [number]) { try await "\(number.value)!" }
        let written = try await text.value
        #expect(written == "42!")
        #expect(number.name == "number" && number.isFinished && !number.isCancelled)
        let failing = queue.addTask { () async throws -> Int in throw Failure.expected }
        await #expect(throws: Failure.expected) { try await failing.value }
        guard case .failed(Failure.expected) = failing.operationOutcome else {
            Issue.record("\(String(describing: failing.operationOutcome))")
            return
        }
        let ran = try await queue.run {
            await Task.yield()
            return "ran"
        }
        #expect(ran == "ran")
        await #expect(throws: Failure.expected) { try await queue.run { throw Failure.expected } }
    }

    @Test func `a suspended operation holds its slot`() async {
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 1
        let hasBegun = AsyncGate()
        let mayGoOn = AsyncGate()
        let log = Journal<String>()
        let first = queue.addTask {
            log.append("first begins")
            hasBegun.open()
            await mayGoOn.pass()
            log.append("first ends")
        }
        let second = queue.addTask { log.append("second") }
        await hasBegun.pass()
        #expect(first.isExecuting && !second.isExecuting)
        guard case .slot? = queue.explain(second).reasons.first else {
            Issue.record("\(queue.explain(second))")
            return
        }
        mayGoOn.open()
        await second.waitUntilFinished()
        #expect(log.entries == ["first begins", "first ends", "second"])
    }

    @Test func `suspended operations hold no thread`() async {
        await #expect(processExitsWith: .success) {
            let queue = OperationQueue()
            let count = Stress.rounds(20 * OperationQueue.maxThreadCount, least: 3 * OperationQueue.maxThreadCount)
            queue.maxConcurrentOperationCount = count
            let haveBegun = AsyncGate(count)
            let mayEnd = AsyncGate()
            for _ in 0..<count {
                queue.addTask {
                    haveBegun.open()
                    await mayEnd.pass()
                }
            }
            await haveBegun.pass()
            // The threads that began the operations may still exist. On a machine with few processors there may be many,
            // because the monitor takes some for blocked and adds others. They end after a time without work.
            while LifeProcess.threadCount >= 100 { await Task.yield() }
            precondition(queue.snapshot().executing == count)
            mayEnd.open()
            await queue.waitUntilAllOperationsAreFinished()
        }
    }

    /// Operations use all threads while they wait for a suspended operation, which has to resume.
    @Test func `an operation resumes although other operations use all threads of its queue`() async throws {
        let queue = OperationQueue()
        let count = OperationQueue.maxThreadCount
        queue.maxConcurrentOperationCount = 2 * count
        let mayGoOn = AsyncGate()
        let first = queue.addTask {
            await mayGoOn.pass()
            await Task.yield()
        }
        let haveBegun = AsyncGate(count)
        for _ in 0..<count + 10 {
            queue.addOperation {
                haveBegun.open()
                first.waitBlocking()
            }
        }
        await haveBegun.pass()
        mayGoOn.open()
        await queue.waitUntilAllOperationsAreFinished()
    }

    @Test func `task-local values and priority are inherited from the adding task`() async throws {
        let queue = OperationQueue()
        let seen = try await Traits.$name.withValue("adder") {
            try await Task(priority: .low) {
                let operation = NotingOperation()
                queue.addOperation(operation)
                let task = queue.addTask { (Traits.name, Task.currentPriority) }
                await Traits.$name.withValue("waiter") { await operation.waitUntilFinished() }
                return (operation.name, operation.priority.load(ordering: .relaxed), try await task.value)
            }.value
        }
        #expect(seen.0 == "adder" && seen.2.0 == "adder")
        #expect(seen.1 >= Int(TaskPriority.low.rawValue) && seen.2.1 >= .low)
    }

    @Test func `a quality of service that was set is the priority of the task`() async throws {
        let hasRun = AsyncGate()
        let operation = TaskOperation { () -> TaskPriority in
            defer { hasRun.open() }
            return Task.currentPriority
        }
        operation.qualityOfService = .background
        OperationQueue().addOperation(operation)
        // A wait for the operation would lend it the level of this thread.
        await hasRun.pass()
        #expect(try await operation.value == .background)
    }

    @Test func `awaiting the value of a task of lower priority raises it, and its place in the queue`() async throws {
        let queue = OperationQueue.serial()
        queue.isSuspended = true
        let log = Journal<String>()
        let added = Journal<TaskOperation<TaskPriority>>()
        let areAdded = AsyncGate()
        // No task awaits this one, because that would raise it and the operation that it adds.
        Task(priority: .low) {
            for name in ["first", "second"] {
                let operation = queue.addTask { () -> TaskPriority in
                    log.append(name)
                    return Task.currentPriority
                }
                added.append(operation)
            }
            areAdded.open()
        }
        await areAdded.pass()
        let (first, second) = (added.entries[0], added.entries[1])
        let waiter = Task(priority: .high) { try await second.value }
        while !second.isAwaited { await Task.yield() }
        queue.isSuspended = false
        await first.waitUntilFinished()
        let priority = try await second.value
        #expect(priority >= .high)
        #expect(log.entries == ["second", "first"])
        _ = try await waiter.value
    }

    @Test func `a task that was awaited before it was in a queue, or its queue inherited, is raised`() async throws {
        for isAwaitedByValue in [true, false] {
            for hasQueueInherit in isAwaitedByValue ? [true, false] : [true] {
                let held = HeldQueue()
                if hasQueueInherit { held.queue.priorityPolicy = .init(inheritsPriority: true) }
                let operation = TaskOperation { Task.currentPriority }
                let waiter = Task(priority: .high) {
                    if isAwaitedByValue { return try await operation.value }
                    await operation.waitUntilFinished()
                    return try await operation.value
                }
                while !operation.isAwaited { await Task.yield() }
                let isAdded = AsyncGate()
                Task(priority: .low) {
                    held.queue.addOperation(operation)
                    isAdded.open()
                }
                await isAdded.pass()
                held.freeOne()
                let priority = try await waiter.value
                #expect(priority >= .high, "by value: \(isAwaitedByValue), inherits: \(hasQueueInherit)")
            }
        }
    }

    @Test func `a task that was awaited before its queue inherited is raised when it does`() async throws {
        let held = HeldQueue()
        // Some queue inherits priorities. Without such a queue, waiters lend no priority.
        OperationQueue().priorityPolicy = .init(inheritsPriority: true)
        let seen = Journal<TaskPriority>()
        let operation = TaskOperation { seen.append(Task.currentPriority) }
        let isAdded = AsyncGate()
        Task(priority: .low) {
            held.queue.addOperation(operation)
            isAdded.open()
        }
        await isAdded.pass()
        // Not the value of the operation, because reading it raises the operation.
        let waiter = Task(priority: .high) { await operation.waitUntilFinished() }
        while !operation.isAwaited { await Task.yield() }
        held.queue.priorityPolicy = .init(inheritsPriority: true)
        held.freeOne()
        await waiter.value
        #expect(seen.entries.map(\.rawValue) == [TaskPriority.high.rawValue])
    }

    /// Finding 5 of the models: the worker that ended the first operation ran the block next, and had called no worker for
    /// the second operation.
    @Test func `an operation that blocks its thread for a suspended operation sees that one resume and end`()
        async throws
    {
        for _ in 0..<100 {
            let queue = OperationQueue()
            queue.maxConcurrentOperationCount = 2
            let mayGoOn = AsyncGate()
            let first = queue.addTask { await mayGoOn.pass() }
            let second = queue.addTask { try await first.value }
            queue.addOperation { second.waitBlocking() }
            while !first.isAwaited { await Task.yield() }
            let opener = TestThread { mayGoOn.open() }
            await queue.waitUntilAllOperationsAreFinished()
            opener.join()
        }
    }

    @Test func `dependencies hold in both directions between async and block operations`() async {
        let queue = OperationQueue()
        for _ in 0..<500 {
            let log = Journal<Int>()
            let first = TaskOperation {
                await Task.yield()
                log.append(1)
            }
            let second = BlockOperation { log.append(2) }
            let third = TaskOperation { log.append(3) }
            second.addDependency(first)
            third.addDependency(second)
            await queue.addOperations([third, second, first], waitUntilFinished: true)
            if log.entries != [1, 2, 3] { Issue.record("\(log.entries)") }
        }
    }

    @Test func `a barrier waits for suspended operations, and later operations wait for the barrier`() async {
        let queue = OperationQueue()
        for _ in 0..<200 {
            let log = Journal<String>()
            for _ in 0..<3 {
                queue.addTask {
                    await Task.yield()
                    log.append("before")
                }
            }
            queue.addBarrierBlock { log.append("barrier") }
            queue.addTask { log.append("after") }
            await queue.waitUntilAllOperationsAreFinished()
            if log.entries != ["before", "before", "before", "barrier", "after"] { Issue.record("\(log.entries)") }
        }
    }

    @Test func `the completion block runs once, after the end, and observers are notified of start and end`()
        async throws
    {
        let queue = OperationQueue()
        let log = Journal<String>()
        let done = AsyncGate()
        let operation = TaskOperation { await Task.yield() }
        let executing = operation.observe(\.isExecuting, options: [.old, .new]) { _, change in
            log.append("executing \(change.oldValue!) \(change.newValue!)")
        }
        let finished = operation.observe(\.isFinished, options: [.old, .new]) { operation, change in
            log.append("finished \(change.oldValue!) \(change.newValue!), executing \(operation.isExecuting)")
        }
        operation.completionBlock = {
            log.append("completion")
            done.open()
        }
        queue.addOperation(operation)
        await done.pass()
        #expect(
            log.entries == [
                "executing false true", "executing true false", "finished false true, executing false", "completion",
            ])
        executing.invalidate()
        finished.invalidate()
    }

    @Test func `a suspended queue starts no operation, and running operations continue`() async throws {
        let queue = OperationQueue()
        let hasBegun = AsyncGate()
        let mayGoOn = AsyncGate()
        let running = queue.addTask {
            hasBegun.open()
            await mayGoOn.pass()
            return 1
        }
        await hasBegun.pass()
        queue.isSuspended = true
        let waiting = queue.addTask { 2 }
        mayGoOn.open()
        #expect(try await running.value == 1)
        #expect(!waiting.isExecuting && !waiting.isFinished)
        queue.isSuspended = false
        #expect(try await waiting.value == 2)
    }

    @Test func `an operation that yields forever does not prevent other starts`() async throws {
        for width in [2, OperationQueue.defaultMaxConcurrentOperationCount] {
            let queue = OperationQueue()
            queue.maxConcurrentOperationCount = width
            let mayEnd = Atomic(false)
            queue.addTask { while !mayEnd.load(ordering: .relaxed) { await Task.yield() } }
            try await queue.run { mayEnd.store(true, ordering: .relaxed) }
            await queue.waitUntilAllOperationsAreFinished()
        }
    }

    @Test func `child tasks run in a serial queue, whose slot their operation holds`() async throws {
        let queue = OperationQueue()
        queue.name = "serial"
        queue.maxConcurrentOperationCount = 1
        let sum = try await queue.run {
            async let one = Self.childValue(1)
            async let two = Self.childValue(2)
            let rest = await withTaskGroup(of: Int.self) { group in
                for number in 3...10 { group.addTask { await Self.childValue(number) } }
                return await group.reduce(0, +)
            }
            return await one + two + rest
        }
        #expect(sum == 55)
    }

    private static func childValue(_ value: Int) async -> Int {
        await Task.yield()
        return OperationQueue.current?.name == "serial" ? value : -1000
    }

    @Test func `the current queue is the operation's, before and after suspending, also around calls of actors`()
        async throws
    {
        let queue = OperationQueue()
        let seen = try await queue.run {
            let before = OperationQueue.current
            await Task.yield()
            let after = OperationQueue.current
            let inActor = await Counter().queue()
            return [before, after, inActor]
        }
        #expect(seen.allSatisfy { $0 === queue })
    }

    @Test func `an operation started by hand runs on the caller's thread until it suspends`() async throws {
        let isHeld = AsyncGate()
        let log = Journal<String>()
        let operation = TaskOperation {
            log.append("begins")
            await isHeld.pass()
            log.append("ends")
        }
        operation.start()
        log.append("start has returned")
        #expect(operation.isExecuting)
        isHeld.open()
        await operation.waitUntilFinished()
        #expect(log.entries == ["begins", "start has returned", "ends"])
        let instant = TaskOperation { 7 }
        instant.start()
        #expect(instant.isFinished)
        #expect(try await instant.value == 7)
    }

    @Test func `operations run on an underlying queue`() async throws {
        let queue = OperationQueue()
        queue.underlyingQueue = .serial("underlying")
        for number in 0..<100 {
            let value = try await queue.run { () -> Int in
                await Task.yield()
                return DispatchMark.isHere ? number : -1
            }
            #expect(value == number)
        }
    }

    #if os(Linux)
    @Test func `an operation keeps its own service level after suspending`() async throws {
        let queue = OperationQueue()
        let operation = TaskOperation { () -> [Int32] in
            let before = LifeProcess.niceness
            await Task.yield()
            return [before, LifeProcess.niceness]
        }
        operation.qualityOfService = .utility
        queue.addOperation(operation)
        // A wait for the operation itself would lend it the level of this task (rule A17).
        await queue.waitUntilAllOperationsAreFinished()
        let niceness = try await operation.value
        let utility = min(LifeProcess.ownNiceness + 5, 19)
        #expect(niceness == [utility, utility])
    }
    #endif

    @Test(.tags(.release))
    func `operation, closure and captures are released after a run, a cancellation or a refusal`() async throws {
        let queue = OperationQueue()
        for fate in ["runs", "throws", "is cancelled", "is refused", "is never added"] {
            var captured: Guarded<Int>? = Guarded(0)
            let weakCaptured = Weak(captured)
            var operation: TaskOperation<Int>? = TaskOperation { [captured] in
                await Task.yield()
                if fate == "throws" { throw Failure.expected }
                return captured!.withLock { $0 }
            }
            let weakOperation = Weak(operation)
            captured = nil
            switch fate {
            case "runs", "throws":
                queue.addOperation(operation!)
                _ = await operation!.result
                #expect(weakCaptured.isGone, "\(fate)")
            case "is cancelled":
                operation!.cancel()
                queue.addOperation(operation!)
                await operation!.waitUntilFinished()
                #expect(weakCaptured.isGone, "\(fate)")
            case "is refused":
                let spent = BlockOperation()
                spent.start()
                #expect(throws: OperationError.self) { try queue.addBatch([operation!, spent]) }
            default: break
            }
            operation = nil
            await weakOperation.goes()
            #expect(weakOperation.isGone && weakCaptured.isGone, "\(fate)")
        }
    }
}

enum Traits { @TaskLocal static var name = "nobody" }

private actor Counter {
    func queue() -> OperationQueue? { OperationQueue.current }
}

/// An operation that records properties of its task.
private final class NotingOperation: AsyncOperation, @unchecked Sendable {
    let priority = Atomic(0)

    override func run() async throws {
        await Task.yield()
        name = Traits.name
        priority.store(Int(Task.currentPriority.rawValue), ordering: .relaxed)
    }
}
