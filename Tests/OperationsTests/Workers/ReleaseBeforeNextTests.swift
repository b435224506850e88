import Operations
import TestSupport
import Testing

/// A worker claims its next operation in the section in which the present one leaves, and then releases the present one. Its
/// `deinit` may wait for any other operation of the queue, also for the claimed one.
@Suite(.onOwnThread, .timeLimit(.minutes(1)), .tags(.threads, .release)) struct ReleaseBeforeNextTests {
    enum Kind: CaseIterable { case block, subclass, task }
    enum Wait: CaseIterable { case byLibrary, bySemaphore }
    /// In the queues that are not plain, a worker does not claim the next operation in the section in which one leaves.
    enum QueueKind: CaseIterable { case plain, observed, limitedInRate }

    /// With many tiny operations before it, one worker attends the queue.
    @Test(arguments: [0, Stress.rounds(5_000, least: 1_000)], Kind.allCases)
    func `a deinit may wait for the next operation of a serial queue`(before: Int, kind: Kind) {
        for isAsync in [false, true] {
            for wait in Wait.allCases { releaseBeforeNext(kind, isAsync: isAsync, wait, before: before, in: .plain) }
        }
    }

    @Test(arguments: [QueueKind.observed, .limitedInRate], Kind.allCases)
    func `a deinit may wait for the next operation of a serial queue with a policy`(queue: QueueKind, kind: Kind) {
        for isAsync in [false, true] {
            for wait in Wait.allCases { releaseBeforeNext(kind, isAsync: isAsync, wait, before: 0, in: queue) }
        }
    }

    /// The worker that releases the first operation claims none, because the next one is of another level.
    @Test func `a deinit may wait for the next operation of another service level`() {
        let (queue, ran) = (OperationQueue(), Gate())
        queue.maxConcurrentOperationCount = 1
        releaseFirst(in: queue, waitingFor: ran) {
            let next = BlockOperation { ran.open() }
            next.qualityOfService = .userInitiated
            queue.addOperation(next)
        }
    }

    /// Nothing else holds the dependency. The claim of a plain block has no reference.
    @Test(arguments: [0, 5_000])
    func `the deinit of a dependency of a plain block may wait for the next operation`(before: Int) {
        let (queue, mayRun, hasWaited) = (OperationQueue(), Gate(), Gate())
        queue.maxConcurrentOperationCount = 1
        let next = BlockOperation {}
        addBlock(to: queue, before: before) {
            mayRun.pass()
        } after: {
            waitForEnd(of: next)
            hasWaited.open()
        }
        queue.addOperation(next)
        mayRun.open()
        hasWaited.pass()
        waitForEnd(of: queue)
    }

    @Test func `the deinit of a dependency of a plain block may wait for an operation that it adds to the idle queue`()
    {
        let (queue, mayRun, hasWaited) = (OperationQueue(), Gate(), Gate())
        addBlock(to: queue, before: 0) {
            mayRun.pass()
        } after: {
            let added = BlockOperation {}
            queue.addOperation(added)
            waitForEnd(of: added)
            hasWaited.open()
        }
        mayRun.open()
        hasWaited.pass()
        waitForEnd(of: queue)
    }

    /// The handler is called by the release of the failed operation.
    @Test func `the handler of an unhandled failure may wait for the next operation`() {
        struct Failure: Error {}
        let (queue, hasWaited) = (OperationQueue(), Gate())
        queue.maxConcurrentOperationCount = 1
        queue.isSuspended = true
        let next = BlockOperation {}
        queue.unhandledFailureHandler = { _ in
            waitForEnd(of: next)
            hasWaited.open()
        }
        addFailing(to: queue, Failure())
        queue.addOperation(next)
        queue.isSuspended = false
        hasWaited.pass()
        waitForEnd(of: queue)
    }

    /// The observer is called by the worker, after the operation has left and before the next one is claimed.
    @Test func `an observer of a serial queue may wait for the next operation`() {
        let (queue, ran) = (OperationQueue(), Gate())
        queue.maxConcurrentOperationCount = 1
        queue.isSuspended = true
        for _ in 0..<2 { queue.addOperation {} }
        queue.addOperation { ran.open() }
        let observer = CountObserver { if $0 == 1 { ran.pass() } }
        queue.addObserver(observer, forKeyPath: "operationCount", options: .new, context: nil)
        queue.isSuspended = false
        waitForEnd(of: queue)
        queue.removeObserver(observer, forKeyPath: "operationCount")
    }

    private func releaseBeforeNext(
        _ kind: Kind, isAsync: Bool, _ wait: Wait, before: Int, in queueKind: QueueKind
    ) {
        let (queue, ran, hasWaited) = (OperationQueue(), Gate(), Gate())
        queue.maxConcurrentOperationCount = 1
        let observer = CountObserver { _ in }
        switch queueKind {
        case .plain: break
        case .observed: queue.addObserver(observer, forKeyPath: "operationCount", options: .new, context: nil)
        case .limitedInRate: queue.setRateLimit(.tokenBucket(1_000_000, per: .seconds(1), burst: 1_000_000))
        }
        defer { if queueKind == .observed { queue.removeObserver(observer, forKeyPath: "operationCount") } }
        queue.isSuspended = true
        let next = operation(kind) { ran.open() }
        for _ in 0..<before { queue.addOperation {} }
        queue.addOperation(
            released(isAsync: isAsync) {
                switch wait {
                case .byLibrary: waitForEnd(of: next)
                case .bySemaphore: ran.pass()
                }
                hasWaited.open()
            })
        queue.addOperation(next)
        queue.isSuspended = false
        hasWaited.pass()
        waitForEnd(of: queue)
        #expect(next.isFinished && !next.isCancelled)
    }

    @Test func `a deinit may wait for the cancel call of the next operation`() {
        let (queue, runs, mayEnd, isCancelled, mayReturn, hasWaited) = (
            OperationQueue(), Gate(), Gate(), Gate(), Gate(), Gate()
        )
        queue.maxConcurrentOperationCount = 1
        queue.addOperation {
            runs.open()
            mayEnd.pass()
        }
        runs.pass()
        // The cancelling thread is inside the first `cancel()`, and has promised the second one. It does not know the
        // operation that it adds here, so the worker releases that operation last.
        queue.addOperation(
            CancelOperation {
                addFirst(to: queue) {
                    isCancelled.pass()
                    hasWaited.open()
                }
                mayEnd.open()
                mayReturn.pass()
            })
        queue.addOperation(CancelOperation { isCancelled.open() })
        let canceller = TestThread { queue.cancelAllOperations() }
        hasWaited.pass()
        mayReturn.open()
        canceller.join()
        waitForEnd(of: queue)
    }

    @Test func `a deinit that takes long holds up no operation of a parallel queue`() {
        let (queue, ran) = (OperationQueue(), Gate(2))
        releaseFirst(in: queue, waitingFor: ran) {
            for _ in 0..<2 { queue.addOperation { ran.open() } }
        }
    }

    /// Other operations use all threads of the queue, so the worker starts no operation. It runs the observer while it has
    /// promised to look, so the resumption calls no worker.
    @Test func `a deinit may wait for an operation that an observer resumes when a dependency ends`() {
        let (queue, count) = (OperationQueue(), OperationQueue.maxThreadCount)
        queue.maxConcurrentOperationCount = 2 * count
        let (mayEnd, mayResume, haveBegun, hasResumed, hasWaited) = (
            AsyncGate(), AsyncGate(), Gate(count + 2), Gate(), Gate()
        )
        queue.addTask {
            haveBegun.open()
            await mayResume.pass()
            hasResumed.open()
        }
        let dependent = BlockOperation {}
        addDependency(of: dependent, to: queue) {
            haveBegun.open()
            await mayEnd.pass()
        } atRelease: {
            hasResumed.pass()
            hasWaited.open()
        }
        let token = dependent.observe(\.isReady, options: []) { dependent, _ in
            for dependency in dependent.dependencies { dependent.removeDependency(dependency) }
            mayResume.open()
        }
        for _ in 0..<count {
            queue.addOperation {
                haveBegun.open()
                hasWaited.pass()
            }
        }
        haveBegun.pass()
        mayEnd.open()
        waitForEnd(of: queue)
        token.invalidate()
    }

    /// The first worker runs a completion block, and the second one has claimed the last operation. So the added operation
    /// needs a third worker.
    @Test func `the next operation may wait for an operation that a deinit adds`() {
        let (queue, mayEnd, hasLeft, ran) = (OperationQueue(), Gate(), Gate(), Gate())
        queue.maxConcurrentOperationCount = 2
        queue.isSuspended = true
        let first = BlockOperation { mayEnd.pass() }
        first.completionBlock = {
            hasLeft.open()
            ran.pass()
        }
        queue.addOperation(first)
        queue.addOperation(
            ReleasedOperation {
            } atRelease: {
                mayEnd.open()
                hasLeft.pass()
                queue.addOperation { ran.open() }
            })
        queue.addOperation { ran.pass() }
        queue.isSuspended = false
        waitForEnd(of: queue)
    }

    /// Runs an operation whose `deinit` passes the gate, and the operations that `addNext` adds after it.
    private func releaseFirst(in queue: OperationQueue, waitingFor gate: Gate, addNext: () -> Void) {
        let hasWaited = Gate()
        queue.isSuspended = true
        queue.addOperation(
            ReleasedOperation {
            } atRelease: {
                gate.pass()
                hasWaited.open()
            })
        addNext()
        queue.isSuspended = false
        hasWaited.pass()
        waitForEnd(of: queue)
    }

    private func operation(_ kind: Kind, _ body: @escaping @Sendable () -> Void) -> Operation {
        switch kind {
        case .block: BlockOperation(block: body)
        case .subclass: ReleasedOperation(main: body) {}
        case .task: TaskOperation { body() }
        }
    }

    private func released(isAsync: Bool, _ atRelease: @escaping @Sendable () -> Void) -> Operation {
        isAsync ? ReleasedAsyncOperation(atRelease) : ReleasedOperation(main: {}, atRelease: atRelease)
    }
}

