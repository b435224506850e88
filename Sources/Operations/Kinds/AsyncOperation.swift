import SchedulerCore

/// An operation whose work is an `async` function: it holds its slot while it is suspended, and no thread (rule N1).
///
/// Override ``run()``. The work is a task, made when the operation is added to a queue, or when it is started by hand: so
/// it has the task-local values and the priority of who adds it. It runs on the threads of the queue, and so do its
/// child tasks, which take no slot of their own.
///
/// `cancel()` cancels the task, and who cancels the task from inside cancels the operation. One that is cancelled before
/// it starts never calls `run()`.
open class AsyncOperation: Operation, @unchecked Sendable {
    // Sendable: an atomic reference.

    /// The task and what brings it onto threads. See `OperationTask`.
    final let taskReference = LazyReference<OperationTask>()

    public override init() {}

    /// The work. Does nothing by default; an override never calls super.
    ///
    /// What it throws is the operation's failure; `CancellationError` means that it was cancelled.
    open func run() async throws {}

    /// What the task does.
    nonisolated(nonsending)
        func work() async throws
    { try await run() }

    override func raiseTask(to lane: PriorityLane) { taskReference.withLoaded { $0.escalate(to: TaskPriority(lane)) } }

    /// Lets go of work that will not be done. Called by the task, or when there is none.
    func releaseWork() { (self as? any WorkDiscarding)?.workIsDiscarded() }

    /// True: the work goes on after `start()` has returned.
    open override var isAsynchronous: Bool { true }

    /// Not called: the work is ``run()``.
    public final override func main() {}

    /// Asks the operation to stop: `Task.isCancelled` is true in ``run()`` from now on. See `Operation.cancel()`.
    open override func cancel() {
        super.cancel()
        taskReference.load()?.cancel()
        goOnAlone()
    }

    final override func prepare(for queue: Unmanaged<OperationQueue>) {
        queue._withUnsafeGuaranteedRef { queue in
            if let innerQueue {
                innerQueue.queueOwner?.isAdded(to: queue)
                placeInnerQueues(in: queue)
            }
            _ = task(in: queue)
        }
    }

    /// Gives its inner queue the kind of the queue it is added to, and so on for the operations in there. In a loop, for
    /// groups may be nested deep.
    private final func placeInnerQueues(in queue: OperationQueue) {
        var unplaced: [(operation: AsyncOperation, queue: OperationQueue)] = [(self, queue)]
        while let (operation, queue) = unplaced.popLast() {
            guard let inner = operation.innerQueue, inner.adoptKind(of: queue) else { continue }
            for member in inner.listed() {
                if let member = member as? AsyncOperation { unplaced.append((member, inner)) }
            }
            operation.innerQueueIsPlaced()
        }
    }

    /// The inner queue knows from now on where its threads come from.
    func innerQueueIsPlaced() {}

    /// Gives a queue for parts of its work the service level at which it runs itself (rule P6). Called from its task.
    final func passOnQuality(to inner: OperationQueue) {
        let (own, outer) = (untracked { qualityOfService }, OperationQueue.current?.qualityOfService ?? .default)
        inner.qualityOfService = own == .default || outer != .default && outer.rawValue > own.rawValue ? outer : own
    }

    /// A queue of its own for parts of its work.
    var innerQueue: OperationQueue? { nil }

    final override func perform() -> Bool {
        if word.lifecycle.contains(.gated), goOn() { return false }
        task(in: nil).launch()
        return false
    }

    /// Its task is there, and has to end before the operation does.
    override var startsCancelled: Bool { isStandingAside }

    final override var isStandingAside: Bool {
        word.lifecycle.contains(.gated) && attachments?.withLock { $0.extras?.gates?.hold.standing != nil } == true
    }

    final override var executorOfTask: UnownedTaskExecutor? { taskReference.load()?.asUnownedTaskExecutor() }

    override func discardWork() {
        goOn()
        if let task = taskReference.load() { task.launch() } else { releaseWork() }
    }

    private final func task(in queue: OperationQueue?) -> OperationTask {
        if let known = taskReference.load() { return known }
        // Only who has claimed the operation, for a queue or for starting it, comes here.
        let task = taskReference.storeIfNil(OperationTask(of: self, in: queue))
        task.begin()
        raiseTaskAsLent()
        return task
    }
}

// For kinds of operations in other modules of this package.
extension AsyncOperation {
    /// Where the operation's own task runs; nil before it is in a queue or started.
    package final var taskExecutor: (any TaskExecutor)? { taskReference.load() }

    /// Suspends until the operation is finished and has left its queue, which sees how it ended. A task of higher
    /// priority raises it.
    ///
    /// - Throws: Misuse M8 as an `OperationError`.
    package final func waitForEnd() async throws(OperationError) {
        try await waitUntilFinished(inAnyQueue: true)
        noteFailureSeen()
    }

    /// What the work, or a policy, has reported.
    package final var failureReported: (any Error)? { reportedFailure }
}

/// A kind of async operation, of another module of this package, that wants to know when its `run()` will not be called.
package protocol WorkDiscarding: AsyncOperation {
    func workIsDiscarded()
}
