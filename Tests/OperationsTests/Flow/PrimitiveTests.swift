#if DEBUG
@testable import Operations
import SchedulerCore
import Synchronization
import TestSupport
import Testing

/// The locks and the exchanges of atomic words on the path of one operation; see "Architecture".
@Suite struct PrimitiveTests {
    @Test func `adding a block operation to a busy queue takes no lock and three exchanges`() {
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 1
        let (gate, reached) = (Gate(), Gate())
        queue.addOperation {
            reached.open()
            gate.pass()
        }
        reached.pass()
        let operations = (0..<10).map { _ in BlockOperation {} }
        let before = Primitives.ofThisThread
        for operation in operations { queue.addOperation(operation) }
        #expect(Primitives.ofThisThread - before == Primitives.Counts(locks: 0, exchanges: 30))
        gate.open()
        queue.waitUntilAllOperationsAreFinished()
    }

    @Test func `a worker takes one lock and five exchanges for each block operation`() {
        #expect(countsOfWorker { block in BlockOperation(block: block) } == Primitives.Counts(locks: 1, exchanges: 5))
    }

    /// The counts of the worker from one operation to the next, of operations that wait together.
    private func countsOfWorker(
        of make: (@escaping @Sendable () -> Void) -> Operations.Operation
    ) -> Primitives.Counts? {
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 1
        let (gate, reached) = (Gate(), Gate())
        queue.addOperation {
            reached.open()
            gate.pass()
        }
        reached.pass()
        let readings = Mutex<[Primitives.Counts]>([])
        for _ in 0..<20 {
            queue.addOperation(make { readings.withLock { $0.append(Primitives.ofThisThread) } })
        }
        gate.open()
        queue.waitUntilAllOperationsAreFinished()
        let all = readings.withLock { $0 }
        let differences = zip(all.dropFirst(), all).map { $0 - $1 }
        // The first look drains the inbox, which has all operations.
        return Set(differences.dropFirst().map { "\($0)" }).count == 1 ? differences.last : nil
    }
}
#endif
