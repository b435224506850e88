@testable import Operations
import TestSupport
import Testing

/// Rule A15: a cancelled task that awaits an operation returns at once, unless the work has started.
@Suite(.timeLimit(.minutes(5)), .tags(.threads)) struct CancelledWaitTests {
    /// The things that an operation waits for.
    enum Obstacle: CaseIterable {
        case suspension, widthZero, slot, barrier, dependency, key, name, unit, condition, pause
    }

    /// The ways to wait.
    enum Wait: CaseIterable { case value, result, finish, tryFinish, outcome }

    /// Holds operations of a queue back until `release()`.
    private final class Held: Sendable {
        let queue = OperationQueue()
        private let mayEnd = AsyncGate()
        private let pool = ResourcePool(["unit": 1])
        private let obstacle: Obstacle
        private let holder: TaskOperation<Void>

        init(by obstacle: Obstacle) async {
            self.obstacle = obstacle
            let began = AsyncGate()
            holder = TaskOperation { [mayEnd] in
                began.open()
                await mayEnd.pass()
            }
            switch obstacle {
            case .suspension: queue.isSuspended = true
            case .widthZero: queue.maxConcurrentOperationCount = 0
            case .slot: queue.maxConcurrentOperationCount = 1
            case .key: queue.setLimitPerKey(1)
            case .name: holder.addRequirement(.exclusive("of cancelled waits"))
            case .unit: holder.addRequirement(.units(1, of: "unit", in: pool))
            case .barrier, .dependency, .condition, .pause: break
            }
            guard obstacle != .suspension, obstacle != .widthZero else { return }
            if obstacle == .key { queue.addOperation(holder, limitKey: "key") } else { queue.addOperation(holder) }
            await began.pass()
            if obstacle == .barrier { queue.addBarrierBlock {} }
        }

        var key: String? { obstacle == .key ? "key" : nil }
        var dependencies: [Operation] { obstacle == .dependency ? [holder] : [] }

        func prepare(_ operation: AsyncOperation) {
            switch obstacle {
            case .dependency: operation.addDependency(holder)
            case .name: operation.addRequirement(.exclusive("of cancelled waits"))
            case .unit: operation.addRequirement(.units(1, of: "unit", in: pool))
            case .condition: operation.addCondition(OperationCondition("open") { [mayEnd] _ in await mayEnd.pass() })
            case .pause: operation.pause()
            default: break
            }
        }

        func add(_ operation: AsyncOperation) {
            prepare(operation)
            if let key { queue.addOperation(operation, limitKey: key) } else { queue.addOperation(operation) }
        }

        func release(_ operation: AsyncOperation?) async {
            mayEnd.open()
            if obstacle == .pause { operation?.resume() }
            if obstacle == .widthZero { queue.maxConcurrentOperationCount = 1 }
            queue.isSuspended = false
            await queue.waitUntilAllOperationsAreFinished()
        }
    }

    private static func wait(_ wait: Wait, for operation: TaskOperation<Int>) async throws {
        switch wait {
        case .value: _ = try await operation.value
        case .result: _ = try await operation.result.get()
        case .finish: await operation.waitUntilFinished()
        case .tryFinish: try await operation.tryWaitUntilFinished()
        case .outcome: #expect(try await operation.waitForOutcome() == .cancelled)
        }
    }

    @Test(arguments: Obstacle.allCases)
    func `a cancelled wait for an operation that has not started ends, and the operation runs later`(
        obstacle: Obstacle
    ) async {
        let held = await Held(by: obstacle)
        let ran = Guarded(0)
        let operation = TaskOperation {
            ran.withLock { $0 += 1 }
            return 7
        }
        held.add(operation)
        for wait in Wait.allCases {
            // One is cancelled after it has begun to wait, and one before.
            let task = Task { try await Self.wait(wait, for: operation) }
            while !operation.isAwaited { await Task.yield() }
            task.cancel()
            let result = await task.result
            if [.value, .result].contains(wait) {
                #expect(throws: CancellationError.self) { try result.get() }
            } else {
                #expect(throws: Never.self) { try result.get() }
            }
            await withTaskGroup(of: Void.self) { group in
                group.cancelAll()
                group.addTask { try? await Self.wait(wait, for: operation) }
            }
        }
        #expect(!operation.isFinished && !operation.isCancelled && ran.withLock { $0 } == 0)
        #expect(operation.waiterCount == 0)
        await held.release(operation)
        #expect(ran.withLock { $0 } == 1)
        #expect(await (try? operation.value) == 7)
    }

    @Test(arguments: Obstacle.allCases.filter { ![.name, .unit, .condition, .pause].contains($0) })
    func `a cancelled run returns at once, and its closure never runs`(obstacle: Obstacle) async {
        let held = await Held(by: obstacle)
        let ran = Guarded(0)
        let others = held.queue.listed().count
        let tasks = [Operation.QueuePriority.normal, .low].map { priority in
            Task {
                try await held.queue.run(priority: priority, after: held.dependencies, limitKey: held.key) {
                    ran.withLock { $0 += 1 }
                }
            }
        }
        while held.queue.listed().count < others + 2 { await Task.yield() }
        for task in tasks {
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
        }
        if obstacle == .suspension { #expect(held.queue.listed().count == 2) }
        await held.release(nil)
        #expect(ran.withLock { $0 } == 0)
    }

    @Test func `a run that is cancelled before it is called never runs its closure, and leaves nothing in the queue`()
        async
    {
        let queue = OperationQueue()
        let ran = Guarded(false)
        await withTaskGroup(of: Void.self) { group in
            group.cancelAll()
            group.addTask {
                await #expect(throws: CancellationError.self) {
                    try await queue.run { ran.withLock { $0 = true } }
                }
            }
        }
        await queue.waitUntilAllOperationsAreFinished()
        #expect(!ran.withLock { $0 })
    }

    @Test func `a cancelled map of a suspended queue returns at once`() async {
        let queue = OperationQueue()
        queue.isSuspended = true
        let task = Task { try await queue.map(0..<1_000, atMost: 100) { $0 } }
        while queue.listed().count < 100 { await Task.yield() }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        queue.isSuspended = false
        await queue.waitUntilAllOperationsAreFinished()
    }

    @Test func `an addition that waits returns when its task is cancelled`() async {
        let queue = OperationQueue()
        queue.isSuspended = true
        let operations = (0..<10).map { _ in BlockOperation {} }
        let task = Task { await queue.addOperations(operations, waitUntilFinished: true) }
        while !operations[0].isAwaited { await Task.yield() }
        task.cancel()
        await task.value
        #expect(queue.listed().count == 10)
        queue.isSuspended = false
        await queue.waitUntilAllOperationsAreFinished()
    }

    @Test func `a cancelled wait for work that has started lasts until its end`() async throws {
        let queue = OperationQueue()
        let (began, mayEnd) = (AsyncGate(2), AsyncGate())
        let isOver = Guarded(false)
        let work: @Sendable () async -> Int = {
            began.open()
            await mayEnd.pass()
            isOver.withLock { $0 = true }
            return 7
        }
        let operation = queue.addTask { await work() }
        let run = Task { try await queue.run { await work() } }
        let wait = Task { try await operation.value }
        await began.pass()
        while !operation.isAwaited { await Task.yield() }
        run.cancel()
        wait.cancel()
        mayEnd.open()
        #expect(try await run.value == 7)
        #expect(try await wait.value == 7)
        #expect(isOver.withLock { $0 })
    }

    @Test func `a retry that is cancelled waits for its attempt`() async {
        let (queue, attempt) = (OperationQueue(), BlockOperation {})
        let stuck = Operation()
        attempt.addDependency(stuck)
        let began = AsyncGate()
        let retry = RetryOperation(.init(retries: 0)) { _ in
            began.open()
            return attempt
        }
        queue.addOperation(retry)
        await began.pass()
        retry.cancel()
        await retry.waitUntilFinished()
        #expect(attempt.isFinished && attempt.isCancelled)
    }

    @Test func `a hundred thousand cancelled waits beside others leave nothing`() async {
        let operation = TaskOperation { 7 }
        let count = Stress.rounds(100_000)
        let stays = (0..<3).map { _ in Task { try await operation.value } }
        let tasks = (0..<count).map { _ in Task { try await operation.value } }
        while operation.waiterCount < count + 3 { await Task.yield() }
        for task in tasks.shuffled() { task.cancel() }
        for task in tasks { await #expect(throws: CancellationError.self) { try await task.value } }
        #expect(operation.waiterCount == 3)
        OperationQueue().addOperation(operation)
        for task in stays { #expect(await (try? task.value) == 7) }
    }

    @Test(.tags(.slow), arguments: 0..<4 as Range<UInt64>)
    func `cancellations that race with starts and ends lose no task, and no closure runs after its run has returned`(
        seed: UInt64
    ) async {
        var random = SeededRandom(seed: seed)
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 2
        for _ in 0..<Stress.rounds(4_000, small: 200) {
            let hasReturned = Guarded(false)
            let run = Task {
                defer { hasReturned.withLock { $0 = true } }
                return try await queue.run { #expect(!hasReturned.withLock { $0 }) }
            }
            let operation = queue.addTask { 7 }
            let waits = (0..<3).map { _ in Task { try? await operation.value } }
            for _ in 0..<Int.random(in: 0..<4, using: &random) { await Task.yield() }
            run.cancel()
            waits[0].cancel()
            waits[2].cancel()
            _ = await run.result
            #expect(await waits[1].value == 7)
            for wait in waits { #expect(await wait.value ?? 7 == 7) }
        }
        await queue.waitUntilAllOperationsAreFinished()
    }
}

extension Operation {
    fileprivate var waiterCount: Int { attachments?.withLock { $0.waiters.count } ?? 0 }
}
