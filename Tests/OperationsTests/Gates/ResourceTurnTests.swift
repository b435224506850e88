@testable import Operations
import Synchronization
import TestSupport
import Testing

/// Rule A9, on threads of the pool: a unit is reserved only for an operation that comes for it soon.
@Suite(.timeLimit(.minutes(5)), .tags(.threads)) struct ResourceTurnTests {
    @Test func `a unit offered to an operation whose key has no turn goes to the next operation`() throws {
        let (keyed, other) = (OperationQueue(), OperationQueue())
        let pool = ResourcePool(["unit": 1])
        keyed.setLimitPerKey(1)
        let (holds, mayRelease, turnIsTaken, mayEnd) = (Gate(), Gate(), Gate(), Gate())
        let holder = BlockOperation {
            holds.open()
            mayRelease.pass()
        }
        let (first, second) = (BlockOperation {}, BlockOperation {})
        for operation in [holder, first, second] { operation.addRequirement(.units(1, of: "unit", in: pool)) }
        let waits = WaitingReason.resource(name: "unit", units: 1, inUse: 1, capacity: 1)
        other.addOperation(holder)
        holds.pass()
        keyed.addOperation(first, limitKey: "key")
        while keyed.explain(first).reasons != [waits] { Processor.yield() }
        let long = BlockOperation {
            turnIsTaken.open()
            mayEnd.pass()
        }
        keyed.addOperation(long, limitKey: "key")
        turnIsTaken.pass()
        other.addOperation(second)
        while other.explain(second).reasons != [waits] { Processor.yield() }
        mayRelease.open()
        second.waitUntilFinished()
        #expect(!first.isFinished)
        mayEnd.open()
        keyed.waitUntilAllOperationsAreFinished()
        #expect(first.isFinished)
    }

    /// One queue uses the unit without a pause. Each offer to the queue with keys used to lapse.
    @Test func `a unit offered to an operation with its turn stays reserved for it`() async {
        let (keyed, other) = (OperationQueue(), OperationQueue())
        let pool = ResourcePool(["unit": 1])
        keyed.setLimitPerKey(1)
        let order = Mutex<[Int]>([])
        let waits = WaitingReason.resource(name: "unit", units: 1, inUse: 1, capacity: 1)
        let (holds, mayRelease) = (Gate(), Gate())
        let operations = (0..<4).map { index in
            BlockOperation {
                order.withLock { $0.append(index) }
                guard index == 0 else { return }
                holds.open()
                mayRelease.pass()
            }
        }
        for operation in operations { operation.addRequirement(.units(1, of: "unit", in: pool)) }
        other.addOperation(operations[0])
        holds.pass()
        keyed.addOperation(operations[1], limitKey: "key")
        while keyed.explain(operations[1]).reasons != [waits] { Processor.yield() }
        keyed.addOperation(operations[2])
        while keyed.explain(operations[2]).reasons != [waits] { Processor.yield() }
        other.addOperation(operations[3])
        while other.explain(operations[3]).reasons != [waits] { Processor.yield() }
        mayRelease.open()
        for operation in operations { await operation.waitUntilFinished() }
        #expect(order.withLock { $0 } == [0, 1, 2, 3])
    }

    /// The operation that takes the turn waits for a third operation, which needs the unit. The turn is lost between the
    /// offer and the start, so only some of the repetitions get there.
    @Test func `a unit offered to an operation that loses its turn goes to the next operation`() async {
        for _ in 0..<100 {
            let (keyed, other) = (OperationQueue(), OperationQueue())
            let pool = ResourcePool(["unit": 1])
            keyed.setLimitPerKey(1)
            let waits = WaitingReason.resource(name: "unit", units: 1, inUse: 1, capacity: 1)
            let (holds, mayRelease) = (Gate(), Gate())
            let holder = BlockOperation {
                holds.open()
                mayRelease.pass()
            }
            let (first, third) = (BlockOperation {}, BlockOperation {})
            for operation in [holder, first, third] { operation.addRequirement(.units(1, of: "unit", in: pool)) }
            other.addOperation(holder)
            holds.pass()
            keyed.addOperation(first, limitKey: "key")
            while keyed.explain(first).reasons != [waits] { Processor.yield() }
            other.addOperation(third)
            while other.explain(third).reasons != [waits] { Processor.yield() }
            let urgent = BlockOperation { third.waitUntilFinished() }
            urgent.queuePriority = .veryHigh
            mayRelease.open()
            keyed.addOperation(urgent, limitKey: "key")
            await keyed.waitUntilAllOperationsAreFinished()
            await other.waitUntilAllOperationsAreFinished()
        }
    }
}
