import Operations
import OperationsTesting
import TestSupport
import Testing

/// `Task.yield()` in async operations, step by step.
struct YieldTests {
    private let executor = ManualExecutor()
    private let order = Guarded<[String]>([])

    private func note(_ step: String) { order.withLock { $0.append(step) } }

    @Test func `a task that yields waits for one turn`() {
        let queue = executor.makeQueue()
        for name in ["a", "b"] {
            queue.addTask { [self] in
                for part in 1...3 {
                    note("\(name)\(part)")
                    await Task.yield()
                }
            }
        }
        var steps = 0
        while executor.step() { steps += 1 }
        #expect(order.withLock { $0 } == ["a1", "b1", "a2", "b2", "a3", "b3"])
        // One for each start, and one for each yield.
        #expect(steps == 2 + 2 * 3)
    }

    @Test func `child tasks that yield take turns`() {
        let queue = executor.makeQueue()
        let operation = queue.addTask { [self] in
            await withTaskGroup(of: Void.self) { group in
                for name in ["a", "b"] {
                    group.addTask { [self] in
                        note("\(name)1")
                        await Task.yield()
                        note("\(name)2")
                    }
                }
            }
        }
        executor.runUntilIdle()
        #expect(order.withLock { $0 } == ["a1", "b1", "a2", "b2"])
        #expect(operation.isFinished)
    }

    @Test func `a function of an actor that yields continues on the actor`() {
        let queue = executor.makeQueue()
        let counter = Counter()
        for _ in 0..<3 {
            queue.addTask { for _ in 0..<3 { await counter.count() } }
        }
        executor.runUntilIdle()
        let total = Guarded(0)
        queue.addTask {
            let count = await counter.total
            total.withLock { $0 = count }
        }
        executor.runUntilIdle()
        #expect(total.withLock { $0 } == 9)
    }

    @Test func `a task that yields on another executor continues there`() {
        let (queue, other) = (executor.makeQueue(), executor.makeQueue())
        let operation = queue.addTask { [self] in
            await withTaskExecutorPreference(other) {
                note("before")
                await Task.yield()
                note("after")
            }
            await Task.yield()
            note("back")
        }
        executor.runUntilIdle()
        #expect(order.withLock { $0 } == ["before", "after", "back"])
        #expect(operation.isFinished)
    }
}

private actor Counter {
    private(set) var total = 0

    func count() async {
        await Task.yield()
        total += 1
    }
}
