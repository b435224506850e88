import Operations
import TestSupport
import Testing

/// Section 6: block operations.
@Suite(.timeLimit(.minutes(5)), .tags(.threads)) struct BlockOperationTests {
    /// Rule B1.
    @Test func `the blocks are listed in order, the initial one first`() {
        let log = Journal<Int>()
        let operation = BlockOperation { log.append(0) }
        for i in 1..<5 { operation.addExecutionBlock { log.append(i) } }
        for block in operation.executionBlocks { block() }
        #expect(log.entries == [0, 1, 2, 3, 4])
    }

    /// Rule B1: the list is a copy.
    @Test func `the list does not change with later blocks`() {
        let operation = BlockOperation()
        #expect(operation.executionBlocks.isEmpty)
        operation.addExecutionBlock {}
        let before = operation.executionBlocks
        operation.addExecutionBlock {}
        #expect(before.count == 1)
        #expect(operation.executionBlocks.count == 2)
    }

    /// Rule B3.
    @Test func `an operation without a block finishes, by hand and in a queue`() {
        let (byHand, queued) = (BlockOperation(), BlockOperation())
        byHand.start()
        OperationQueue().addOperations([queued], waitUntilFinished: true)
        #expect(byHand.isFinished)
        #expect(queued.isFinished)
    }

    /// Rule B2.
    @Test(arguments: [1, 2, 3, 10, 200]) func `every block runs once and the operation ends after the last`(count: Int)
    {
        let queue = OperationQueue()
        let runs = (0..<count).map { _ in Atomic64() }
        let operation = BlockOperation()
        for run in runs { operation.addExecutionBlock { run.add(1) } }
        queue.addOperations([operation], waitUntilFinished: true)
        #expect(runs.allSatisfy { $0.value == 1 })
    }

    /// Rule B2: the thread that started the operation sleeps, and of the other two blocks one has returned.
    @Test func `the operation does not end while its last block runs`() {
        let (meeting, returned, isTaken, log) = (Gate(3), Gate(), Guarded(false), Journal<String>())
        let (operation, starter) = (BlockOperation(), ThreadIdentity.current)
        for _ in 0..<3 {
            operation.addExecutionBlock {
                meeting.meet()
                guard ThreadIdentity.current != starter else { return }
                let isFirst = isTaken.withLock { isTaken in
                    defer { isTaken = true }
                    return !isTaken
                }
                if isFirst {
                    OperationQueue.settle()
                    returned.open()
                } else {
                    returned.pass()
                    OperationQueue.settle()
                    log.append("last")
                }
            }
        }
        operation.start()
        log.append("end")
        #expect(log.entries == ["last", "end"])
    }

    /// Rule B2: also in a queue of width 1.
    @Test(arguments: [2, 3, 16, BlockOperation.guaranteedConcurrency])
    func `blocks that wait for each other all run`(count: Int) {
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 1
        let meeting = Gate(count)
        let operation = BlockOperation()
        for _ in 0..<count { operation.addExecutionBlock { meeting.meet() } }
        queue.addOperations([operation], waitUntilFinished: true)
        #expect(operation.isFinished)
    }

    /// Rule B2: in both directions.
    @Test(arguments: [true, false]) func `a block may wait for its predecessor or its successor`(forward: Bool) {
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 1
        let gates = (0...32).map { _ in Gate() }
        let operation = BlockOperation()
        for i in 0..<32 {
            operation.addExecutionBlock {
                gates[forward ? i + 1 : i].pass()
                gates[forward ? i : i + 1].open()
            }
        }
        gates[forward ? 32 : 0].open()
        queue.addOperations([operation], waitUntilFinished: true)
        #expect(operation.isFinished)
    }

    /// Rule B2, started by hand.
    @Test func `blocks of an operation started by hand run concurrently too, and start returns after the last`() {
        let (meeting, runs) = (Gate(8), Atomic64())
        let operation = BlockOperation()
        for _ in 0..<8 {
            operation.addExecutionBlock {
                meeting.meet()
                runs.add(1)
            }
        }
        operation.start()
        #expect(runs.value == 8)
        #expect(operation.isFinished)
    }

    /// Rules B2, B4: the extra blocks need no slot, so several such operations fill a queue without disturbing each other.
    @Test func `several operations of waiting blocks share a queue of their number`() {
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 4
        let meeting = Gate(32)
        for _ in 0..<4 {
            let operation = BlockOperation()
            for _ in 0..<8 { operation.addExecutionBlock { meeting.meet() } }
            queue.addOperation(operation)
        }
        queue.waitUntilAllOperationsAreFinished()
    }

    /// Rule B4.
    @Test func `a thousand blocks run on no more threads than the bound`() {
        let queue = OperationQueue()
        let counter = ConcurrencyCounter()
        let meeting = Gate(BlockOperation.guaranteedConcurrency)
        let operation = BlockOperation()
        for _ in 0..<1000 {
            operation.addExecutionBlock {
                counter.enter()
                meeting.meet()
                counter.leave()
            }
        }
        queue.addOperations([operation], waitUntilFinished: true)
        #expect(counter.total == 1000)
        #expect(counter.most == BlockOperation.guaranteedConcurrency)
        #expect(counter.threads <= BlockOperation.guaranteedConcurrency)
    }

    /// Rule B4: a concurrency limit of 1 still applies to the operations.
    @Test func `the next operation of a serial queue waits for all blocks`() {
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 1
        let log = Journal<String>()
        for _ in 0..<20 {
            let operation = BlockOperation()
            for _ in 0..<4 { operation.addExecutionBlock { log.append("block") } }
            queue.addOperation(operation)
            queue.addOperation { log.append("next") }
        }
        queue.waitUntilAllOperationsAreFinished()
        #expect(log.entries == (0..<20).flatMap { _ in ["block", "block", "block", "block", "next"] })
    }

    /// Rules B2, Q9.
    @Test func `every block sees the queue of its operation`() {
        let queue = OperationQueue()
        let (seen, meeting) = (Journal<OperationQueue?>(), Gate(4))
        let operation = BlockOperation()
        for _ in 0..<4 {
            operation.addExecutionBlock {
                meeting.meet()
                seen.append(OperationQueue.current)
            }
        }
        queue.addOperations([operation], waitUntilFinished: true)
        #expect(seen.entries == [queue, queue, queue, queue])
    }

    /// Rule B3.
    @Test func `a cancelled operation runs no block`() {
        let queue = OperationQueue()
        queue.isSuspended = true
        let runs = Atomic64()
        let operation = BlockOperation { runs.add(1) }
        operation.addExecutionBlock { runs.add(1) }
        queue.addOperation(operation)
        operation.cancel()
        queue.isSuspended = false
        operation.waitUntilFinished()
        #expect(runs.value == 0)
        #expect(operation.isCancelled)
    }
}
