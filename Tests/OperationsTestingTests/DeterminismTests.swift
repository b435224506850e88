import Operations
import OperationsTesting
import TestSupport
import Testing

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Rule N4: one seed produces one order, on the stepping thread, in every process.
@Suite(.timeLimit(.minutes(5))) struct DeterminismTests {
    @Test func `the blocks of an operation run on the stepping thread, in the order of the seed`() {
        func order(_ seed: UInt64?) -> [Int] {
            let executor = ManualExecutor(seed: seed)
            let queue = executor.makeQueue()
            let log = Journal<Int>()
            let here = pthread_self()
            let operation = BlockOperation { log.append(pthread_equal(pthread_self(), here) != 0 ? 0 : -1) }
            for number in 1..<5 {
                operation.addExecutionBlock { log.append(pthread_equal(pthread_self(), here) != 0 ? number : -1) }
            }
            queue.addOperation(operation)
            executor.runUntilIdle()
            #expect(operation.isFinished)
            return log.entries
        }
        #expect(Set((0..<300).map { _ in order(7) }).count == 1)
        #expect(order(nil) == [0, 1, 2, 3, 4])
        #expect(Set((0..<50).map { order($0) }).count > 10)
        #expect((0..<50).allSatisfy { order($0).sorted() == [0, 1, 2, 3, 4] })
    }

    @Test func `a group that was cancelled before it is added ends on the stepping thread`() {
        for round in 0..<300 {
            let executor = ManualExecutor(seed: UInt64(round))
            let queue = executor.makeQueue()
            let log = Journal<Bool>()
            let here = pthread_self()
            let children = (0..<3).map { _ in
                let child = BlockOperation {}
                child.completionBlock = { log.append(pthread_equal(pthread_self(), here) != 0) }
                return child
            }
            let inner = GroupOperation { Array(children.dropFirst()) }
            let group = GroupOperation { [children[0], inner] }
            group.cancel()
            #expect(children.allSatisfy { $0.isCancelled && !$0.isFinished })
            queue.addOperation(group)
            executor.runUntilIdle()
            #expect(group.isFinished && inner.isFinished)
            #expect(log.entries == [true, true, true])
        }
    }

    @Test func `a cancelled group without a queue ends with its children when it is started`() async {
        let child = BlockOperation {}
        let inner = GroupOperation { [child] }
        let group = GroupOperation { [inner] }
        group.cancel()
        #expect(child.isCancelled && !child.isFinished)
        group.start()
        await group.waitUntilFinished()
        #expect(child.isFinished && inner.isFinished)
    }

    @Test func `one seed gives one order in every process`() async throws {
        var orders: Set<String> = []
        for _ in 0..<Stress.rounds(4, least: 2) {
            let result = await #expect(processExitsWith: .success, observing: [\.standardOutputContent]) {
                for seed in 0..<UInt64(Stress.rounds(100, least: 12)) { print(DeterminismTests.mixedOrder(seed)) }
                fflush(nil)
                exit(0)
            }
            let output = String(decoding: try #require(result).standardOutputContent, as: UTF8.self)
            orders.insert(output)
        }
        #expect(orders.count == 1 && orders.first!.count > 1000)
    }

    /// Reasons to wait that hold sets of operations: conditions, resources, keys, suspension and cancellation.
    private static func mixedOrder(_ seed: UInt64) -> [String] {
        let executor = ManualExecutor(seed: seed)
        var random = SeededGenerator(seed: seed)
        let queues = (0..<2).map { _ in executor.makeQueue() }
        let log = Journal<String>()
        var all: [Operation] = []
        let pool = ResourcePool(["a": 2, "b": 1, "c": 3])
        for number in 0..<24 {
            let operation = TaskOperation {
                log.append("\(number) begins")
                await Task.yield()
                log.append("\(number) ends")
            }
            if number % 3 == 0 { operation.addCondition(OperationCondition("yields") { _ in await Task.yield() }) }
            if number % 2 == 0 { operation.addRequirement(.units(1, of: ["a", "b", "c"][number % 3], in: pool)) }
            if number % 4 == 0 { operation.addRequirement(.units(1, of: "c", in: pool)) }
            operation.queuePriority = [.low, .normal, .high][Int(random.next() % 3)]
            if number > 3, number % 5 == 0 { operation.addDependency(all[Int(random.next() % UInt64(number))]) }
            all.append(operation)
        }
        for queue in queues { queue.isSuspended = true }
        for (number, operation) in all.enumerated() {
            let queue = queues[number % 2]
            if number % 7 < 3 {
                queue.addOperation(operation, limitKey: "key \(number % 3)")
            } else {
                queue.addOperation(operation)
            }
        }
        for queue in queues { queue.isSuspended = false }
        for round in 0..<40 {
            executor.runUntilIdle(limit: 5)
            let queue = queues[round % 2]
            queue.isSuspended = !queue.isSuspended
            if round == 20 { all[Int(random.next() % 24)].cancel() }
        }
        for queue in queues { queue.isSuspended = false }
        executor.runUntilIdle()
        return log.entries
    }

    @Test func `an executor that reaches its step limit is not idle`() throws {
        let executor = ManualExecutor()
        executor.task { while !Task.isCancelled { await Task.yield() } }
        #expect(throws: ManualExecutor.StepLimitReached.self) { try executor.tryRunUntilIdle(limit: 100) }
        #expect(executor.runUntilIdle(limit: 100) == 100 && !executor.isIdle && executor.stepCount == 200)
        let idle = ManualExecutor()
        idle.task {}
        #expect(try idle.tryRunUntilIdle(limit: 1000) > 0)
        #expect(idle.isIdle)
    }
}
