#if canImport(Glibc)
import Operations
import Synchronization
import TestSupport
import Testing

// Gates, groups and orders.
extension LimitsStress {
    @Test func `conditions leave nothing, and neither do their operations`() async {
        await #expect(processExitsWith: .success) {
            let queue = OperationQueue()
            // One error for all: Swift Testing keeps a backtrace for each object that is thrown.
            let failure: any Error = Planned()
            await Limits.expectNothingLeft(Limits.count(debug: 20_000, least: 2_000)) { count in
                for number in 0..<count {
                    let operation = CountedOperation()
                    operation.addCondition(
                        OperationCondition("it holds") { [unowned operation] _ in
                            if operation.isFinished || number % 3 == 0 { throw failure }
                        })
                    await queue.add(operation, number: number)
                }
                await queue.waitUntilAllOperationsAreFinished()
            }
            // The thread that tested the last condition may hold the operation for a moment longer. No event announces the
            // release.
            let end = ContinuousClock.now + .seconds(30)
            while CountedOperation.existing.load(ordering: .sequentiallyConsistent) != 0, ContinuousClock.now < end {
                Pause.yield()
            }
            #expect(CountedOperation.existing.load(ordering: .sequentiallyConsistent) == 0)
        }
    }

    @Test func `times before which operations do not start keep no more than the runtime's sleeps`() async {
        await #expect(processExitsWith: .success) {
            let (queue, clock) = (OperationQueue(), ContinuousClock())
            // The runtime keeps a sleep that was cancelled, some hundred bytes, until its time has come.
            await Limits.expectNothingLeft(Limits.count(debug: 10_000, least: 2_000), each: 1024) { count in
                for number in 0..<count {
                    let operation = BlockOperation {}
                    let isPast = number % 2 == 0
                    operation.addCondition(.notBefore(clock.now + .seconds(isPast ? -1 : 3600), clock: clock))
                    queue.addOperation(operation)
                    if !isPast { operation.cancel() }
                    if number % 1000 == 0 { await queue.waitUntilAllOperationsAreFinished() }
                }
                await queue.waitUntilAllOperationsAreFinished()
            }
        }
    }

    @Test func `names of exclusive resources end with the operations that need them`() async {
        await #expect(processExitsWith: .success) {
            let queue = OperationQueue()
            await Limits.expectNothingLeft(Limits.count(debug: 30_000, least: 2_000)) { count in
                for number in 0..<count {
                    let operation = BlockOperation {}
                    operation.addRequirement(.exclusive("file \(number) of \(count)"))
                    await queue.add(operation, number: number)
                }
                await queue.waitUntilAllOperationsAreFinished()
            }
        }
    }

    @Test func `groups leave nothing`() async {
        await #expect(processExitsWith: .success) {
            let queue = OperationQueue()
            await Limits.expectNothingLeft(Limits.count(debug: 5000, least: 600)) { count in
                for number in 0..<count {
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

    @Test func `priorities that age leave nothing`() async {
        await #expect(processExitsWith: .success) {
            let queue = OperationQueue()
            queue.priorityPolicy = .init(order: .lastInFirstOut, inheritsPriority: true, starvationLimit: 3)
            await Limits.expectNothingLeft(Limits.count(debug: 50_000, least: 2_000)) { count in
                let priorities = Operations.Operation.QueuePriority.allCases
                for number in 0..<count {
                    let (operation, dependency) = (BlockOperation {}, BlockOperation {})
                    operation.queuePriority = priorities[number % priorities.count]
                    operation.addDependency(dependency)
                    queue.addOperation(dependency)
                    await queue.add(operation, number: number)
                    operation.queuePriority = priorities[number / 2 % priorities.count]
                }
                await queue.waitUntilAllOperationsAreFinished()
            }
        }
    }
}

private final class CountedOperation: Operations.Operation, @unchecked Sendable {
    static let existing = Atomic(0)

    override init() {
        super.init()
        Self.existing.add(1, ordering: .sequentiallyConsistent)
    }

    deinit { Self.existing.subtract(1, ordering: .sequentiallyConsistent) }
}
#endif
