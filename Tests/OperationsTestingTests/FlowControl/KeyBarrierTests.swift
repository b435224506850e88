import Operations
import OperationsTesting
import TestSupport
import Testing

/// Rules A9, D9, X1: a key's turn never belongs to an operation that a barrier blocks for good.
@Suite(.timeLimit(.minutes(5))) struct KeyBarrierTests {
    private let executor = ManualExecutor()

    /// The reason why the operation before the barrier waits while the operation after it is ready.
    enum Wait: CaseIterable, Sendable {
        case condition, dependency, exclusiveName, lowerPriority, requirementOfUnits
    }

    @Test(arguments: Wait.allCases, [nil, 1, 2] as [Int?])
    func `a waiting operation before a barrier starts before an operation of its key after the barrier`(
        wait: Wait, limit: Int?
    ) throws {
        let (queue, other, clock) = (executor.makeQueue(), executor.makeQueue(), VirtualClock())
        let log = Journal<String>()
        queue.setLimitPerKey(limit)
        let first = BlockOperation { log.append("first") }
        let last = BlockOperation { log.append("last") }
        let holder = TaskOperation { try await clock.sleep(for: .seconds(1)) }
        switch wait {
        case .condition:
            first.addCondition(.notBefore(clock.now.advanced(by: .seconds(1)), clock: clock))
        case .dependency:
            first.addDependency(holder)
        case .exclusiveName:
            for operation in [first, holder] as [Operation] {
                operation.addRequirement(.exclusive("behind \(limit ?? 0)"))
            }
        case .lowerPriority:
            first.queuePriority = .veryLow
            last.queuePriority = .veryHigh
            queue.isSuspended = true
        case .requirementOfUnits:
            let pool = ResourcePool(["unit": 1])
            for operation in [first, holder] as [Operation] {
                operation.addRequirement(.units(1, of: "unit", in: pool))
            }
        }
        other.addOperation(holder)
        executor.runUntilIdle()
        queue.addOperation(first, limitKey: "host")
        executor.runUntilIdle()
        queue.addBarrierBlock { log.append("barrier") }
        queue.addOperation(last, limitKey: "host")
        executor.runUntilIdle()
        queue.isSuspended = false
        executor.runUntilIdle(advancing: clock)
        #expect(log.entries == ["first", "barrier", "last"])
    }

    @Test func `each segment between barriers receives the turn of a key in order`() throws {
        let (queue, clock) = (executor.makeQueue(), VirtualClock())
        let log = Journal<Int>()
        queue.setLimitPerKey(1)
        queue.isSuspended = true
        for segment in 0..<5 {
            for number in 0..<6 {
                let operation = TaskOperation {
                    log.append(segment)
                    try await clock.sleep(for: .seconds(1))
                }
                // A later segment has a higher priority and is ready sooner.
                operation.queuePriority = [.veryLow, .low, .normal, .high, .veryHigh][segment]
                operation.addCondition(.notBefore(clock.now.advanced(by: .seconds(5 - segment)), clock: clock))
                queue.addOperation(operation, limitKey: "\(number % 2)")
            }
            queue.addBarrierBlock {}
        }
        queue.isSuspended = false
        executor.runUntilIdle(advancing: clock)
        #expect(log.entries.count == 30 && log.entries == log.entries.sorted())
    }
}