/// A function of its own, so that the caller holds no reference to the operation.
private func addFirst(to queue: OperationQueue, atRelease: @escaping @Sendable () -> Void) {
    let operation = ReleasedOperation(main: {}, atRelease: atRelease)
    operation.queuePriority = .veryHigh
    queue.addOperation(operation)
}

/// Adds a plain block, and an operation that it depends on. The queue holds them, and nothing else.
private func addBlock(
    to queue: OperationQueue, before: Int, _ body: @escaping @Sendable () -> Void,
    after atRelease: @escaping @Sendable () -> Void
) {
    let dependency = ReleasedOperation(main: {}, atRelease: atRelease)
    queue.addOperation(dependency)
    for _ in 0..<before { queue.addOperation {} }
    let block = BlockOperation(block: body)
    block.addDependency(dependency)
    queue.addOperation(block)
}

private func addFailing(to queue: OperationQueue, _ failure: any Error & Sendable) {
    let block = BlockOperation {}
    block.addExecutionBlock { [weak block] in block?.reportFailure(failure) }
    queue.addOperation(block)
}

/// Adds an async operation that `dependent` depends on. The dependent and the queue hold it, and nothing else.
private func addDependency(
    of dependent: Operation, to queue: OperationQueue, run work: @escaping @Sendable () async -> Void,
    atRelease: @escaping @Sendable () -> Void
) {
    let operation = ReleasedAsyncOperation(run: work, atRelease)
    dependent.addDependency(operation)
    queue.addOperation(operation)
}

