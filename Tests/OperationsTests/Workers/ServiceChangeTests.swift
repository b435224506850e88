import Synchronization
import TestSupport
import Testing

@testable import Operations

/// Rule P6 for operations that wait: a worker of the present level runs them.
@Suite(.timeLimit(.minutes(5)), .tags(.threads)) struct ServiceChangeTests {
    /// Runs an operation in a suspended queue after changes, and returns the level of the thread.
    ///
    /// - Parameter isScheduled: Whether the operation is in the schedule when it changes. Otherwise it is in the inbox.
    private func level(
        of operation: Operation? = nil, in queue: OperationQueue, isScheduled: Bool = false,
        changes: (Operation) -> Void
    ) -> ServiceLevel? {
        let level = Guarded<ServiceLevel?>(nil)
        let operation = operation ?? BlockOperation { level.withLock { $0 = ThreadContext.current.worker?.pool.level } }
        queue.isSuspended = true
        queue.addOperation(operation)
        if isScheduled { _ = queue.snapshot() }
        changes(operation)
        queue.isSuspended = false
        // A wait for the operation itself would lend it the level of this thread (rule A17).
        queue.waitUntilAllOperationsAreFinished()
        return (operation as? NotesLevel)?.level.withLock { $0 } ?? level.withLock { $0 }
    }

    @Test func `a waiting operation runs at the level that was set last`() {
        let queue = OperationQueue()
        for isScheduled in [false, true] {
            #expect(level(in: queue, isScheduled: isScheduled) { _ in } == .normal)
            #expect(level(in: queue, isScheduled: isScheduled) { $0.qualityOfService = .utility } == .utility)
            let changed = level(in: queue, isScheduled: isScheduled) {
                $0.qualityOfService = .utility
                $0.qualityOfService = .background
            }
            #expect(changed == .background)
        }
    }

    @Test func `a waiting operation without a quality of its own follows its queue`() {
        let queue = OperationQueue()
        #expect(level(in: queue) { _ in queue.qualityOfService = .utility } == .utility)
        #expect(level(in: queue) { _ in queue.qualityOfService = .background } == .background)
    }

    @Test func `the queue raises an operation of a lower level`() {
        let queue = OperationQueue()
        queue.qualityOfService = .utility
        #expect(level(in: queue) { $0.qualityOfService = .background } == .utility)
        #expect(level(in: queue) { $0.qualityOfService = .userInitiated } == .userInitiated)
    }

    @Test func `an overridden quality of service is read when the operation is added`() {
        #expect(level(of: NotesLevel(), in: OperationQueue()) { _ in } == .background)
    }

    @Test func `a serial queue starts operations of different levels in the order of adding`() {
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 1
        let order = Journal<Int>()
        let count = Stress.rounds(2000, least: 500)
        let operations = (0..<count).map { number in
            let operation = BlockOperation { order.append(number) }
            operation.qualityOfService = [.default, .utility, .background, .userInitiated][number * number % 7 % 4]
            return operation
        }
        queue.addOperations(operations, waitUntilFinished: false)
        queue.waitUntilAllOperationsAreFinished()
        #expect(order.entries == Array(0..<count))
    }

    @Test func `operations of all levels start although their levels and their queue's level change all the time`() {
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 3
        let levels: [QualityOfService] = [.default, .background, .utility, .userInitiated, .userInteractive]
        let runs = Atomic(0)
        var operations: [Operation] = []
        let count = Stress.rounds(3000, least: 700)
        for number in 0..<count {
            let operation = BlockOperation { runs.add(1, ordering: .relaxed) }
            operation.qualityOfService = levels[number % 5]
            operations.append(operation)
            queue.addOperation(operation)
            operations[number / 2].qualityOfService = levels[number * 3 % 5]
            if number % 16 == 0 { queue.qualityOfService = levels[number / 16 % 5] }
        }
        queue.waitUntilAllOperationsAreFinished()
        #expect(runs.load(ordering: .relaxed) == count)
    }
}

/// An operation that overrides its quality of service.
private final class NotesLevel: Operation, @unchecked Sendable {
    // Sendable: a constant.
    let level = Guarded<ServiceLevel?>(nil)

    override var qualityOfService: QualityOfService {
        get { .background }
        set {}
    }

    override func main() { level.withLock { $0 = ThreadContext.current.worker?.pool.level } }
}
