#if canImport(Glibc)
import CAllocator
import Glibc
import Operations
import TestSupport
import Testing

/// What the library keeps ends with its owner (rule A10): done very often, it leaves neither memory nor descriptors.
///
/// Each in a process of its own, for it looks at the memory of the process. What a first round leaves is kept for what comes
/// next, such as threads and the storage of dictionaries; two more rounds must leave nothing. With `OPERATIONS_STRESS` from 4
/// each is done more than 100,000 times.
@Suite(.serialized, .timeLimit(.minutes(20))) struct LimitsStress {
    @Test func `time limits of operations that have ended keep no more than the runtime's sleeps`() async {
        await #expect(processExitsWith: .success) {
            let queue = OperationQueue()
            // The runtime keeps a sleep that was cancelled, some hundred bytes, until its time has come.
            await expectNothingLeft(each: 32) { count in
                for number in 0..<count / 32 {
                    let operation = BlockOperation {}
                    try! operation.setTimeout(.seconds(3600))
                    if number % 2 == 0 { try! operation.setDeadline(.now + .seconds(3600), clock: ContinuousClock()) }
                    queue.addOperation(operation)
                    if number % 1000 == 0 { await queue.waitUntilAllOperationsAreFinished() }
                }
                await queue.waitUntilAllOperationsAreFinished()
            }
        }
    }

    @Test func `rate limits that are replaced leave no timers`() async {
        await #expect(processExitsWith: .success) {
            let queue = OperationQueue()
            await expectNothingLeft(each: 32) { count in
                let limit = try! RateLimit.slidingWindow(1, per: .seconds(3600))
                for _ in 0..<count / 32 {
                    queue.setRateLimit(limit)
                    queue.addOperation {}
                }
                queue.setRateLimit(nil)
                await queue.waitUntilAllOperationsAreFinished()
            }
        }
    }

    @Test func `tasks that wait for operations leave nothing in them`() async {
        await #expect(processExitsWith: .success) {
            let queue = OperationQueue()
            await expectNothingLeft { count in
                queue.isSuspended = true
                let operations = (0..<100).map { _ in BlockOperation {} }
                for operation in operations { queue.addOperation(operation) }
                await withTaskGroup(of: Void.self) { group in
                    for number in 0..<count / 4 {
                        group.addTask { await operations[number % 100].waitUntilFinished() }
                    }
                    queue.isSuspended = false
                }
                await queue.waitUntilAllOperationsAreFinished()
            }
        }
    }

    @Test func `completion blocks that are replaced, or have run, are released`() async {
        await #expect(processExitsWith: .success) {
            let queue = OperationQueue()
            await expectNothingLeft { count in
                let replaced = BlockOperation {}
                for number in 0..<count {
                    replaced.completionBlock = { _ = number }
                    let operation = BlockOperation {}
                    operation.completionBlock = { _ = operation.isFinished }
                    queue.addOperation(operation)
                    if number % 1000 == 0 { await queue.waitUntilAllOperationsAreFinished() }
                }
                await queue.waitUntilAllOperationsAreFinished()
            }
        }
    }

    @Test func `task operations leave nothing, whether awaited, cancelled or never started`() async {
        await #expect(processExitsWith: .success) {
            let queue = OperationQueue()
            await expectNothingLeft { count in
                for number in 0..<count / 2 {
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
            await expectNothingLeft { count in
                for number in 0..<count / 4 {
                    let queue = OperationQueue()
                    queue.name = "queue of the number \(number)"
                    let operation = BlockOperation {}
                    operation.name = "operation of the number \(number)"
                    queue.addOperation(operation)
                    if number % 16 == 0 { await queue.waitUntilAllOperationsAreFinished() }
                }
            }
        }
    }

    @Test func `limits of keys end with their queue, and keys with their operations`() async {
        await #expect(processExitsWith: .success) {
            let lasting = OperationQueue()
            try! lasting.setLimitPerKey(1)
            await expectNothingLeft { count in
                let queue = OperationQueue()
                for number in 0..<count {
                    try! queue.setLimit(1, forKey: "key \(number)")
                    if number % 2 == 0 { lasting.addOperation(BlockOperation {}, limitKey: "key \(number)") }
                    if number % 1000 == 0 { await lasting.waitUntilAllOperationsAreFinished() }
                }
                queue.addOperation(BlockOperation {}, limitKey: "key 1")
                await queue.waitUntilAllOperationsAreFinished()
                await lasting.waitUntilAllOperationsAreFinished()
            }
        }
    }

    @Test func `conditions and groups leave nothing`() async {
        await #expect(processExitsWith: .success) {
            let queue = OperationQueue()
            await expectNothingLeft { count in
                for number in 0..<count / 20 {
                    let group = GroupOperation { [BlockOperation {}, BlockOperation {}] }
                    group.addCondition(OperationCondition("it holds") { [unowned group] in !group.isFinished })
                    queue.addOperation(group)
                    if number % 7 == 0 { group.cancel() }
                    if number % 100 == 0 { await queue.waitUntilAllOperationsAreFinished() }
                }
                await queue.waitUntilAllOperationsAreFinished()
            }
        }
    }
}

/// - Parameter each: So many bytes for each time are no loss of the library's.
private func expectNothingLeft(each: Int = 0, _ body: (Int) async -> Void) async {
    let count = Stress.rounds(30_000)
    await body(count)
    let (memory, descriptors) = (settled(.max), descriptorCount())
    let limit = memory + 2 * each * count + (1 << 19)
    for _ in 0..<2 { await body(count) }
    let after = settled(limit)
    #expect(after <= limit, "\(after - memory) bytes more after \(2 * count)")
    // Dispatch opens some of its own when it first has a timer to wait for.
    #expect(descriptorCount() <= descriptors + 8)
}

/// What `malloc` has given out, as soon as it is no more than that, or after ten seconds: the thread that used something last may
/// hold it for a moment more. With the sanitizers' allocators it is nothing.
private func settled(_ limit: Int) -> Int {
    func inUse() -> Int {
        let info = mallinfo2()
        return info.uordblks + info.hblkhd
    }
    usleep(50_000)
    for _ in 0..<1_000 where inUse() > limit { usleep(10_000) }
    return inUse()
}

private func descriptorCount() -> Int {
    guard let directory = opendir("/proc/self/fd") else { return 0 }
    defer { closedir(directory) }
    var count = 0
    while readdir(directory) != nil { count += 1 }
    return count
}
#endif
