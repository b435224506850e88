import Operations
import OperationsTesting
import TestSupport
import Testing

/// Rule N4: the test decides each step.
@Suite(.timeLimit(.minutes(5))) struct ManualExecutorTests {
    @Test func `nothing runs before a step, and each step runs one operation`() {
        let executor = ManualExecutor()
        let queue = executor.makeQueue()
        let log = Journal<Int>()
        for number in 1...3 { queue.addOperation { log.append(number) } }
        #expect(log.entries.isEmpty)
        executor.step()
        #expect(log.entries == [1])
        #expect(executor.runUntilIdle() >= 2)
        #expect(log.entries == [1, 2, 3] && executor.pendingCount == 0 && !executor.step())
    }

    @Test func `priorities, limits, suspension, barriers and dependencies apply`() {
        let executor = ManualExecutor()
        let queue = executor.makeQueue()
        let log = Journal<String>()
        queue.isSuspended = true
        let low = BlockOperation { log.append("low") }
        low.queuePriority = .low
        let high = BlockOperation { log.append("high") }
        high.queuePriority = .high
        let last = BlockOperation { log.append("last") }
        last.queuePriority = .veryHigh
        last.addDependency(low)
        for operation in [low, last, high] { queue.addOperation(operation) }
        queue.addBarrierBlock { log.append("barrier") }
        queue.addOperation { log.append("behind") }
        executor.runUntilIdle()
        #expect(log.entries.isEmpty)
        queue.isSuspended = false
        executor.runUntilIdle()
        #expect(log.entries == ["high", "low", "last", "barrier", "behind"])
    }

    @Test func `async operations and tasks interleave in steps, and a task awaits a value`() throws {
        let executor = ManualExecutor()
        let queue = executor.makeQueue()
        let log = Journal<String>()
        let names = ["a", "b"]
        for name in names {
            queue.addTask {
                log.append("\(name)1")
                await Task.yield()
                log.append("\(name)2")
            }
        }
        let task = executor.task { try await queue.run { "value" } }
        executor.runUntilIdle()
        #expect(log.entries == ["a1", "b1", "a2", "b2"])
        let result = Guarded<String?>(nil)
        executor.task { try await result.set(task.value) }
        executor.runUntilIdle()
        #expect(result.withLock { $0 } == "value")
    }

    @Test func `an order depends only on its seed, and seeds give different orders`() {
        func order(_ seed: UInt64?) -> [Int] {
            let executor = ManualExecutor(seed: seed)
            let log = Journal<Int>()
            let queues = (0..<5).map { _ in executor.makeQueue() }
            for number in 0..<20 {
                queues[number % 5].addTask {
                    await Task.yield()
                    log.append(number)
                }
            }
            executor.runUntilIdle()
            return log.entries
        }
        #expect(order(nil) == Array(0..<20))
        #expect(order(1) == order(1) && order(1).sorted() == Array(0..<20))
        #expect(Set((0..<20).map { order($0) }).count > 10)
    }

    @Test func `seeds choose whether an operation resumes before another one starts`() {
        func first(_ seed: UInt64) -> String? {
            let (executor, log) = (ManualExecutor(seed: seed), Journal<String>())
            let queue = executor.makeQueue()
            queue.addTask {
                await Task.yield()
                log.append("resumes")
            }
            executor.step()
            queue.addOperation { log.append("starts") }
            executor.runUntilIdle()
            return log.entries.first
        }
        #expect(Set((0..<20).map(first)) == ["resumes", "starts"])
    }

    @Test func `explore throws the seed of a failure, and the test fails again with this seed`() throws {
        func race(_ executor: ManualExecutor) throws {
            let counter = Guarded(0)
            let queue = executor.makeQueue()
            for _ in 0..<2 {
                queue.addTask {
                    // The error under test: read, suspend, write.
                    let read = counter.withLock { $0 }
                    await Task.yield()
                    counter.withLock { $0 = read + 1 }
                }
            }
            executor.runUntilIdle()
            guard counter.withLock({ $0 }) == 2 else { throw Lost() }
        }
        let failed = #expect(throws: ManualExecutor.FailedSeed.self) {
            try ManualExecutor.explore(seeds: 0..<100, race)
        }
        #expect(throws: Lost.self) { try race(ManualExecutor(seed: failed!.seed)) }
        #expect("\(failed!)".contains("seed: \(failed!.seed)"))
    }

    @Test func `explore throws the only failing seed`() {
        let failed = #expect(throws: ManualExecutor.FailedSeed.self) {
            try ManualExecutor.explore(seeds: 0..<10) { executor in if executor.seed == 7 { throw Lost() } }
        }
        #expect(failed?.seed == 7)
    }

    @Test(.tags(.slow), arguments: [nil, 7] as [UInt64?])
    func `very many operations that are ready resume, in any order`(seed: UInt64?) {
        let (executor, clock, count) = (ManualExecutor(seed: seed), VirtualClock(), Guarded(0))
        let queue = executor.makeQueue()
        let all = Stress.rounds(100_000, small: 2_000)
        queue.maxConcurrentOperationCount = all
        for _ in 0..<all {
            queue.addTask {
                try await clock.sleep(for: .seconds(1))
                count.withLock { $0 += 1 }
            }
        }
        executor.runUntilIdle(advancing: clock)
        #expect(count.withLock { $0 } == all)
    }

    @Test func `conditions and requirements are decided in steps`() {
        let executor = ManualExecutor()
        let queue = executor.makeQueue()
        let log = Journal<String>()
        let conditioned = BlockOperation { log.append("conditioned") }
        conditioned.addCondition(
            OperationCondition("yields") { _ in
                log.append("condition")
                await Task.yield()
            })
        queue.addOperation(conditioned)
        for number in 1...2 {
            let exclusive = TaskOperation {
                log.append("begin \(number)")
                await Task.yield()
                log.append("end \(number)")
            }
            exclusive.addRequirement(.exclusive("manual"))
            queue.addOperation(exclusive)
        }
        executor.runUntilIdle()
        #expect(log.entries.count == 6)
        let exclusive = log.entries.filter { $0.hasSuffix("1") || $0.hasSuffix("2") }
        #expect(exclusive == ["begin 1", "end 1", "begin 2", "end 2"])
    }

    private struct Lost: Error {}

    @Test func `the operations that have not finished say for which reason`() {
        let (executor, clock) = (ManualExecutor(), VirtualClock())
        let (first, second) = (executor.makeQueue(name: "first"), executor.makeQueue(name: "second"))
        first.addTask(name: "sleeps") { try await clock.sleep(for: .seconds(60)) }
        let forgotten = BlockOperation(name: "forgotten") {}
        second.addOperation(name: "waits", after: [forgotten]) {}
        executor.runUntilIdle()
        let expected = [
            "TaskOperation 'sleeps': executes",
            "BlockOperation 'waits': waits for BlockOperation 'forgotten', which is in no queue; add it to one or start it",
        ]
        #expect(executor.unfinished.map(\.description) == expected)
        forgotten.start()
        executor.runUntilIdle(advancing: clock)
        #expect(executor.unfinished.isEmpty)
    }
}

extension Guarded where Value: Sendable {
    fileprivate func set(_ value: Value) { withLock { $0 = value } }
}
