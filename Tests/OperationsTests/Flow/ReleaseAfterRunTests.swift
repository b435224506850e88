import Operations
import TestSupport
import Testing

/// Rule W5: blocks that have run are released.
@Suite(.timeLimit(.minutes(5)), .tags(.release)) struct ReleaseAfterRunTests {
    /// Rule W5.
    @Test func `a block's captures are released before the operation completes`() {
        let operation: BlockOperation
        weak var gone: Tracer?
        do {
            let tracer = Tracer()
            gone = tracer
            operation = BlockOperation { tracer.touch() }
        }
        #expect(gone != nil)
        OperationQueue().addOperation(operation)
        operation.waitUntilFinished()
        #expect(gone == nil)
        #expect(operation.executionBlocks.isEmpty)
    }

    /// Rule W5.
    @Test func `each of several blocks is released as soon as it has run`() {
        for inQueue in [true, false] {
            let released = [Gate(), Gate(), Gate()]
            let operation = BlockOperation()
            for index in 0..<3 {
                let tracer = Tracer(released[index])
                operation.addExecutionBlock {
                    tracer.touch()
                    // The previous block, while this one still runs.
                    if index > 0 { released[index - 1].pass() }
                }
            }
            if inQueue { OperationQueue().addOperation(operation) } else { operation.start() }
            released[2].pass()
            operation.waitUntilFinished()
        }
    }

    /// Rule W5.
    @Test func `blocks that never run because of a cancellation are released too`() {
        for inQueue in [true, false] {
            let released = Gate(3)
            let operation = BlockOperation()
            do {
                let tracers = [Tracer(released), Tracer(released), Tracer(released)]
                for tracer in tracers.dropLast() { operation.addExecutionBlock { tracer.touch() } }
                operation.completionBlock = { tracers[2].touch() }
            }
            operation.cancel()
            if inQueue { OperationQueue().addOperation(operation) } else { operation.start() }
            released.pass()
            #expect(operation.executionBlocks.isEmpty && operation.completionBlock == nil)
        }
    }

    /// Rule W5.
    @Test func `a closure given to a queue, a barrier block and a completion block are released after they have run`() {
        let queue = OperationQueue.serial()
        let released = Gate(3)
        let operation = CountingOperation()
        do {
            let tracers = [Tracer(released), Tracer(released), Tracer(released)]
            queue.addOperation { tracers[0].touch() }
            queue.addBarrierBlock { tracers[1].touch() }
            operation.completionBlock = { tracers[2].touch() }
        }
        queue.addOperation(operation)
        released.pass()
    }

    /// Rule W5.
    @Test func `a block operation whose block captures it is released after it has run`() {
        final class Traced: BlockOperation, @unchecked Sendable {
            let released = Guarded<Tracer?>(nil)
        }
        let released = Gate()
        do {
            let operation = Traced()
            operation.released.withLock { $0 = Tracer(released) }
            operation.addExecutionBlock { _ = operation.isExecuting }
            operation.addExecutionBlock { _ = operation.isExecuting }
            OperationQueue().addOperation(operation)
        }
        released.pass()
    }

    /// Rules W5 and D5.
    @Test func `a finished operation keeps its name and dependencies`() {
        let operation = BlockOperation {}
        let dependency = Operation()
        operation.name = "kept"
        operation.addDependency(dependency)
        OperationQueue().addOperations([dependency, operation], waitUntilFinished: true)
        #expect(operation.name == "kept" && operation.dependencies == [dependency])
    }

    /// Rule W5.
    @Test func `finished operations are not held by their queue, their dependencies or waiters`() {
        let queue = OperationQueue()
        let first = Operation()
        let released = Gate(100)
        final class Traced: Operation, @unchecked Sendable {
            let tracer: Tracer
            init(_ released: Gate) { tracer = Tracer(released) }
        }
        do {
            let dependents = (0..<100).map { _ in Traced(released) }
            for dependent in dependents { dependent.addDependency(first) }
            queue.addOperations([first] + dependents, waitUntilFinished: true)
        }
        released.pass()
        #expect(first.isFinished)
    }

    private final class TracedCondition: ConditionOperation, @unchecked Sendable {
        let tracer: Tracer
        init(_ released: Gate) { tracer = Tracer(released) }
    }

    /// Rules W5, Q1 and L8: a second read does not retain the operation a second time.
    @Test(arguments: [false, true])
    func `an operation whose isReady is read again while it is added is released after it has run`(inBatch: Bool) {
        let (queue, released) = (OperationQueue(), Gate())
        do {
            let operation = TracedCondition(released)
            operation.whileAsked.withLock { $0 = { $0.set(true) } }
            if inBatch {
                queue.addOperations([operation], waitUntilFinished: false)
            } else {
                queue.addOperation(operation)
            }
        }
        released.pass()
    }
}
