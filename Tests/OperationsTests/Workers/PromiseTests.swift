import TestSupport
import Testing

@testable import Operations

/// A worker whose operation leaves an observed queue promises to look. The monitor may take the promise before the operation
/// has left, and then finds nothing to start.
@Suite(.onOwnThread, .serialized, .timeLimit(.minutes(5))) struct PromiseTests {
    @Test(arguments: 1...20)
    func `an observer may wait for the next operation although the monitor took the promise too early`(round: Int) {
        let (queue, ran, hasStarted, mayEnd) = (OperationQueue(), Gate(), Gate(), Gate())
        let worker = Guarded<Worker?>(nil)
        queue.maxConcurrentOperationCount = 1
        queue.isSuspended = true
        queue.addOperation {
            worker.withLock { $0 = ThreadContext.current.worker }
            hasStarted.open()
            mayEnd.pass()
        }
        queue.addOperation { ran.open() }
        let observer = CountObserver { if $0 == 1 { ran.pass() } }
        queue.addObserver(observer, forKeyPath: "operationCount", options: .new, context: nil)
        queue.isSuspended = false
        hasStarted.pass()
        let holder = worker.withLock { $0.unsafelyUnwrapped }
        // The worker waits for the lock after it has promised. The monitor takes the promise, and waits for the lock too.
        _ = queue.state.lock()
        mayEnd.open()
        // This thread may lose its processor, and miss the promise.
        let deadline = ContinuousClock.now + .milliseconds(100)
        while !holder.obligation.isSet, ContinuousClock.now < deadline {}
        while holder.obligation.isSet, ContinuousClock.now < deadline {}
        queue.state.unlock()
        queue.waitUntilAllOperationsAreFinished()
        queue.removeObserver(observer, forKeyPath: "operationCount")
    }
}
