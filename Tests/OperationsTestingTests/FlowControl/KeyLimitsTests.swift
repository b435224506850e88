import Operations
import OperationsTesting
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(5))) struct KeyLimitsTests {
    private let executor = ManualExecutor()
    private let clock = VirtualClock()

    @Test func `keys take turns, for any number of operations`() {
        let queue = executor.makeQueue()
        queue.maxConcurrentOperationCount = 1
        let log = Journal<String>()
        for number in 1...5 { queue.addOperation(BlockOperation { log.append("a\(number)") }, limitKey: "a") }
        for number in 1...2 { queue.addOperation(BlockOperation { log.append("b\(number)") }, limitKey: "b") }
        executor.runUntilIdle()
        #expect(log.entries == ["a1", "b1", "a2", "b2", "a3", "a4", "a5"])
    }

    @Test func `an operation of higher priority starts before earlier operations of its key, also after a later raise`()
    {
        for isRaisedLater in [false, true] {
            let queue = executor.makeQueue()
            queue.maxConcurrentOperationCount = 1
            queue.isSuspended = true
            let log = Journal<String>()
            func add(_ name: String, _ key: String, _ priority: Operation.QueuePriority) -> Operation {
                let operation = BlockOperation { log.append(name) }
                operation.queuePriority = priority
                queue.addOperation(operation, limitKey: key)
                return operation
            }
            _ = add("a low", "a", .low)
            let high = add("a high", "a", isRaisedLater ? .veryLow : .high)
            _ = add("b normal", "b", .normal)
            high.queuePriority = .high
            queue.isSuspended = false
            executor.runUntilIdle()
            #expect(log.entries == ["a high", "b normal", "a low"])
        }
    }

    @Test func `a key never exceeds its limit, while other keys run`() throws {
        let queue = executor.makeQueue()
        let clock = clock
        queue.setLimitPerKey(2)
        queue.setLimit(1, forKey: "slow")
        let running = Guarded([String: (now: Int, most: Int)]())
        for number in 0..<40 {
            let key = ["slow", "fast", "other"][number % 3]
            let operation = TaskOperation {
                running.withLock {
                    let now = ($0[key]?.now ?? 0) + 1
                    $0[key] = (now, max($0[key]?.most ?? 0, now))
                }
                try await clock.sleep(for: .seconds(1))
                running.withLock { $0[key]?.now -= 1 }
            }
            queue.addOperation(operation, limitKey: key)
        }
        executor.runUntilIdle(advancing: clock)
        #expect(running.withLock { $0.mapValues(\.most) } == ["slow": 1, "fast": 2, "other": 2])
        #expect(clock.now.offset == .seconds(14))
    }

    @Test func `limits can be changed while operations run and wait`() throws {
        let queue = executor.makeQueue()
        let clock = clock
        queue.setLimitPerKey(1)
        let running = Guarded(0)
        for _ in 0..<6 {
            let operation = TaskOperation {
                running.withLock { $0 += 1 }
                try await clock.sleep(for: .seconds(1))
                running.withLock { $0 -= 1 }
            }
            queue.addOperation(operation, limitKey: "a")
        }
        executor.runUntilIdle()
        #expect(running.withLock { $0 } == 1)
        queue.setLimit(4, forKey: "a")
        executor.runUntilIdle()
        #expect(running.withLock { $0 } == 4)
        queue.setLimit(nil, forKey: "a")
        executor.run(until: .init(offset: .seconds(1)), of: clock)
        #expect(running.withLock { $0 } == 1)
        executor.runUntilIdle(advancing: clock)
        #expect(clock.now.offset == .seconds(3))
    }

    @Test func `the list has the order of adding, cancelling uses no turn, and a waiting operation reports its key`()
        throws
    {
        let queue = executor.makeQueue()
        let clock = clock
        queue.setLimitPerKey(1)
        let operations = (0..<4).map { _ in TaskOperation { try await clock.sleep(for: .seconds(1)) } }
        for operation in operations { queue.addOperation(operation, limitKey: "host") }
        executor.runUntilIdle()
        #expect((queue as any Listed).operations == operations)
        guard case .key("host", let holders)? = queue.explain(operations[2]).reasons.first else {
            return #expect(Bool(false), "\(queue.explain(operations[2]))")
        }
        // A manual executor has no time of the system.
        #expect(holders.count == 1 && holders[0].executionTime == nil)
        #expect(queue.stallReport() == nil)
        operations[1].cancel()
        executor.runUntilIdle()
        #expect(operations[1].isFinished && !operations[2].isExecuting)
        executor.runUntilIdle(advancing: clock)
        #expect(clock.now.offset == .seconds(3))
    }

    @Test func `dependencies, requirements, priorities and keys apply together`() throws {
        for seed in 0..<UInt64(Stress.rounds(100, least: 20)) {
            let executor = ManualExecutor(seed: seed)
            let queue = executor.makeQueue()
            queue.maxConcurrentOperationCount = 3
            queue.setLimitPerKey(2)
            var random = SeededGenerator(seed: seed)
            let running = Guarded([String: Int]())
            let finished = Guarded(0)
            var operations: [Operation] = []
            for _ in 0..<60 {
                let key = ["a", "b", "c"].randomElement(using: &random)!
                let operation = TaskOperation {
                    let most = running.withLock {
                        $0[key, default: 0] += 1
                        return $0[key]!
                    }
                    if most > 2 { Issue.record("seed \(seed): \(most) of a key run") }
                    await Task.yield()
                    running.withLock { $0[key]! -= 1 }
                    finished.withLock { $0 += 1 }
                }
                if Bool.random(using: &random) {
                    operation.addRequirement(.exclusive("key limits \(Int.random(in: 0..<2, using: &random))"))
                }
                if let other = operations.randomElement(using: &random), Bool.random(using: &random) {
                    operation.addDependency(other)
                }
                operation.queuePriority = [.low, .normal, .high].randomElement(using: &random)!
                operations.append(operation)
                queue.addOperation(operation, limitKey: key)
                if Int.random(in: 0..<8, using: &random) == 0 { operations.randomElement(using: &random)?.cancel() }
                if Int.random(in: 0..<8, using: &random) == 0 {
                    operations.randomElement(using: &random)?.queuePriority = .veryHigh
                }
                if Int.random(in: 0..<8, using: &random) == 0 { executor.step() }
            }
            executor.runUntilIdle()
            if !operations.allSatisfy(\.isFinished) {
                Issue.record("seed \(seed): \(queue.stallReport()?.description ?? "no stall")")
            }
        }
    }

    @Test(.tags(.threads)) func `every operation with a key ends, on real threads too`() async throws {
        let queue = OperationQueue()
        queue.setLimitPerKey(3)
        let (all, count) = (Stress.rounds(3000, least: 1500), Guarded(0))
        var random = SeededGenerator(seed: 11)
        for number in 0..<all {
            let operation: Operation =
                number.isMultiple(of: 2)
                ? BlockOperation { count.withLock { $0 += 1 } }
                : TaskOperation {
                    await Task.yield()
                    count.withLock { $0 += 1 }
                }
            queue.addOperation(operation, limitKey: "\(Int.random(in: 0..<20, using: &random))")
            if number.isMultiple(of: 100) { queue.setLimit(1 + number / 1000, forKey: "\(number % 20)") }
        }
        await queue.waitUntilAllOperationsAreFinished()
        #expect(count.withLock { $0 } == all)
    }

    @Test func `the limits of keys can be read`() {
        let queue = OperationQueue()
        #expect(queue.limitPerKey == nil && queue.limit(forKey: "a") == nil)
        queue.setLimitPerKey(2)
        queue.setLimit(1, forKey: "a")
        #expect(queue.limitPerKey == 2 && queue.limit(forKey: "a") == 1 && queue.limit(forKey: "b") == 2)
        queue.setLimit(nil, forKey: "a")
        #expect(queue.limit(forKey: "a") == 2)
    }

    @Test func `tasks, and operations that wait for capacity, may have a key`() async throws {
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 8
        queue.setLimitPerKey(1)
        queue.setCapacity(4)
        let running = Guarded(0)
        let body: @Sendable () -> Void = {
            #expect(
                running.withLock {
                    $0 += 1; return $0
                } == 1)
            running.withLock { $0 -= 1 }
        }
        for _ in 0..<50 { try await queue.addOperationWaitingForCapacity(TaskOperation(body), limitKey: "host") }
        await queue.waitUntilAllOperationsAreFinished()
        queue.setCapacity(nil)
        let tasks = (0..<50).map { _ in queue.addTask(limitKey: "host", body) }
        for _ in 0..<50 { try await queue.run(limitKey: "host", body) }
        for task in tasks { try await task.value }
    }
}

/// Reads the deprecated property without a warning.
private protocol Listed { var operations: [Operation] { get } }
extension OperationQueue: Listed {}
