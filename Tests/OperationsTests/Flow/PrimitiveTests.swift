#if DEBUG
@testable import Operations
import SchedulerCore
import Synchronization
import TestSupport
import Testing

/// The locks and the exchanges of atomic words on the path of one operation; see "Architecture".
@Suite struct PrimitiveTests {
    private let queue = OperationQueue()
    private let gate = Gate()

    /// The one slot of the queue is occupied until the gate opens.
    init() {
        queue.maxConcurrentOperationCount = 1
        let reached = Gate()
        queue.addOperation { [gate] in
            reached.open()
            gate.pass()
        }
        reached.pass()
    }

    @Test func `adding a block operation to a busy queue takes no lock and three exchanges`() {
        let operations = (0..<10).map { _ in BlockOperation {} }
        let before = Primitives.ofThisThread
        for operation in operations { queue.addOperation(operation) }
        #expect(Primitives.ofThisThread - before == Primitives.Counts(locks: 0, exchanges: 30))
        gate.open()
        queue.waitUntilAllOperationsAreFinished()
    }

    @Test func `a worker takes one lock and five exchanges for each block operation`() {
        let readings = Mutex<[Primitives.Counts]>([])
        for _ in 0..<20 { queue.addOperation { readings.withLock { $0.append(Primitives.ofThisThread) } } }
        gate.open()
        queue.waitUntilAllOperationsAreFinished()
        let all = readings.withLock { $0 }
        // The counts from one operation to the next. The first look drains the inbox, which has all operations.
        let differences = zip(all.dropFirst(), all).map { $0 - $1 }.dropFirst()
        // Not all: a worker that loses its processor for some milliseconds gives way to another one, which takes the lock.
        #expect(differences.count { $0 == Primitives.Counts(locks: 1, exchanges: 5) } >= 10)
    }
}
#endif
