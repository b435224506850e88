import Dispatch
import Operations
import TestSupport
import Testing

/// Rules M4–M8: the throwing variants report the misuse and change nothing.
@Suite(.timeLimit(.minutes(5))) struct MisuseTwinSteeringTests {
    private func error(_ body: () throws(OperationError) -> Void) -> OperationError? {
        do { try body() } catch { return error }
        return nil
    }

    /// Rule M4.
    @Test func `an underlying queue for a queue that is not empty`() throws {
        let queue = OperationQueue.suspended()
        queue.name = "it"
        let dispatchQueue = DispatchQueue(label: "underlying")
        queue.addOperation {}
        let found = error { () throws(OperationError) in try queue.trySetUnderlyingQueue(dispatchQueue) }
        #expect(found == .underlyingQueueWhileNotEmpty(queue: "queue 'it'"))
        #expect(found?.description.contains("Set it before adding the first") == true)
        #expect(queue.underlyingQueue == nil)
        queue.isSuspended = false
        queue.waitUntilAllOperationsAreFinished()
        queue.addBarrierBlock {}
        queue.waitUntilAllOperationsAreFinished()
        try queue.trySetUnderlyingQueue(dispatchQueue)
        #expect(queue.underlyingQueue === dispatchQueue)
    }

    /// Rule M4.
    @Test func `an underlying queue while only a barrier is queued`() {
        let queue = OperationQueue.suspended()
        queue.addBarrierBlock {}
        let found = error { () throws(OperationError) in try queue.trySetUnderlyingQueue(DispatchQueue.global()) }
        #expect(found != nil && queue.underlyingQueue == nil)
        queue.isSuspended = false
        queue.waitUntilAllOperationsAreFinished()
    }

    /// Rule M5.
    @Test func `a block for an operation that executes or has finished`() throws {
        let log = Journal<Int>()
        let began = Gate()
        let mayEnd = Gate()
        let operation = BlockOperation {
            began.open()
            mayEnd.pass()
            log.append(1)
        }
        operation.name = "it"
        try operation.tryAddExecutionBlock { log.append(2) }
        OperationQueue().addOperation(operation)
        began.pass()
        let expected = OperationError.lateExecutionBlock(operation: "BlockOperation 'it'")
        #expect(error { () throws(OperationError) in try operation.tryAddExecutionBlock { log.append(3) } } == expected)
        mayEnd.open()
        operation.waitUntilFinished()
        #expect(error { () throws(OperationError) in try operation.tryAddExecutionBlock { log.append(3) } } == expected)
        #expect(expected.description.contains("Add blocks before it starts"))
        #expect(log.entries.sorted() == [1, 2])
    }

    /// Rule M5.
    @Test func `a block for an operation that was cancelled and has finished`() {
        let operation = BlockOperation()
        operation.cancel()
        operation.start()
        #expect(error { () throws(OperationError) in try operation.tryAddExecutionBlock {} } != nil)
        #expect(operation.executionBlocks.isEmpty)
    }

    /// Rule M6.
    @Test(arguments: [-2, -100, Int.min]) func `a negative width`(width: Int) throws {
        let queue = OperationQueue()
        queue.name = "it"
        queue.maxConcurrentOperationCount = 3
        let found = error { () throws(OperationError) in try queue.trySetMaxConcurrentOperationCount(width) }
        #expect(found == .negativeConcurrencyLimit(queue: "queue 'it'", limit: width))
        #expect(found?.description.contains("Use 0 or more") == true)
        #expect(queue.maxConcurrentOperationCount == 3)
        try queue.trySetMaxConcurrentOperationCount(OperationQueue.defaultMaxConcurrentOperationCount)
        #expect(queue.maxConcurrentOperationCount == -1)
    }

    /// Rule M7.
    @Test func `an operation that depends on itself`() {
        let operation = CountingOperation()
        operation.name = "it"
        let found = error { () throws(OperationError) in try operation.tryAddDependency(operation) }
        #expect(found == .dependsOnItself(operation: "CountingOperation 'it'"))
        #expect(found?.description.contains("could never become ready") == true)
        #expect(operation.dependencies.isEmpty && operation.isReady)
        operation.start()
        #expect(operation.runCount == 1)
    }

    /// Rule M8.
    @Test func `an operation that waits for itself, from main and from every block`() {
        let log = Journal<OperationError?>()
        let error: @Sendable (BlockOperation) -> Void = { operation in
            do throws(OperationError) {
                try operation.tryWaitUntilFinished()
                log.append(nil)
            } catch { log.append(error) }
        }
        for inQueue in [true, false] {
            let operation = BlockOperation()
            operation.name = "it"
            // The blocks meet, so that every block has its own thread.
            let meeting = Gate(3)
            for _ in 0..<3 {
                operation.addExecutionBlock { [unowned operation] in
                    meeting.meet()
                    error(operation)
                }
            }
            if inQueue { OperationQueue().addOperation(operation) } else { operation.start() }
            operation.waitUntilFinished()
        }
        let expected = OperationError.waitsForItself(operation: "BlockOperation 'it'")
        #expect(log.entries == Array(repeating: expected, count: 6))
        #expect(expected.description.contains("waits for "))
    }

    /// Rule M8.
    @Test func `waiting inside a serial queue for another operation of it`() {
        let queue = OperationQueue.serial()
        queue.name = "it"
        let other = CountingOperation()
        other.name = "other"
        let log = Journal<OperationError?>()
        queue.addOperation { [unowned queue] in
            queue.addOperation(other)
            log.append(self.error { () throws(OperationError) in try other.tryWaitUntilFinished() })
        }
        queue.waitUntilAllOperationsAreFinished()
        let expected = OperationError.waitsInsideSerialQueue(
            operation: "CountingOperation 'other'", queue: "queue 'it'")
        #expect(log.entries == [expected])
        #expect(expected.description.contains("waits for "))
        #expect(other.runCount == 1)
    }

    /// Rule M8: the operation leaves its queue after its observers have returned.
    @Test func `an observer of the end of an operation waits for its serial queue`() {
        for operation in [BlockOperation {}, CountingOperation()] as [Operations.Operation] {
            let (queue, other, log) = (OperationQueue.serial(), BlockOperation {}, Journal<OperationError?>())
            (queue.name, operation.name, other.name) = ("it", "it", "other")
            queue.isSuspended = true
            let token = operation.observe(\.isFinished) { [unowned queue] _, _ in
                log.append(self.error { () throws(OperationError) in try queue.tryWaitUntilAllOperationsAreFinished() })
                log.append(self.error { () throws(OperationError) in try other.tryWaitUntilFinished() })
            }
            queue.addOperations([operation, other], waitUntilFinished: false)
            queue.isSuspended = false
            queue.waitUntilAllOperationsAreFinished()
            token.invalidate()
            #expect(
                log.entries == [
                    .waitsForItself(operation: "\(type(of: operation)) 'it'"),
                    .waitsInsideSerialQueue(operation: "BlockOperation 'other'", queue: "queue 'it'"),
                ])
        }
    }

    /// Rules M8 and Q2.
    @Test func `a batch to wait for, added inside a serial queue to the same queue, is not added`() {
        let queue = OperationQueue.serial()
        let batch = [CountingOperation(), CountingOperation()]
        let log = Journal<Int>()
        queue.addOperation { [unowned queue] in
            let found = self.error { () throws(OperationError) in
                try queue.tryAddOperations(batch, waitUntilFinished: true)
            }
            #expect(found != nil)
            log.append(queue.countNow)
        }
        queue.waitUntilAllOperationsAreFinished()
        #expect(log.entries == [1])
        #expect(batch.allSatisfy { $0.runCount == 0 && !$0.isFinished })
    }

    /// Rule M8.
    @Test func `waiting for all operations of a queue from inside it`() {
        let queue = OperationQueue()
        let log = Journal<OperationError?>()
        let operation = BlockOperation { [unowned queue] in
            log.append(self.error { () throws(OperationError) in try queue.tryWaitUntilAllOperationsAreFinished() })
        }
        operation.name = "it"
        queue.addOperation(operation)
        queue.waitUntilAllOperationsAreFinished()
        #expect(log.entries == [.waitsForItself(operation: "BlockOperation 'it'")])
    }

    /// Rule M8: the operation around the waiting one could not finish.
    @Test func `waiting from an operation started by hand for the outer operation, or for all of its queue`() {
        let queue = OperationQueue()
        let log = Journal<OperationError?>()
        let outer = BlockOperation()
        outer.name = "outer"
        outer.addExecutionBlock { [unowned outer, unowned queue] in
            BlockOperation {
                log.append(self.error { () throws(OperationError) in try outer.tryWaitUntilFinished() })
                log.append(self.error { () throws(OperationError) in try queue.tryWaitUntilAllOperationsAreFinished() })
            }.start()
        }
        queue.addOperations([outer], waitUntilFinished: true)
        let expected = OperationError.waitsForItself(operation: "BlockOperation 'outer'")
        #expect(log.entries == [expected, expected])
    }
}
