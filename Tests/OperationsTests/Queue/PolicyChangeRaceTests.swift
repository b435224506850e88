import Dispatch
import Operations
import TestSupport
import Testing

/// Rule A20: every public setting may be changed beside every other use, without a report of ThreadSanitizer.
@Suite(.timeLimit(.minutes(5)), .tags(.threads)) struct PolicyChangeRaceTests {
    private let pool = ResourcePool(["unit": 2])

    /// The first change of each setting of a queue is different, so there are many queues.
    @Test func `settings of a queue change while other threads add, explain and look`() {
        for _ in 0..<Stress.rounds(400, small: 20) {
            let queue = OperationQueue()
            DispatchQueue.concurrentPerform(iterations: 4) { thread in
                for round in 0..<10 {
                    switch thread {
                    case 0: changePolicies(of: queue, round)
                    case 1: changeOthers(of: queue, round)
                    case 2: addWithKey(to: queue, round)
                    default: add(to: queue, round)
                    }
                }
            }
            queue.waitUntilAllOperationsAreFinished()
        }
    }

    private func changePolicies(of queue: OperationQueue, _ round: Int) {
        let isEven = round % 2 == 0
        let limit: Int? = round % 3 == 0 ? 10 : nil
        queue.priorityPolicy = OperationQueue.PriorityPolicy(inheritsPriority: isEven, starvationLimit: limit)
        queue.setLimitPerKey(round % 4 == 0 ? nil : 2)
        queue.setCapacity(isEven ? nil : 1_000_000)
        if isEven { queue.unhandledFailureHandler = nil } else { queue.unhandledFailureHandler = { _ in } }
    }

    private func changeOthers(of queue: OperationQueue, _ round: Int) {
        let isEven = round % 2 == 0
        queue.setRateLimit(isEven ? nil : .slidingWindow(1_000_000, per: .milliseconds(1)))
        queue.stallDelay = .seconds(10 + round % 2)
        if isEven { queue.stallHandler = nil } else { queue.stallHandler = { _ in } }
        queue.name = "\(round)"
        queue.qualityOfService = isEven ? .utility : .default
    }

    private func addWithKey(to queue: OperationQueue, _ round: Int) {
        let operation = BlockOperation {}
        if round % 2 == 0 { operation.addRequirement(.units(1, of: "unit", in: pool)) }
        operation.queuePriority = .high
        queue.addOperation(operation, limitKey: "key")
        _ = queue.explain(operation)
    }

    private func add(to queue: OperationQueue, _ round: Int) {
        queue.addOperation {}
        queue.addOperation(Operation())
        guard round % 5 == 0 else { return }
        _ = queue.stallReport()
        _ = queue.snapshot()
    }
}
