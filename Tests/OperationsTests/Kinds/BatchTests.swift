import Operations
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(5))) struct BatchTests {
    @Test func `the outputs have the order of the inputs, regardless of the order of the ends`() async throws {
        let queue = OperationQueue()
        let outputs = try await queue.map(0..<500) { number in
            for _ in 0..<(number % 5) { await Task.yield() }
            return number * 2
        }
        #expect(outputs == (0..<500).map { $0 * 2 })
        let none = try await queue.map([Int]()) { $0 }
        #expect(none.isEmpty)
    }

    @Test(arguments: [(1, 64), (3, 64), (8, 2)])
    func `no more run at a time than the limit and the width allow`(limit: Int, width: Int) async throws {
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = width
        let counter = ConcurrencyCounter()
        let inQueue = Guarded(0)
        _ = try await queue.map(0..<100, atMost: limit) { _ in
            counter.enter()
            inQueue.withLock { $0 = max($0, queue.countNow) }
            await Task.yield()
            counter.leave()
        }
        #expect(counter.most <= min(limit, width) && counter.total == 100)
        #expect(inQueue.withLock { $0 } <= limit)
    }

    @Test func `the first failure is thrown and the others are cancelled`() async {
        let queue = OperationQueue()
        let cancelled = Guarded(0)
        await #expect(throws: Failure.expected) {
            try await queue.map(0..<20) { number in
                if number == 13 { throw Failure.expected }
                while !Task.isCancelled { await Task.yield() }
                cancelled.withLock { $0 += 1 }
            }
        }
        await queue.waitUntilAllOperationsAreFinished()
        #expect(queue.countNow == 0)
    }

    @Test func `cancelling the caller cancels all`() async {
        let queue = OperationQueue()
        let begins = AsyncGate()
        let caller = Task {
            try await queue.map(0..<100, atMost: 4) { _ in
                begins.open()
                while !Task.isCancelled { await Task.yield() }
                try Task.checkCancellation()
            }
        }
        await begins.pass()
        caller.cancel()
        await #expect(throws: CancellationError.self) { try await caller.value }
        await queue.waitUntilAllOperationsAreFinished()
    }

    @Test func `a limit below one, and waiting for a serial queue from inside it, are errors`() async throws {
        let queue = OperationQueue()
        for limit in [0, -1] {
            await #expect(
                throws: OperationError.limitNotPositive(queue: queue.name.map { "queue '\($0)'" }!, limit: limit)
            ) {
                try await queue.map([1], atMost: limit) { $0 }
            }
        }
        queue.maxConcurrentOperationCount = 1
        await #expect(throws: OperationError.self) { try await queue.run { try await queue.map([1]) { $0 } } }
    }
}
