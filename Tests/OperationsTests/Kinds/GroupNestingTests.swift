import Operations
import TestSupport
import Testing

/// Rule M10, and groups that change their group.
@Suite(.timeLimit(.minutes(5))) struct GroupNestingTests {
    @Test func `a group that a full group refuses can be added to another group and to the same group`() {
        let (queue, gate) = (OperationQueue(), Gate())
        let (group, other) = (GroupOperation(), GroupOperation())
        let (first, second) = (GroupOperation(), GroupOperation())
        let ran = Journal<String>()
        for (name, inner) in [("first", first), ("second", second)] {
            inner.addChild(BlockOperation { ran.append(name) })
        }
        group.addChild(
            BlockOperation {
                let children = OperationQueue.current!
                children.setCapacity(1)
                children.addOperation(BlockOperation { gate.pass() })
                for inner in [first, second] {
                    #expect(throws: OperationError.self) { try group.tryAddChild(inner) }
                }
                #expect(throws: Never.self) { try other.tryAddChild(first) }
                children.setCapacity(nil)
                #expect(throws: Never.self) { try group.tryAddChild(second) }
                // The nesting of the accepted groups still counts.
                #expect(throws: OperationError.self) { try first.tryAddChild(other) }
                #expect(throws: OperationError.self) { try second.tryAddChild(group) }
                gate.open()
            })
        queue.addOperations([group], waitUntilFinished: true)
        queue.addOperations([other], waitUntilFinished: true)
        #expect(ran.entries.sorted() == ["first", "second"])
    }

    @Test func `a group that is refused a second time stays in its group`() {
        let (outer, inner) = (GroupOperation(), GroupOperation())
        outer.addChild(inner)
        #expect(throws: OperationError.self) { try outer.tryAddChild(inner) }
        #expect(throws: OperationError.self) { try inner.tryAddChild(outer) }
        outer.cancel()
    }
}
