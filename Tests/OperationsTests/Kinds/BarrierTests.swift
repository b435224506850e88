import Dispatch
import Operations
import TestSupport
import Testing

/// Section 9: barriers.
@Suite(.timeLimit(.minutes(5))) struct BarrierTests {
    /// Rule X1.
    @Test func `a barrier runs after all earlier operations and before all later ones`() {
        for _ in 0..<200 {
            let queue = OperationQueue()
            let log = Journal<String>()
            for _ in 0..<8 { queue.addOperation { log.append("before") } }
            queue.addBarrierBlock { log.append("barrier") }
            for _ in 0..<8 { queue.addOperation { log.append("after") } }
            queue.waitUntilAllOperationsAreFinished()
            let expected = Array(repeating: "before", count: 8) + ["barrier"] + Array(repeating: "after", count: 8)
            #expect(log.entries == expected)
        }
    }

    /// Rule X1.
    @Test func `several barriers keep their order`() {
        let queue = OperationQueue()
        let log = Journal<Int>()
        for i in 0..<100 { queue.addBarrierBlock { log.append(i) } }
        queue.waitUntilAllOperationsAreFinished()
        #expect(log.entries == Array(0..<100))
    }

    /// Rule X1: an operation of the highest priority behind the barrier also waits.
    @Test func `priority does not pass a barrier`() {
        let queue = OperationQueue()
        let (gate, log) = (Gate(), Journal<String>())
        queue.addOperation {
            gate.pass()
            log.append("before")
        }
        queue.addBarrierBlock { log.append("barrier") }
        let urgent = BlockOperation { log.append("urgent") }
        urgent.queuePriority = .veryHigh
        queue.addOperation(urgent)
        gate.open()
        queue.waitUntilAllOperationsAreFinished()
        #expect(log.entries == ["before", "barrier", "urgent"])
    }

    /// Rule X2.
    @available(*, deprecated)
    @Test func `a barrier is waited for but not counted`() {
        let queue = OperationQueue()
        let (running, gate) = (Gate(), Gate())
        let log = Journal<String>()
        queue.addBarrierBlock {
            running.open()
            gate.pass()
            log.append("barrier")
        }
        running.pass()
        #expect(queue.operationCount == 0)
        #expect(queue.operations.isEmpty)
        gate.open()
        queue.waitUntilAllOperationsAreFinished()
        #expect(log.entries == ["barrier"])
    }

    /// Rule X2.
    @Test func `later operations wait for a barrier in an empty queue`() {
        for width in [1, 8, OperationQueue.defaultMaxConcurrentOperationCount] {
            let queue = OperationQueue()
            queue.maxConcurrentOperationCount = width
            let (running, gate) = (Gate(), Gate())
            let log = Journal<String>()
            queue.addBarrierBlock {
                running.open()
                gate.pass()
                log.append("barrier")
            }
            running.pass()
            let after = (0..<4).map { _ in BlockOperation { log.append("after") } }
            queue.addOperations(after, waitUntilFinished: false)
            #expect(after.allSatisfy { !$0.isExecuting && !$0.isFinished })
            gate.open()
            queue.waitUntilAllOperationsAreFinished()
            #expect(log.entries == ["barrier", "after", "after", "after", "after"])
        }
    }

    /// Rule X2.
    @Test func `suspension holds a barrier`() {
        let queue = OperationQueue()
        queue.isSuspended = true
        let log = Journal<String>()
        queue.addBarrierBlock { log.append("barrier") }
        queue.addOperation { log.append("after") }
        #expect(queue.stallReport() != nil)
        log.append("resumed")
        queue.isSuspended = false
        queue.waitUntilAllOperationsAreFinished()
        #expect(log.entries == ["resumed", "barrier", "after"])
    }

    /// Rule X2.
    @Test(arguments: [false, true])
    func `a barrier runs on the underlying queue`(isConcurrent: Bool) {
        let key = DispatchSpecificKey<Bool>()
        let dispatchQueue = DispatchQueue(label: "underlying", attributes: isConcurrent ? .concurrent : [])
        dispatchQueue.setSpecific(key: key, value: true)
        let queue = OperationQueue()
        queue.underlyingQueue = dispatchQueue
        let log = Journal<Bool>()
        for _ in 0..<4 { queue.addOperation { log.append(DispatchQueue.getSpecific(key: key) == true) } }
        queue.addBarrierBlock { log.append(DispatchQueue.getSpecific(key: key) == true) }
        queue.waitUntilAllOperationsAreFinished()
        #expect(log.entries == [true, true, true, true, true])
    }

    /// Rule X4.
    @Test func `cancelled operations behind a barrier wait for it, and adding them returns at once`() {
        let queue = OperationQueue()
        let (gate, log) = (Gate(), Journal<String>())
        queue.addOperation { gate.pass() }
        queue.addBarrierBlock { log.append("barrier") }
        let cancelledBefore = BlockOperation { log.append("never") }
        cancelledBefore.cancel()
        cancelledBefore.completionBlock = { log.append("completed") }
        queue.addOperation(cancelledBefore)
        let cancelledAfter = BlockOperation { log.append("never") }
        queue.addOperation(cancelledAfter)
        cancelledAfter.cancel()
        #expect(!cancelledBefore.isFinished)
        #expect(!cancelledAfter.isFinished)
        gate.open()
        cancelledAfter.waitUntilFinished()
        queue.waitUntilAllOperationsAreFinished()
        #expect(log.entries.first == "barrier")
        #expect(!log.entries.contains("never"))
    }

    /// Rules X4, C5.
    @Test func `cancelling all operations lets the barrier run`() {
        let queue = OperationQueue()
        let (gate, log) = (Gate(), Journal<String>())
        queue.addOperation { gate.pass() }
        for _ in 0..<10 { queue.addOperation { log.append("never") } }
        queue.maxConcurrentOperationCount = 1
        queue.addBarrierBlock { log.append("barrier") }
        queue.addOperation { log.append("never") }
        queue.isSuspended = true
        queue.cancelAllOperations()
        queue.isSuspended = false
        gate.open()
        queue.waitUntilAllOperationsAreFinished()
        #expect(log.entries.filter { $0 == "barrier" }.count == 1)
    }

    /// Rule X1: a barrier may add operations, which come after it.
    @Test func `a barrier that adds operations and barriers to its queue does not hang`() {
        let queue = OperationQueue()
        let log = Journal<String>()
        queue.addBarrierBlock {
            queue.addOperation { log.append("operation") }
            queue.addBarrierBlock { log.append("second") }
            log.append("first")
        }
        queue.waitUntilAllOperationsAreFinished()
        #expect(log.entries == ["first", "operation", "second"])
    }

    /// Rule X3.
    @Test func `an operation that depends on one behind the barrier is reported as a cycle`() {
        let queue = OperationQueue()
        queue.name = "crossed"
        let (before, behind) = (BlockOperation {}, BlockOperation {})
        (before.name, behind.name) = ("before", "behind")
        before.addDependency(behind)
        queue.addOperation(before)
        queue.addBarrierBlock {}
        queue.addOperation(behind)
        let report = queue.stallReport()
        #expect(
            report?.description.contains("BlockOperation 'before' → BlockOperation 'behind' → a barrier of") == true)
        before.removeDependency(behind)
        queue.waitUntilAllOperationsAreFinished()
        #expect(queue.stallReport() == nil)
    }

    /// Rule X1: the barrier, and the operations behind it, wait for an unready operation in front of it.
    @Test func `a barrier waits for an operation in front of it that is not ready`() {
        let (queue, other) = (OperationQueue(), OperationQueue())
        let (gate, log) = (Gate(), Journal<String>())
        let dependency = BlockOperation { gate.pass() }
        let before = BlockOperation { log.append("before") }
        before.addDependency(dependency)
        queue.addOperation(before)
        queue.addBarrierBlock { log.append("barrier") }
        queue.addOperation { log.append("after") }
        other.addOperation(dependency)
        gate.open()
        queue.waitUntilAllOperationsAreFinished()
        #expect(log.entries == ["before", "barrier", "after"])
    }
}
