@testable import Operations
import TestSupport
import Testing

/// Rule A9, on threads of the pool: a unit is reserved only for an operation that comes for it soon.
@Suite(.timeLimit(.minutes(5))) struct ResourceTurnTests {
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
}
