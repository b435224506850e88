import Operations
import OperationsTesting
import TestSupport
import Testing

/// `inheritsTaskContext`: the context that the task of an async operation inherits, and the time of its creation.
@Suite(.timeLimit(.minutes(5))) struct TaskContextTests {
    private func queue(inherits: Bool) -> OperationQueue {
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 1
        queue.inheritsTaskContext = inherits
        return queue
    }

    @Test(arguments: [true, false])
    func `an async operation inherits task-local values if its queue inherits the context`(inherits: Bool) async throws
    {
        let queue = queue(inherits: inherits)
        #expect(queue.inheritsTaskContext == inherits)
        let name = try await Context.$name.withValue("adder") {
            try await queue.run {
                await Task.yield()
                return Context.name
            }
        }
        #expect(name == (inherits ? "adder" : "nobody"))
    }

    @Test func `the priority is that of the quality of service, or medium, if the queue does not inherit`() async throws
    {
        let queue = queue(inherits: false)
        let priorities = try await Task(priority: .background) {
            let urgent = TaskOperation { Task.currentPriority }
            urgent.qualityOfService = .userInitiated
            queue.addOperation(urgent)
            return (try await queue.addTask { Task.basePriority }.value, try await urgent.value)
        }.value
        #expect(priorities.0 == .medium && priorities.1 == .userInitiated)
    }

    @Test func `an operation that inherits nothing ignores the context of the code that starts it`() {
        let executor = ManualExecutor()
        let queue = executor.makeQueue()
        queue.inheritsTaskContext = false
        let name = Guarded("")
        queue.addTask { name.withLock { $0 = Context.name } }
        Context.$name.withValue("starter") { while executor.step() {} }
        #expect(name.withLock { $0 } == "nobody")
    }

    @Test func `a change applies to operations that are added later`() async throws {
        let queue = queue(inherits: true)
        queue.isSuspended = true
        let (first, second) = Context.$name.withValue("adder") {
            let first = queue.addTask { Context.name }
            queue.inheritsTaskContext = false
            return (first, queue.addTask { Context.name })
        }
        queue.isSuspended = false
        #expect(try await (first.value, second.value) == ("adder", "nobody"))
        queue.inheritsTaskContext = true
        #expect(queue.inheritsTaskContext)
    }

    @Test(arguments: [true, false])
    func `children that are added to a group in a queue follow the setting of the queue`(inherits: Bool) async throws {
        let queue = queue(inherits: inherits)
        queue.isSuspended = true
        let group = GroupOperation()
        let early = Context.$name.withValue("adder") { group.addChildTask { Context.name } }
        queue.addOperation(group)
        let late = Context.$name.withValue("adder") { group.addChildTask { Context.name } }
        queue.isSuspended = false
        #expect(try await (early.value, late.value) == ("adder", inherits ? "adder" : "nobody"))
    }

    @Test(arguments: [true, false])
    func `the attempts of a retry follow the setting of its queue`(inherits: Bool) async {
        let queue = queue(inherits: inherits)
        let name = Guarded("")
        let retry = RetryOperation(.init(retries: 0)) { _ in
            Context.$name.withValue("attempt") { TaskOperation { name.withLock { $0 = Context.name } } }
        }
        Context.$name.withValue("adder") { queue.addOperation(retry) }
        await retry.waitUntilFinished()
        #expect(name.withLock { $0 } == (inherits ? "adder" : "nobody"))
    }

    @Test(.tags(.threads))
    func `an operation that inherits nothing can be cancelled before, while and after it starts`() async {
        let queue = queue(inherits: false)
        for round in 0..<300 {
            let operation = queue.addTask { while !Task.isCancelled { await Task.yield() } }
            for _ in 0..<round % 7 { await Task.yield() }
            operation.cancel()
            await operation.waitUntilFinished()
            #expect(operation.isCancelled)
        }
    }

    @Test(.tags(.release)) func `an operation that inherits nothing and never starts completes and is released`() async
    {
        let queue = queue(inherits: false)
        queue.isSuspended = true
        let skipped = Gate()
        let weak = Guarded<Weak?>(nil)
        do {
            let operation = Skipped(skipped)
            weak.withLock { $0 = Weak(operation) }
            queue.addOperation(operation)
        }
        queue.cancelAllOperations()
        queue.isSuspended = false
        await queue.waitUntilAllOperationsAreFinished()
        skipped.pass()
        await until { weak.withLock { $0?.isGone == true } }
    }

    @Test func `an operation that inherits nothing fails, and runs its child tasks, on the queue`() async throws {
        let queue = queue(inherits: false)
        let operation = queue.addTask { () -> OperationQueue? in
            await Task.yield()
            async let child = OperationQueue.current
            return await child
        }
        #expect(try await operation.value === queue)
        await #expect(throws: CancellationError.self) { try await queue.run { throw CancellationError() } }
    }

    @Test(arguments: [true, false])
    func `work is skipped once if the end is announced between start and work`(inherits: Bool) {
        let executor = ManualExecutor()
        let queue = executor.makeQueue()
        queue.inheritsTaskContext = inherits
        let operation = EndsAtOnce()
        let observation = operation.observe(\.isExecuting) { operation, _ in operation.end() }
        queue.addOperation(operation)
        while executor.step() {}
        #expect(operation.calls.withLock { $0 } == ["skipped"])
        observation.invalidate()
    }

    @Test(arguments: [true, false])
    func `a task on the executor of an ended operation runs, and is part of no operation`(inherits: Bool) async {
        let queue = queue(inherits: inherits)
        let known = Guarded<(any TaskExecutor)?>(nil)
        let weak = Guarded<Weak?>(nil)
        do {
            let operation = TaskOperation {}
            queue.addOperation(operation)
            await operation.waitUntilFinished()
            known.withLock { $0 = operation.taskExecutor }
            weak.withLock { $0 = Weak(operation) }
        }
        await until { weak.withLock { $0?.isGone == true } }
        let executor = known.withLock { $0.take() }!
        let current = await Task<OperationQueue?, Never>(executorPreference: executor) {
            await Task.yield()
            return OperationQueue.current
        }.value
        #expect(current == nil)
    }

    @Test func `conditions have the task-local values of the code that adds their operation`() async {
        let queue = OperationQueue()
        let seen = Journal<String>()
        let note = OperationCondition("notes") { () async -> Bool in
            seen.append(Context.name)
            await Task.yield()
            seen.append(Context.name)
            return true
        }
        let (task, block) = (TaskOperation {}, BlockOperation {})
        for operation in [task, block] as [Operation] {
            operation.addCondition(note)
            operation.addCondition(note && note)
        }
        Context.$name.withValue("outer") { queue.addOperation(task) }
        await task.waitUntilFinished()
        await Context.$name.withValue("batch") { await queue.addOperations([block], waitUntilFinished: true) }
        #expect(seen.entries == Array(repeating: "outer", count: 6) + Array(repeating: "batch", count: 6))
    }

    @Test func `a condition that is added in the queue has the values of the addition of the operation, or its own`()
        async
    {
        let queue = OperationQueue()
        let seen = Journal<String>()
        let note = OperationCondition("notes") { () async -> Bool in
            seen.append(Context.name)
            return true
        }
        for hasOther in [false, true] {
            let operation = TaskOperation {}
            if hasOther { operation.addCondition(note) }
            queue.isSuspended = true
            Context.$name.withValue("adder") { queue.addOperation(operation) }
            Context.$name.withValue("later") { operation.addCondition(note) }
            queue.isSuspended = false
            await operation.waitUntilFinished()
        }
        #expect(seen.entries == ["later", "adder", "adder"])
    }

    @Test
    func
        `conditions inherit nothing in a queue that inherits nothing, and values of tests that never begin are released`()
        async
    {
        let (queue, seen) = (OperationQueue(), Journal<String>())
        queue.inheritsTaskContext = false
        let operation = TaskOperation {}
        operation.addCondition(
            OperationCondition("notes") { () async -> Bool in
                seen.append(Context.name)
                return true
            })
        Context.$name.withValue("outer") { queue.addOperation(operation) }
        await operation.waitUntilFinished()
        #expect(seen.entries == ["nobody"])
        let kept = OperationQueue()
        kept.isSuspended = true
        let cancelled = BlockOperation {}
        cancelled.addCondition(OperationCondition("never") { () async -> Bool in false })
        let weak = addWithValue(cancelled, to: kept)
        cancelled.cancel()
        kept.isSuspended = false
        await cancelled.waitUntilFinished()
        await weak.goes()
    }

    private func addWithValue(_ operation: Operation, to queue: OperationQueue) -> Weak {
        let held = Held()
        Context.$held.withValue(held) { queue.addOperation(operation) }
        return Weak(held)
    }

    private func until(_ holds: () -> Bool) async { while !holds() { await Task.yield() } }
}

private enum Context {
    @TaskLocal static var name = "nobody"
    @TaskLocal static var held: Held?
}

private final class Held: Sendable {}

/// Announces its end by an override of `isFinished`.
private final class EndsAtOnce: AsyncOperation, @unchecked Sendable {
    // Sendable: values behind locks.
    let calls = Guarded<[String]>([])
    private let hasEnded = Guarded(false)

    override var isFinished: Bool { hasEnded.withLock { $0 } || super.isFinished }

    override func run() async { calls.withLock { $0.append("run") } }

    override func runWasSkipped() { calls.withLock { $0.append("skipped") } }

    func end() {
        guard isExecuting, !hasEnded.withLock({ $0 }) else { return }
        willChangeValue(forKey: "isFinished")
        hasEnded.withLock { $0 = true }
        didChangeValue(forKey: "isFinished")
    }
}

private final class Skipped: AsyncOperation, @unchecked Sendable {
    // Sendable: a constant.
    private let skipped: Gate

    init(_ skipped: Gate) { self.skipped = skipped }

    override func runWasSkipped() { skipped.open() }
}
