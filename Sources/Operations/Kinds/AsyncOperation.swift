import SchedulerCore

/// An operation whose work is an `async` function. A suspended operation keeps its slot but frees its thread.
///
/// Override ``run()``. The work is a task. The task is created when the operation is added to a queue or is started by
/// hand. The task inherits the task-local values and the priority of that caller. The task runs on threads of the queue.
/// Its child tasks run there too, and use no slots of their own.
///
/// `cancel()` cancels the task, and a cancellation of the task from inside cancels the operation. An operation that is
/// cancelled before its start never calls `run()`.
open class AsyncOperation: Operation, @unchecked Sendable {
    // Sendable: an atomic reference.

    /// The task and its executor. See `OperationTask`.
    final let taskReference = LazyReference<OperationTask>()

    /// Creates an operation that is in no queue.
    public override init() {}

    /// The work of the operation. The default does nothing. An override does not call super.
    ///
    /// - Throws: The failure of the operation. `CancellationError` means that the operation was cancelled.
    open func run() async throws {}

    /// The body of the task.
    nonisolated(nonsending)
        func work() async throws
    { try await run() }

    override func raiseTask(to lane: PriorityLane) { taskReference.withLoaded { $0.escalate(to: TaskPriority(lane)) } }

    /// Releases work that will not be done. Called by the task, or instead of the task.
    func releaseWork() { (self as? any WorkDiscarding)?.workIsDiscarded() }

    /// Always true: the work continues after `start()` has returned.
    open override var isAsynchronous: Bool { true }

    /// Never called: the work is ``run()``.
    public final override func main() {}

    /// Requests the operation to stop: `Task.isCancelled` is true in ``run()`` from now on. See `Operation.cancel()`.
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

    /// Gives the inner queue the kind of the outer queue, and continues with the operations inside. A loop, because
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

    /// Called when the inner queue knows which threads it uses.
    func innerQueueIsPlaced() {}

    /// Gives an inner queue the service level at which this operation runs (rule P6). Called by the operation's task.
    final func passOnQuality(to inner: OperationQueue) {
        let (own, outer) = (untracked { qualityOfService }, OperationQueue.current?.qualityOfService ?? .default)
        inner.qualityOfService = own == .default || outer != .default && outer.rawValue > own.rawValue ? outer : own
    }

    /// The queue of the operation's parts, if the operation has parts.
    var innerQueue: OperationQueue? { nil }

    final override func perform() -> Bool {
        if word.lifecycle.contains(.gated), goOn() { return false }
        task(in: nil).launch()
        return false
    }

    /// Whether the operation is paused: its task exists, and has to end before the operation does.
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
        // Only the thread that has claimed the operation, for a queue or for a start by hand, creates the task.
        let task = taskReference.storeIfNil(OperationTask(of: self, in: queue))
        task.begin()
        raiseTaskAsLent()
        return task
    }
}

// For kinds of operations in other modules of this package.
extension AsyncOperation {
    /// The executor of the operation's own task; nil before the operation is in a queue or started.
    package final var taskExecutor: (any TaskExecutor)? { taskReference.load() }

    /// Suspends until the operation is finished and has left its queue. A task of a higher priority raises the operation.
    ///
    /// - Throws: `OperationError` on misuse M8.
    package final func waitForEnd() async throws(OperationError) {
        try await waitUntilFinished(inAnyQueue: true)
        noteFailureSeen()
    }

    /// The failure that the work or a policy has reported.
    package final var failureReported: (any Error)? { reportedFailure }
}

/// An async operation of another module of this package that is notified when its `run()` will not be called.
package protocol WorkDiscarding: AsyncOperation {
    func workIsDiscarded()
}
