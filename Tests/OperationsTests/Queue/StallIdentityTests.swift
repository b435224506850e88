import Operations
import TestSupport
import Testing

/// Rule N3: a report distinguishes queues by identity, also when a subclass overrides `isEqual`.
@Suite(.timeLimit(.minutes(1))) struct StallIdentityTests {
    /// All queues of this class are equal.
    private final class Same: OperationQueue, @unchecked Sendable {
        override func isEqual(_ object: Any?) -> Bool { object is Same }
        override var hash: Int { 0 }
    }

    private final class SameOperation: Operations.Operation, @unchecked Sendable {
        override func isEqual(_ object: Any?) -> Bool { object is SameOperation }
        override var hash: Int { 0 }
    }

    @Test(arguments: [false, true])
    func `a stall report distinguishes two queues that count as equal`(isStuckFirst: Bool) {
        let (moving, stuck, queue, gate) = (Same(), Same(), OperationQueue(), Gate())
        moving.addOperation { gate.pass() }
        let (never, waiting) = (SameOperation(), SameOperation())
        waiting.addDependency(never)
        stuck.addOperation(waiting)
        let last = [moving, stuck].map { queue in
            queue.addBarrierBlock {}
            let operation = SameOperation()
            queue.addOperation(operation)
            return operation
        }
        let both = Operation()
        for operation in isStuckFirst ? last.reversed() : last { both.addDependency(operation) }
        queue.addOperation(both)
        #expect(queue.stallReport()?.blocked.count == 1, "the barrier of one queue waits for ever")
        gate.open()
        never.start()
        queue.waitUntilAllOperationsAreFinished()
    }
}
