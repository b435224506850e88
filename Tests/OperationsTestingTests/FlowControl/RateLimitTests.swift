import Operations
import OperationsTesting
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(5))) struct RateLimitTests {
    private let executor = ManualExecutor()
    private let clock = VirtualClock()

    /// Returns the milliseconds at which the operations start.
    private func starts(_ count: Int, _ queue: OperationQueue) -> [Int64] {
        let log = Journal<Int64>()
        let clock = clock
        for _ in 0..<count { queue.addOperation { log.append(clock.now.offset.milliseconds) } }
        executor.runUntilIdle(advancing: clock)
        return log.entries
    }

    @Test func `a token bucket starts its burst at once and then one operation at a time`() throws {
        let queue = executor.makeQueue()
        queue.setRateLimit(.tokenBucket(10, per: .seconds(1), burst: 3), clock: clock)
        #expect(starts(6, queue) == [0, 0, 0, 100, 200, 300])
    }

    @Test func `a sliding window starts at most its number of operations in each period`() throws {
        let queue = executor.makeQueue()
        queue.setRateLimit(.slidingWindow(2, per: .seconds(1)), clock: clock)
        #expect(starts(5, queue) == [0, 0, 1000, 1000, 2000])
    }

    @Test(arguments: [7, 100, Stress.rounds(1000, least: 150)])
    func `the rate over ten seconds is exact within one percent`(rate: Int) throws {
        let queue = executor.makeQueue()
        queue.setRateLimit(.tokenBucket(rate, per: .seconds(1)), clock: clock)
        let count = Guarded(0)
        for _ in 0..<(rate * 11) { queue.addOperation { count.withLock { $0 += 1 } } }
        executor.run(until: .init(offset: .seconds(10)), of: clock)
        let expected = Double(rate * 10)
        #expect(abs(Double(count.withLock { $0 }) - expected) <= max(1, expected / 100))
        queue.cancelAllOperations()
        queue.setRateLimit(nil)
        executor.runUntilIdle()
        #expect(clock.sleeperCount == 0)
    }

    @Test func `a limit can be changed and removed while operations wait`() throws {
        let queue = executor.makeQueue()
        queue.setRateLimit(.tokenBucket(1, per: .seconds(3600)), clock: clock)
        let count = Guarded(0)
        for _ in 0..<10 { queue.addOperation { count.withLock { $0 += 1 } } }
        executor.runUntilIdle()
        #expect(count.withLock { $0 } == 1)
        queue.setRateLimit(.slidingWindow(4, per: .seconds(3600)), clock: clock)
        executor.runUntilIdle()
        #expect(count.withLock { $0 } == 5)
        queue.setRateLimit(nil)
        executor.runUntilIdle()
        #expect(count.withLock { $0 } == 10 && clock.now.offset == .zero && clock.sleeperCount == 0)
    }

    @Test func `the operation of highest priority uses the next permit, and a cancelled operation uses none`() throws {
        let queue = executor.makeQueue()
        queue.setRateLimit(.tokenBucket(1, per: .seconds(1)), clock: clock)
        let log = Journal<String>()
        let clock = clock
        func operation(_ name: String, _ priority: Operation.QueuePriority = .normal) -> Operation {
            let operation = BlockOperation { log.append("\(name) at \(clock.now.offset.milliseconds)") }
            operation.queuePriority = priority
            return operation
        }
        let cancelled = operation("cancelled", .veryHigh)
        queue.addOperation(operation("first"))
        executor.runUntilIdle()
        for operation in [operation("low", .low), cancelled, operation("high", .high)] { queue.addOperation(operation) }
        cancelled.cancel()
        executor.runUntilIdle(advancing: clock)
        #expect(cancelled.isFinished)
        #expect(log.entries == ["first at 0", "high at 1000", "low at 2000"])
    }

    @Test func `an operation that waits for a permit reports it, and is not a stall`() throws {
        let queue = executor.makeQueue()
        queue.name = "slow"
        queue.setRateLimit(.tokenBucket(1, per: .seconds(1)), clock: clock)
        let operations = (0..<2).map { _ in BlockOperation {} }
        for operation in operations { queue.addOperation(operation) }
        executor.runUntilIdle()
        #expect(queue.explain(operations[1]).reasons == [.rateLimit(queue: "slow")])
        #expect(queue.stallReport() == nil)
        executor.runUntilIdle(advancing: clock)
    }

    @Test func `an operation that is put back to wait for a resource releases its permit`() throws {
        let queue = executor.makeQueue()
        queue.setRateLimit(.slidingWindow(2, per: .seconds(1)), clock: clock)
        let log = Journal<Int64>()
        let clock = clock
        for _ in 0..<2 {
            let operation = TaskOperation {
                log.append(clock.now.offset.milliseconds)
                try await clock.sleep(for: .milliseconds(10))
            }
            operation.addRequirement(.exclusive("permit"))
            queue.addOperation(operation)
        }
        executor.runUntilIdle(advancing: clock)
        #expect(log.entries == [0, 10])
    }

    /// On real threads: no operation is lost between the limit's timer and the workers.
    @Test(.tags(.threads)) func `every operation of a queue with a limit starts, on real threads too`() async throws {
        let queue = OperationQueue()
        queue.setRateLimit(.tokenBucket(200_000, per: .seconds(1), burst: 10))
        let count = Guarded(0)
        for number in 0..<2000 {
            if number == 1000 { queue.setRateLimit(.slidingWindow(1000, per: .milliseconds(5))) }
            queue.addOperation { count.withLock { $0 += 1 } }
        }
        await queue.waitUntilAllOperationsAreFinished()
        #expect(count.withLock { $0 } == 2000)
    }

    @Test func `the rate limit of a queue can be read`() {
        let queue = OperationQueue()
        #expect(queue.rateLimit == nil)
        queue.setRateLimit(.slidingWindow(3, per: .seconds(1)))
        #expect(queue.rateLimit == .slidingWindow(3, per: .seconds(1)))
        queue.setRateLimit(nil)
        #expect(queue.rateLimit == nil)
    }
}

extension Duration {
    fileprivate var milliseconds: Int64 { Int64(self / .milliseconds(1)) }
}
