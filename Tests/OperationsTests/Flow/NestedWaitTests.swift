import TestSupport
import Testing

@testable import Operations

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// A worker that is about to sleep first takes the step that it has promised. The step may run user code that waits too.
@Suite(.timeLimit(.minutes(5)), .tags(.threads)) struct NestedWaitTests {
    @Test(arguments: 1...20)
    func `a completion block may wait for an operation while the blocks of another operation run`(round: Int) {
        let (queue, others) = (OperationQueue(), OperationQueue())
        let (helperMayEnd, awaitedMayEnd, waits) = (Gate(), Gate(), Gate())
        let returnedEarly = Guarded(false)
        let awaited = BlockOperation { awaitedMayEnd.pass() }
        let outer = ContinuingOperation {
            let starter = ObjectIdentifier(ThreadContext.current)
            let meeting = Gate(2)
            let blocks = BlockOperation {}
            for _ in 0..<2 {
                blocks.addExecutionBlock {
                    meeting.meet()
                    if ObjectIdentifier(ThreadContext.current) != starter { helperMayEnd.pass() }
                }
            }
            blocks.start()
        }
        outer.completionBlock = {
            helperMayEnd.open()
            for _ in 0..<1000 { sched_yield() }
            waits.open()
            awaited.waitUntilFinished()
            if !awaited.isFinished { returnedEarly.withLock { $0 = true } }
        }
        others.addOperation(awaited)
        queue.addOperation(outer)
        waits.pass()
        awaitedMayEnd.open()
        queue.waitUntilAllOperationsAreFinished()
        others.waitUntilAllOperationsAreFinished()
        #expect(!returnedEarly.withLock { $0 })
    }

    @Test(arguments: 1...20)
    func `a deinit may wait for an operation while the promised cancel of another operation waits`(round: Int) {
        let (queue, others) = (OperationQueue(), OperationQueue())
        let (firstIsRunning, firstMayEnd, cancelIsCalled, cancelMayEnd) = (Gate(), Gate(), Gate(), Gate())
        let (outerMayEnd, outerHasEnded, innerMayEnd, waits) = (Gate(), Gate(), Gate(), Gate())
        let returnedEarly = Guarded(0)
        queue.maxConcurrentOperationCount = 1
        let inner = BlockOperation { innerMayEnd.pass() }
        let awaited = BlockOperation { outerMayEnd.pass() }
        awaited.completionBlock = { outerHasEnded.open() }
        others.addOperations([inner, awaited], waitUntilFinished: false)
        let never = Operation()

        // The caller of `cancelAllOperations` stays in the first call.
        let blocking = CancelHookOperation {
            cancelIsCalled.open()
            cancelMayEnd.pass()
        }
        let promised = CancelHookOperation {
            // The deinit below waits for this operation. It ends before this call waits.
            outerMayEnd.open()
            outerHasEnded.pass()
            waits.open()
            inner.waitUntilFinished()
            if !inner.isFinished { returnedEarly.withLock { $0 += 1 } }
        }
        blocking.addDependency(never)
        promised.addDependency(never)
        queue.addOperation(blocking)
        queue.addOperation {
            firstIsRunning.open()
            firstMayEnd.pass()
        }
        queue.addOperation(promised)
        firstIsRunning.pass()
        let canceller = TestThread { queue.cancelAllOperations() }
        cancelIsCalled.pass()
        do {
            let waiting = DeinitHookOperation {
                awaited.waitUntilFinished()
                if !awaited.isFinished { returnedEarly.withLock { $0 += 1 } }
            }
            waiting.queuePriority = .veryHigh
            queue.addOperation(waiting)
        }
        firstMayEnd.open()
        waits.pass()
        innerMayEnd.open()
        cancelMayEnd.open()
        canceller.join()
        queue.waitUntilAllOperationsAreFinished()
        others.waitUntilAllOperationsAreFinished()
        #expect(returnedEarly.withLock { $0 } == 0)
    }
}

/// An operation whose `start()` continues after the end of the operation.
private final class ContinuingOperation: Operation, @unchecked Sendable {
    private let rest: @Sendable () -> Void

    init(_ rest: @escaping @Sendable () -> Void) { self.rest = rest }

    override func start() {
        super.start()
        rest()
    }
}

private final class CancelHookOperation: Operation, @unchecked Sendable {
    private let hook: @Sendable () -> Void

    init(_ hook: @escaping @Sendable () -> Void) { self.hook = hook }

    override func cancel() {
        hook()
        super.cancel()
    }
}

private final class DeinitHookOperation: Operation, @unchecked Sendable {
    private let hook: @Sendable () -> Void

    init(_ hook: @escaping @Sendable () -> Void) { self.hook = hook }

    deinit { hook() }
}