private func waitForEnd(of operation: Operation) { operation.waitUntilFinished() }
private func waitForEnd(of queue: OperationQueue) { queue.waitUntilAllOperationsAreFinished() }

private final class ReleasedOperation: Operation, @unchecked Sendable {
    private let work: @Sendable () -> Void
    private let atRelease: @Sendable () -> Void

    init(main work: @escaping @Sendable () -> Void, atRelease: @escaping @Sendable () -> Void) {
        (self.work, self.atRelease) = (work, atRelease)
    }

    override func main() { work() }

    deinit { atRelease() }
}

private final class ReleasedAsyncOperation: AsyncOperation, @unchecked Sendable {
    private let work: @Sendable () async -> Void
    private let atRelease: @Sendable () -> Void

    init(
        run work: @escaping @Sendable () async -> Void = { await Task.yield() },
        _ atRelease: @escaping @Sendable () -> Void
    ) { (self.work, self.atRelease) = (work, atRelease) }

    override func run() async { await work() }

    deinit { atRelease() }
}

private final class CancelOperation: Operation, @unchecked Sendable {
    private let atCancel: @Sendable () -> Void

    init(_ atCancel: @escaping @Sendable () -> Void) { self.atCancel = atCancel }

    override func cancel() {
        atCancel()
        super.cancel()
    }
}
