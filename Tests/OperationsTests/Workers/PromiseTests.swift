import TestSupport
import Testing

@testable import Operations

/// A worker whose operation leaves an observed queue promises to look. The monitor may take the promise before the operation
/// has left, and then finds nothing to start.
@Suite(.onOwnThread, .serialized, .timeLimit(.minutes(5)), .tags(.threads)) struct PromiseTests {
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

    /// The worker that makes the first operation leave frees a place of the queue, and resumes the task. The executor of the
    /// task keeps the worker until the second operation has run.
    @Test(arguments: [true, false])
    func `the executor of a task that waited for capacity may wait for the next operation`(isPlain: Bool) {
        let (queue, hasStarted, mayEnd, hasAdded) = (OperationQueue(), Gate(), Gate(), Gate())
        let second = isPlain ? BlockOperation {} : Operation()
        queue.maxConcurrentOperationCount = 1
        queue.setCapacity(2)
        queue.addOperation {
            hasStarted.open()
            mayEnd.pass()
        }
        queue.addOperation(second)
        hasStarted.pass()
        let executor = WaitsBeforeSecondJob(for: second)
        Task(executorPreference: executor) {
            try await queue.addOperationWaitingForCapacity(BlockOperation {})
            hasAdded.open()
        }
        executor.firstJobHasRun.pass()
        mayEnd.open()
        hasAdded.pass()
        queue.waitUntilAllOperationsAreFinished()
    }

    /// A block that leaves while a resumption waits promises to look. With that promise, operations that the resumed part adds
    /// would call no worker.
    @Test func `a part of an async operation does not run with the promise that the block before it has made`() {
        let (queue, isSuspended) = (OperationQueue(), Gate())
        let continuation = Guarded<UnsafeContinuation<Void, Never>?>(nil)
        let hasPromise = Guarded<Bool?>(nil)
        queue.maxConcurrentOperationCount = 2
        queue.addTask {
            await withUnsafeContinuation { present in
                continuation.withLock { $0 = present }
                isSuspended.open()
            }
            hasPromise.withLock { $0 = ThreadContext.current.worker?.obligation.isSet }
        }
        isSuspended.pass()
        queue.addOperation {
            // The worker of the first part leaves. No other worker is called then, so this one takes the resumption.
            while queue.threads.number > 1 || !queue.signal.claimCall(queue.level) { Processor.yield() }
            continuation.withLock { $0?.resume() }
        }
        queue.waitUntilAllOperationsAreFinished()
        queue.signal.workerArrived(queue.level)
        #expect(hasPromise.withLock { $0 } == false)
    }
}

/// An executor whose second `enqueue` returns when an operation has finished.
private final class WaitsBeforeSecondJob: TaskExecutor {
    let firstJobHasRun = Gate()
    private let hasFinished = Gate()
    private let jobs = Guarded(0)
    private let observation = Guarded<NSKeyValueObservation?>(nil)

    init(for operation: Operation) {
        let hasFinished = hasFinished
        observation.withLock { $0 = operation.observe(\.isFinished) { _, _ in hasFinished.open() } }
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let number = jobs.withLock { jobs in
            jobs += 1
            return jobs
        }
        if number == 2 { hasFinished.pass() }
        _ = TestThread {
            job.runSynchronously(on: self.asUnownedTaskExecutor())
            if number == 1 { self.firstJobHasRun.open() }
        }
    }
}
