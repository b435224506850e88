import Operations
import TestSupport
import Testing

/// The first capacity of a queue, which has counted no operation until then.
@Suite(.timeLimit(.minutes(5)), .tags(.threads)) struct FirstCapacityTests {
    @Test func `an operation that leaves while the first capacity is set does not keep its place`() throws {
        for _ in 0..<Stress.rounds(1_000, least: 80) {
            let (queue, meeting) = (OperationQueue(), Gate(3))
            let adders = (0..<2).map { _ in
                TestThread {
                    meeting.meet()
                    for _ in 0..<20 { try? queue.tryAddOperation(BlockOperation {}) }
                }
            }
            meeting.meet()
            queue.setCapacity(1)
            for adder in adders { adder.join() }
            queue.waitUntilAllOperationsAreFinished()
            try queue.tryAddOperation(BlockOperation {})
        }
    }
}
