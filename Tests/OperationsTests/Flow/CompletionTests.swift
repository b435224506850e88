import Operations
import TestSupport
import Testing

/// Rules W1 and W2: the completion block.
@Suite(.timeLimit(.minutes(5)), .tags(.threads)) struct CompletionTests {
    private func makers() -> [@Sendable () -> Operation] {
        [
            { CountingOperation() }, { BlockOperation {} }, { BlockOperation() },
            {
                let operation = AsynchronousOperation()
                operation.onStart = { $0.finish() }
                return operation
            },
            {
                let operation = CountingOperation()
                operation.cancel()
                return operation
            },
        ]
    }

    /// Rule W1.
    @Test(arguments: [true, false]) func `it runs once, after isFinished became true`(inQueue: Bool) {
        for make in makers() {
            let operation = make()
            let log = Journal<[Bool]>()
            let completed = Gate()
            operation.completionBlock = { [unowned operation] in
                log.append([operation.isFinished, operation.isExecuting])
                completed.open()
            }
            if inQueue { OperationQueue().addOperation(operation) } else { operation.start() }
            completed.pass()
            operation.start()
            operation.cancel()
            #expect(log.entries == [[true, false]])
        }
    }

    /// Rule W1.
    @Test func `it delays neither dependents, nor the slot, nor waiters`() {
        let queue = OperationQueue.serial()
        let operation = CountingOperation()
        let dependent = CountingOperation()
        let next = CountingOperation()
        let mayReturn = Gate()
        let returned = Gate()
        operation.completionBlock = {
            mayReturn.pass()
            returned.open()
        }
        dependent.addDependency(operation)
        queue.addOperations([operation, next, dependent], waitUntilFinished: true)
        queue.waitUntilAllOperationsAreFinished()
        #expect(next.runCount == 1 && dependent.runCount == 1)
        mayReturn.open()
        returned.pass()
    }

    /// Rule W1.
    @Test func `it may call any function, and may wait for another operation of the same serial queue`() {
        let queue = OperationQueue.serial()
        let operation = CountingOperation()
        let next = CountingOperation()
        let added = CountingOperation()
        let completed = Gate()
        operation.completionBlock = { [unowned queue] in
            operation.waitUntilFinished()
            operation.removeDependency(next)
            operation.completionBlock = nil
            next.waitUntilFinished()
            queue.addOperation(added)
            queue.maxConcurrentOperationCount = 2
            queue.cancelAllOperations()
            queue.isSuspended = false
            queue.waitUntilAllOperationsAreFinished()
            _ = (queue.countNow, queue.operationsNow, operation.description)
            completed.open()
        }
        queue.addOperation(operation)
        queue.addOperation(next)
        completed.pass()
        #expect(next.runCount == 1 && added.isFinished)
    }

    /// Rule W1.
    @Test func `it runs for an operation that finishes as it is started by hand, in any thread, exactly once`() {
        for _ in 0..<500 {
            let operation = CountingOperation()
            let count = Journal<Int>()
            let completed = Gate()
            let setter = TestThread {
                operation.completionBlock = {
                    count.append(1)
                    completed.open()
                }
            }
            operation.start()
            setter.join()
            // A block that was set in time has run or runs. A block that was set too late is kept.
            if operation.completionBlock == nil { completed.pass() }
            #expect(count.entries.count <= 1)
        }
    }

    /// Rule W2.
    @Test func `the property is nil from the moment the block begins`() {
        let operation = CountingOperation()
        let isNil = Journal<Bool>()
        let completed = Gate()
        operation.completionBlock = { [unowned operation] in
            isNil.append(operation.completionBlock == nil)
            completed.open()
        }
        #expect(operation.completionBlock != nil)
        OperationQueue().addOperation(operation)
        completed.pass()
        #expect(isNil.entries == [true])
        #expect(operation.completionBlock == nil)
    }

    /// Rule W2.
    @Test func `a block that captures its operation leaks nothing after it has run`() {
        for inQueue in [true, false] {
            let released = Gate()
            weak var gone: CountingOperation?
            do {
                final class Traced: CountingOperation, @unchecked Sendable {
                    let tracer: Tracer
                    init(_ released: Gate) { tracer = Tracer(released) }
                }
                let operation = Traced(released)
                operation.completionBlock = { _ = operation.isFinished }
                gone = operation
                if inQueue { OperationQueue().addOperation(operation) } else { operation.start() }
            }
            released.pass()
            #expect(gone == nil)
        }
    }

    /// Rule W2.
    @Test func `a block set on a finished operation is kept and not run`() {
        let operation = CountingOperation()
        operation.start()
        let log = Journal<Int>()
        operation.completionBlock = { log.append(1) }
        operation.start()
        operation.cancel()
        operation.waitUntilFinished()
        #expect(log.entries.isEmpty)
        operation.completionBlock?()
        #expect(log.entries == [1])
    }

    /// Rule W2.
    @Test func `a completion block that sets another one does not make that one run`() {
        let operation = CountingOperation()
        let log = Journal<Int>()
        let completed = Gate()
        operation.completionBlock = { [unowned operation] in
            log.append(1)
            operation.completionBlock = { log.append(2) }
            completed.open()
        }
        OperationQueue().addOperation(operation)
        completed.pass()
        operation.start()
        #expect(log.entries == [1])
        #expect(operation.completionBlock != nil)
    }

    /// Rule W2.
    @Test func `only the block that was set last runs, and none after nil`() {
        let log = Journal<Int>()
        let replaced = CountingOperation()
        replaced.completionBlock = { log.append(1) }
        replaced.completionBlock = { log.append(2) }
        replaced.start()
        let removed = CountingOperation()
        removed.completionBlock = { log.append(3) }
        removed.completionBlock = nil
        removed.start()
        let set = BlockOperation { [unowned removed] in removed.completionBlock = nil }
        set.addExecutionBlock {}
        set.completionBlock = { log.append(4) }
        set.start()
        #expect(log.entries == [2, 4])
    }

    /// Sets a completion block of another operation, when its own state is read for the first time after that operation has
    /// finished.
    private final class SetsBlock: CountingOperation, @unchecked Sendable {
        let work: Guarded<(operation: Operation, block: @Sendable () -> Void)?>

        init(_ operation: Operation, block: @escaping @Sendable () -> Void) { work = Guarded((operation, block)) }

        override var isReady: Bool {
            let due = work.withLock { work in work?.operation.isFinished == true ? work.take() : nil }
            if let due { due.operation.completionBlock = due.block }
            return super.isReady
        }
    }

    /// Rule W1: the operation has ended and the next one is claimed when the block is set.
    @Test func `a block set while the operation finishes may wait for the next one of the same serial queue`() {
        let held = HeldQueue()
        let (operation, next, completed) = (BlockOperation {}, BlockOperation {}, Gate())
        let dependent = SetsBlock(operation) {
            next.waitUntilFinished()
            completed.open()
        }
        dependent.addDependency(operation)
        let other = OperationQueue()
        other.addOperation(dependent)
        held.queue.addOperations([operation, next], waitUntilFinished: false)
        held.release()
        completed.pass()
        #expect(operation.completionBlock == nil)
        dependent.waitUntilFinished()
    }
}
