#if canImport(Glibc)
import Operations
import TestSupport
import Testing

/// Everything that the library keeps ends with its owner (rule A10). Used 100,000 times, it leaves no memory or descriptors.
///
/// Each test runs in a process of its own, for it looks at the memory of the process. The other tests of limits are in
/// extensions of this suite.
@Suite(.serialized, .timeLimit(.minutes(20)), .tags(.release, .slow)) struct LimitsStress {
    @Test func `time limits of operations that have ended keep no more than the runtime's sleeps`() async {
        await #expect(processExitsWith: .success) {
            let queue = OperationQueue()
            // The runtime keeps a sleep that was cancelled, some hundred bytes, until its time has come.
            await Limits.expectNothingLeft(Limits.count(debug: 10_000, least: 2_000), each: 1024) { count in
                for number in 0..<count {
                    let operation = BlockOperation {}
                    operation.setTimeout(.seconds(3600))
                    if number % 2 == 0 { operation.setDeadline(.now + .seconds(3600), clock: ContinuousClock()) }
                    await queue.add(operation, number: number)
                }
                await queue.waitUntilAllOperationsAreFinished()
            }
        }
    }

    @Test func `rate limits that are replaced leave no timers`() async {
        await #expect(processExitsWith: .success) {
            let queue = OperationQueue()
            // As above.
            await Limits.expectNothingLeft(Limits.count(debug: 10_000, least: 2_000), each: 1024) { count in
                let limit = RateLimit.slidingWindow(1, per: .seconds(3600))
                for number in 0..<count {
                    queue.setRateLimit(limit)
                    queue.addOperation {}
                    guard number % 1000 == 0 else { continue }
                    queue.setRateLimit(nil)
                    await queue.waitUntilAllOperationsAreFinished()
                }
                queue.setRateLimit(nil)
                await queue.waitUntilAllOperationsAreFinished()
            }
        }
    }

    /// Each permit closes the queue again, with a timer of its own.
    @Test func `a rate limit that opens the queue very often leaves no timers`() async {
        await #expect(processExitsWith: .success) {
            let queue = OperationQueue()
            await Limits.expectNothingLeft(Limits.count(debug: 10_000)) { count in
                queue.setRateLimit(.tokenBucket(1, per: .microseconds(10)))
                for number in 0..<count { await queue.add(BlockOperation {}, number: number) }
                await queue.waitUntilAllOperationsAreFinished()
            }
        }
    }

    @Test func `tasks that wait for operations leave nothing in them`() async {
        await #expect(processExitsWith: .success) {
            let queue = OperationQueue()
            await Limits.expectNothingLeft(Limits.count(debug: 30_000)) { count in
                queue.isSuspended = true
                let operations = (0..<100).map { _ in BlockOperation {} }
                for operation in operations { queue.addOperation(operation) }
                let end = AsyncGate(count)
                // Not in a task group: it searches all its tasks for each one that ends.
                for number in 0..<count {
                    Task {
                        await operations[number % 100].waitUntilFinished()
                        end.open()
                    }
                }
                queue.isSuspended = false
                await end.pass()
                await queue.waitUntilAllOperationsAreFinished()
            }
        }
    }

    @Test func `completion blocks that are replaced, or have run, are released`() async {
        await #expect(processExitsWith: .success) {
            let queue = OperationQueue()
            await Limits.expectNothingLeft(Limits.count()) { count in
                let replaced = BlockOperation {}
                for number in 0..<count {
                    replaced.completionBlock = { _ = number }
                    let operation = BlockOperation {}
                    operation.completionBlock = { _ = operation.isFinished }
                    await queue.add(operation, number: number)
                }
                await queue.waitUntilAllOperationsAreFinished()
            }
        }
    }

    @Test func `task operations leave nothing, whether awaited, cancelled or never started`() async {
        await #expect(processExitsWith: .success) {
            let queue = OperationQueue()
            await Limits.expectNothingLeft(Limits.count(debug: 30_000, least: 2_000)) { count in
                for number in 0..<count {
                    let operation = TaskOperation {
                        await Task.yield()
                        return number
                    }
                    guard number % 10 != 0 else { continue }
                    queue.addOperation(operation)
                    if number % 3 == 0 { operation.cancel() }
                    if number % 100 == 1 { _ = await operation.result }
                }
                await queue.waitUntilAllOperationsAreFinished()
            }
        }
    }

    @Test func `queues and their names end, and their threads serve the next ones`() async {
        await #expect(processExitsWith: .success) {
            await Limits.expectNothingLeft(Limits.count(debug: 50_000, least: 2_000)) { count in
                for number in 0..<count {
                    let queue = OperationQueue()
                    queue.name = "queue of the number \(number)"
                    let operation = BlockOperation {}
                    operation.name = "operation of the number \(number)"
                    await queue.add(operation, number: number, waitingEach: 16)
                }
            }
        }
    }

    @Test func `limits of keys end with their queue, and keys with their operations`() async {
        await #expect(processExitsWith: .success) {
            let lasting = OperationQueue()
            lasting.setLimitPerKey(1)
            await Limits.expectNothingLeft(Limits.count()) { count in
                let queue = OperationQueue()
                for number in 0..<count {
                    queue.setLimit(1, forKey: "key \(number)")
                    lasting.addOperation(BlockOperation {}, limitKey: "key \(number)")
                    if number % 1000 == 0 { await lasting.waitUntilAllOperationsAreFinished() }
                }
                queue.addOperation(BlockOperation {}, limitKey: "key 1")
                await queue.waitUntilAllOperationsAreFinished()
                await lasting.waitUntilAllOperationsAreFinished()
            }
        }
    }

    @Test func `an operation whose readiness changes under a full key leaves nothing in the line of the key`() async {
        await #expect(processExitsWith: .success) {
            let (queue, gate) = (OperationQueue(), Gate())
            queue.setLimitPerKey(1)
            queue.addOperation(BlockOperation { gate.pass() }, limitKey: "key")
            let (waiting, dependency) = (BlockOperation {}, BlockOperation {})
            queue.addOperation(waiting, limitKey: "key")
            await Limits.expectNothingLeft(Limits.count()) { count in
                for number in 0..<count {
                    waiting.addDependency(dependency)
                    waiting.removeDependency(dependency)
                    waiting.queuePriority = number % 2 == 0 ? .high : .low
                }
            }
            gate.open()
            await queue.waitUntilAllOperationsAreFinished()
        }
    }
}
#endif
