import Operations
import OperationsTesting
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(5))) struct CapacityTests {
    private let executor = ManualExecutor()

    private func fullQueue(_ overflow: OperationQueue.OverflowPolicy) throws -> (OperationQueue, [BlockOperation]) {
        let queue = executor.makeQueue()
        queue.isSuspended = true
        queue.setCapacity(3, onOverflow: overflow)
        let operations = [Operation.QueuePriority.normal, .low, .low].map { priority in
            let operation = BlockOperation {}
            operation.queuePriority = priority
            return operation
        }
        for operation in operations { queue.addOperation(operation) }
        return (queue, operations)
    }

    @Test func `a full queue rejects operations, and has capacity again after an operation has ended`() throws {
        let (queue, operations) = try fullQueue(.reject)
        queue.name = "full"
        let late = BlockOperation {}
        #expect(throws: OperationError.queueFull(queue: "queue 'full'", capacity: 3)) {
            try queue.tryAddOperation(late)
        }
        #expect(throws: OperationError.self) { try queue.tryAddOperations([late], waitUntilFinished: false) }
        queue.isSuspended = false
        executor.runUntilIdle()
        #expect(operations.allSatisfy { $0.isFinished })
        for _ in 0..<5 {
            try queue.tryAddOperation(BlockOperation {})
            executor.runUntilIdle()
        }
        try queue.tryAddOperation(late)
        executor.runUntilIdle()
        #expect(late.isFinished)
    }

    /// A full queue is load. `setCapacity` alone must not make a server stop.
    @Test
    func `a full queue stops no process: an operation that it refuses fails before the call returns, and never runs`()
        async throws
    {
        let (queue, _) = try fullQueue(.reject)
        queue.name = "full"
        let error = OperationError.queueFull(queue: "queue 'full'", capacity: 3)
        let failures = Journal<String>()
        queue.unhandledFailureHandler = { failures.append($0.operation) }
        let late = BlockOperation(name: "late") { Issue.record("runs") }
        queue.addOperation(late)
        #expect(late.isFinished && late.isCancelled)
        guard case .failed(let failure)? = late.operationOutcome else { return #expect(Bool(false), "\(late)") }
        #expect(failure as? OperationError == error)
        queue.addOperation { Issue.record("runs") }
        #expect(failures.entries.count == 1)
        let named = queue.addOperation(name: "named", limitKey: "a") { Issue.record("runs") }
        let several = [BlockOperation {}, BlockOperation {}]
        await queue.addOperations(several, waitUntilFinished: true)
        #expect(named.isFinished && several.allSatisfy { $0.isFinished && $0.isCancelled })
        let task = queue.addTask { Issue.record("runs") }
        await #expect(throws: error) { try await task.value }
        await #expect(throws: error) { try await queue.run {} }
        #expect(queue.refusedCount == 6)
        #expect(queue.explain().waiting.count == 3)
        // A barrier is no operation and has no place.
        let passed = Journal<Int>()
        queue.addBarrierBlock { passed.append(1) }
        queue.isSuspended = false
        executor.runUntilIdle()
        #expect(passed.entries == [1])
    }

    @Test func `a batch that is refused ends once, and its dependents within run with their policy`() throws {
        let (queue, _) = try fullQueue(.reject)
        let (first, second) = (BlockOperation { Issue.record("runs") }, BlockOperation { Issue.record("runs") })
        second.addDependency(first)
        queue.addOperation(second)
        #expect(second.isFinished && !first.isFinished)
        let dependent = BlockOperation {}
        dependent.addDependency(second)
        let other = executor.makeQueue()
        other.addOperation(dependent)
        executor.runUntilIdle()
        #expect(dependent.isFinished)
    }

    @Test func `a task is added when the queue has capacity`() async throws {
        let queue = OperationQueue()
        queue.setCapacity(1)
        let gate = AsyncGate()
        queue.addTask { await gate.pass() }
        async let added = queue.addTaskWaitingForCapacity(name: "second") { 7 }
        gate.open()
        #expect(try await added.value == 7)
        let waiter = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            _ = try await queue.addTaskWaitingForCapacity { Issue.record("runs") }
        }
        await #expect(throws: CancellationError.self) { try await waiter.value }
    }

    @Test func `dropping the oldest cancels the operation that has waited longest`() throws {
        let (queue, operations) = try fullQueue(.dropOldest)
        let late = BlockOperation {}
        try queue.tryAddOperation(late)
        #expect(operations.map(\.isCancelled) == [true, false, false])
        try queue.tryAddOperation(BlockOperation {})
        #expect(operations.map(\.isCancelled) == [true, true, false])
        queue.isSuspended = false
        executor.runUntilIdle()
        #expect(late.isFinished && !late.isCancelled && operations.allSatisfy { $0.isFinished })
    }

    @Test func `dropping the lowest cancels the last of the lowest, and rejects an operation of lower priority`() throws
    {
        let (queue, operations) = try fullQueue(.dropLowest)
        try queue.tryAddOperation(BlockOperation {})
        #expect(operations.map(\.isCancelled) == [false, false, true])
        let veryLow = BlockOperation {}
        veryLow.queuePriority = .veryLow
        #expect(throws: OperationError.self) { try queue.tryAddOperation(veryLow) }
        try queue.tryAddOperation(BlockOperation {})
        #expect(operations.map(\.isCancelled) == [false, true, true])
        queue.isSuspended = false
        executor.runUntilIdle()
    }

    @Test func `a batch is rejected if it would drop an operation of higher priority`() throws {
        let queue = executor.makeQueue()
        queue.isSuspended = true
        queue.setCapacity(2, onOverflow: .dropLowest)
        let waiting = [Operation.QueuePriority.veryLow, .high].map { priority in
            let operation = BlockOperation {}
            operation.queuePriority = priority
            queue.addOperation(operation)
            return operation
        }
        let batch = [BlockOperation {}, BlockOperation {}]
        #expect(throws: OperationError.self) { try queue.tryAddOperations(batch, waitUntilFinished: false) }
        #expect(waiting.map(\.isCancelled) == [false, false])
        for operation in batch { operation.queuePriority = .high }
        try queue.tryAddOperations(batch, waitUntilFinished: false)
        #expect(waiting.map(\.isCancelled) == [true, true])
        queue.isSuspended = false
        executor.runUntilIdle()
    }

    @Test func `a batch drops no operation of higher priority than the batch's lowest`() throws {
        let queue = executor.makeQueue()
        queue.isSuspended = true
        queue.setCapacity(2, onOverflow: .dropLowest)
        let waiting = [BlockOperation {}, BlockOperation {}]
        for operation in waiting { queue.addOperation(operation) }
        let batch = [BlockOperation {}, BlockOperation {}]
        (batch[0].queuePriority, batch[1].queuePriority) = (.low, .high)
        #expect(throws: OperationError.self) { try queue.tryAddOperations(batch, waitUntilFinished: false) }
        #expect(waiting.map(\.isCancelled) == [false, false])
        queue.cancelAllOperations()
        queue.isSuspended = false
        executor.runUntilIdle()
    }

    @Test func `running operations are not dropped, and the new operation is rejected`() throws {
        let queue = executor.makeQueue()
        let clock = VirtualClock()
        queue.setCapacity(1, onOverflow: .dropOldest)
        let running = queue.addTask { try await clock.sleep(for: .seconds(1)) }
        executor.runUntilIdle()
        #expect(throws: OperationError.self) { try queue.tryAddOperation(BlockOperation {}) }
        #expect(!running.isCancelled)
        executor.runUntilIdle(advancing: clock)
    }

    @Test func `tasks that add wait for capacity in order, and a cancellation ends the wait`() throws {
        let (queue, _) = try fullQueue(.reject)
        let log = Journal<Int>()
        let adders = (0..<4).map { number in
            executor.task { try await queue.addOperationWaitingForCapacity(BlockOperation { log.append(number) }) }
        }
        adders[1].cancel()
        executor.runUntilIdle()
        #expect(log.entries.isEmpty)
        #expect(throws: OperationError.self) { try queue.tryAddOperation(BlockOperation {}) }
        adders[2].cancel()
        queue.isSuspended = false
        executor.runUntilIdle()
        #expect(log.entries == [0, 3])
    }

    @Test func `a capacity can be changed and removed while tasks wait for it`() throws {
        let (queue, _) = try fullQueue(.reject)
        let added = Guarded(0)
        for _ in 0..<5 {
            executor.task {
                try await queue.addOperationWaitingForCapacity(BlockOperation {})
                added.withLock { $0 += 1 }
            }
        }
        executor.runUntilIdle()
        queue.setCapacity(5)
        executor.runUntilIdle()
        #expect(added.withLock { $0 } == 2)
        queue.setCapacity(nil)
        executor.runUntilIdle()
        #expect(added.withLock { $0 } == 5)
        queue.isSuspended = false
        executor.runUntilIdle()
    }

    @Test func `an operation that is rejected for another reason releases its place`() async throws {
        let queue = executor.makeQueue()
        queue.setCapacity(1)
        let spent = BlockOperation {}
        spent.start()
        await #expect(throws: OperationError.self) { try await queue.addOperationWaitingForCapacity(spent) }
        #expect(throws: OperationError.self) { try queue.tryAddOperation(spent) }
        try queue.tryAddOperation(BlockOperation {})
        executor.runUntilIdle()
    }

    @Test(.tags(.threads)) func `many adders on real threads respect the capacity`() async throws {
        let queue = OperationQueue()
        queue.setCapacity(7)
        let most = Guarded(0)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for adder in 0..<8 {
                group.addTask {
                    for number in 0..<200 {
                        let operation: Operation =
                            number.isMultiple(of: 3) ? TaskOperation { await Task.yield() } : BlockOperation {}
                        try await queue.addOperationWaitingForCapacity(operation)
                        let count = Self.count(queue)
                        most.withLock { $0 = max($0, count) }
                        if (adder + number).isMultiple(of: 11) { operation.cancel() }
                    }
                }
            }
            try await group.waitForAll()
        }
        await queue.waitUntilAllOperationsAreFinished()
        #expect(most.withLock { $0 } <= 7)
        for _ in 0..<7 { try queue.tryAddOperation(BlockOperation {}) }
        await queue.waitUntilAllOperationsAreFinished()
    }

    /// The last operation has released its place before the wait for all operations ends.
    @Test(.tags(.slow, .threads)) func `an empty queue has capacity`() throws {
        let queue = OperationQueue()
        queue.setCapacity(1)
        for _ in 0..<Stress.rounds(20_000, least: 800) {
            try queue.tryAddOperation(BlockOperation {})
            queue.waitUntilAllOperationsAreFinished()
        }
    }

    @Test(.tags(.threads)) func `threads that add at the same time do not drop the same operation twice`() throws {
        let queue = OperationQueue()
        queue.isSuspended = true
        queue.setCapacity(3, onOverflow: .dropOldest)
        let meeting = Gate(2)
        let threads = (0..<2).map { _ in
            TestThread {
                meeting.meet()
                for _ in 0..<300 { queue.addOperation(BlockOperation {}) }
            }
        }
        for thread in threads { thread.join() }
        #expect((queue as any Listing).operations.count { !$0.isCancelled } == 3)
        queue.isSuspended = false
        queue.waitUntilAllOperationsAreFinished()
    }

    @Test func `only as many operations are dropped as necessary`() throws {
        let queue = executor.makeQueue()
        queue.isSuspended = true
        queue.setCapacity(3, onOverflow: .dropOldest)
        let early = (0..<2).map { _ in BlockOperation {} }
        try queue.tryAddOperations(early, waitUntilFinished: false)
        try queue.tryAddOperations((0..<2).map { _ in BlockOperation {} }, waitUntilFinished: false)
        #expect(early.map(\.isCancelled) == [true, false])
        #expect(throws: OperationError.self) {
            try queue.tryAddOperations((0..<4).map { _ in BlockOperation {} }, waitUntilFinished: false)
        }
        queue.isSuspended = false
        executor.runUntilIdle()
    }

    private static func count(_ queue: OperationQueue) -> Int { (queue as any Listing).operationCount }

    @Test func `a deadlock of capacity and a dependency is reported with the full queue and the cycle`() async throws {
        let queue = OperationQueue()
        queue.name = "full"
        queue.setCapacity(1)
        let (login, page) = (BlockOperation {}, BlockOperation {})
        (login.name, page.name) = ("login", "page")
        page.addDependency(login)
        // A part of a task has no place, so its end frees none.
        let (begun, gate) = (AsyncGate(), Gate())
        let part = Task(executorPreference: queue) {
            begun.open()
            gate.pass()
        }
        await begun.pass()
        queue.addOperation(page)
        #expect(queue.explain(login).reasons == [.inNoQueue])
        let adding = Task { try await queue.addOperationWaitingForCapacity(login) }
        while queue.explain(login).reasons == [.inNoQueue] { await Task.yield() }
        let (a, b, c) = ("BlockOperation 'login'", "capacity of queue 'full'", "BlockOperation 'page'")
        #expect(queue.explain(login).reasons == [.capacity(queue: "full"), .cycle([a, b, c, a])])
        #expect(queue.explain(page).reasons == [.dependency(a), .cycle([c, a, b, c])])
        #expect(queue.stallReport() != nil)
        queue.setCapacity(2)
        gate.open()
        await part.value
        try await adding.value
        await queue.waitUntilAllOperationsAreFinished()
        #expect(login.isFinished && page.isFinished)
    }

    @Test func `a cancelled task adds nothing to a queue with a capacity`() async {
        let queue = OperationQueue()
        queue.isSuspended = true
        queue.setCapacity(2)
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            try await queue.addOperationWaitingForCapacity(BlockOperation {})
        }
        await #expect(throws: CancellationError.self) { try await task.value }
        queue.addOperation {}
        queue.addOperation {}
        #expect(throws: OperationError.self) { try queue.tryAddOperation(BlockOperation {}) }
    }

    @Test func `the capacity and the overflow policy of a queue can be read`() {
        let queue = OperationQueue()
        #expect(queue.capacity == nil && queue.overflowPolicy == .reject)
        for policy in [OperationQueue.OverflowPolicy.dropOldest, .dropLowest, .reject] {
            queue.setCapacity(3, onOverflow: policy)
            #expect(queue.capacity == 3 && queue.overflowPolicy == policy)
        }
        queue.setCapacity(nil)
        #expect(queue.capacity == nil)
    }
}

/// Reads the deprecated properties without a warning.
private protocol Listing {
    var operationCount: Int { get }
    var operations: [Operation] { get }
}
extension OperationQueue: Listing {}
