import SchedulerCore

/// An operation whose work is an `async` function. A suspended operation keeps its slot but frees its thread.
///
/// Override ``run()``. The work is a task. The task is created when the operation is added to a queue or is started by
/// hand. The task inherits the task-local values and the priority of that caller, unless
/// ``OperationQueue/inheritsTaskContext`` is false. The task runs on threads of the queue. Its child tasks run there too, and
/// use no slots of their own.
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

    /// The work of the task.
    nonisolated(nonsending)
        func work() async throws
    { try await run() }

    /// The body of the task.
    nonisolated(nonsending)
        func body(of task: OperationTask) async
    {
        guard let hooks = beginBody(of: task) else { return }
        do {
            if let interceptor = hooks.interceptor {
                try await interceptor.perform(self, work)
            } else {
                try await work()
            }
        } catch {
            reportFailure(error)
        }
        endBody(of: task, hooks)
    }

    override func raiseTask(to lane: PriorityLane) {
        taskReference.withLoaded { $0.escalate(to: TaskPriority(lane)) }
    }

    override func raiseTask(to level: ServiceLevel) { taskReference.withLoaded { $0.raise(to: level) } }

    /// Called once in place of ``run()`` when the operation ends without it: it was cancelled before it started, or its end
    /// was announced early.
    ///
    /// The default does nothing. Override it to release or complete objects that ``run()`` would have released or
    /// completed. The call holds no lock, and is made on a thread of the queue or of the caller, before or after the
    /// announcement of `isFinished`.
    open func runWasSkipped() {}

    /// Releases work that will not be done. Called by the task, or when there is none.
    func releaseWork() { runWasSkipped() }

    // MARK: - Pausing

    /// Whether the operation is paused: ``pause()`` was called, and ``resume()`` was not called since.
    open var isPaused: Bool { isPausedByProgram }

    /// Pauses the operation.
    ///
    /// The queue does not start a paused operation. An operation that executes continues until its work calls
    /// ``waitWhilePaused()``, which releases the slot. A paused operation keeps its place in its queue, and counts among
    /// the queue's operations. A pause has no effect on a cancelled operation, which ends like any other.
    ///
    /// A call has no effect on a finished or paused operation. An override calls super.
    open func pause() { hold() }

    /// Ends the pause: the operation starts, or continues, as soon as its queue has a slot for it.
    ///
    /// A call has no effect on an operation that is not paused. An override calls super.
    open func resume() { releaseHold() }

    /// Always true: the work continues after `start()` has returned.
    open override var isAsynchronous: Bool { true }

    /// Never called: the work is ``run()``.
    public final override func main() {}

    /// Requests the operation to stop: `Task.isCancelled` is true in ``run()`` from now on. See `Operation.cancel()`.
    open override func cancel() {
        super.cancel()
        taskReference.load()?.cancel()
        continueWorkAlone()
    }

    final override func prepare(for queue: Unmanaged<OperationQueue>) {
        queue._withUnsafeGuaranteedRef { queue in
            if let innerQueue {
                innerQueue.queueOwner?.isAdded(to: queue)
                placeInnerQueues(in: queue)
            }
            if queue.inheritsTaskContext { makeTask(in: .passUnretained(queue), inherits: true) }
        }
    }

    /// Gives the inner queue the kind of the outer queue, and continues with the operations inside. A loop, because
    /// groups may be nested deep.
    final func placeInnerQueues(in queue: OperationQueue) {
        var unplaced: [(operation: AsyncOperation, queue: OperationQueue)] = [(self, queue)]
        while let (operation, queue) = unplaced.popLast() {
            guard let inner = operation.innerQueue, inner.adoptKind(of: queue) else { continue }
            if inner.host == nil { inner.setStallDelay(queue.stallDelay) }
            for member in inner.listed() {
                member.notifyGatesOfWait(in: inner)
                if let member = member as? AsyncOperation { unplaced.append((member, inner)) }
            }
            operation.innerQueueIsPlaced()
        }
    }

    /// Places the inner queue if the placement of the outer group has missed this operation, which another thread was adding to
    /// the group. Called by the operation's task, before it adds operations to the inner queue.
    final func placeIfMissed() {
        if word.lifecycle.hasQueue, let queue { placeInnerQueues(in: queue.takeUnretainedValue()) }
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

    /// The parts that the operation waits for.
    var unfinishedParts: [Operation] { [] }

    final override func perform() -> Bool {
        // The task may have ended while another task of the user kept the operation paused.
        if word.lifecycle.contains(.gated), continueWork() { return taskReference.withLoaded { $0.hasEnded } == true }
        if !taskReference.isSet {
            let outer = word.lifecycle.hasQueue ? queue : nil
            makeTask(in: outer, inherits: outer == nil)
        }
        taskReference.withLoaded { $0.launch() }
        return false
    }

    /// Whether the operation is paused: its task exists, and has to end before the operation does.
    override var startsCancelled: Bool { isStandingAside }

    final override var isStandingAside: Bool {
        word.lifecycle.contains(.gated) && withGate(Hold.self) { $0.isStanding } == true
    }

    final override var executorOfTask: UnownedTaskExecutor? { taskReference.load()?.asUnownedTaskExecutor() }

    override func discardWork() {
        continueWork()
        // No task will run if there is none, also if this thread ends an operation that another thread is about to start.
        if !taskReference.isSet, taskReference.storeIfNil(.spent) === OperationTask.spent { return releaseWork() }
        taskReference.withLoaded { $0.launch() }
    }

    /// - Parameter inherits: Whether a new task inherits from the code that this thread runs.
    private final func makeTask(in queue: Unmanaged<OperationQueue>?, inherits: Bool) {
        // Only the thread that has claimed the operation, for a queue or for a start by hand, creates the task.
        let new = OperationTask(of: self, in: queue)
        // Another thread may have ended the operation and discarded its work.
        guard taskReference.storeIfNil(new) === new else { return new.abandon() }
        new.begin(inherits: inherits, priority: TaskPriority(untracked { qualityOfService }))
        raiseTaskAsLent()
        if let lent = otherLevels.lent { new.raise(to: lent) }
    }
}

// For kinds of operations that have results of their own.
extension AsyncOperation {
    /// The executor of the operation's task; nil before the operation is in a queue or started.
    ///
    /// A task with this executor as its preference runs on the threads of the operation's queue and is part of the operation.
    /// If the queue's ``OperationQueue/inheritsTaskContext`` is false, the executor is nil until the operation starts.
    public final var taskExecutor: (any TaskExecutor)? {
        taskReference.load().flatMap { $0 === OperationTask.spent ? nil : $0 }
    }

    /// Suspends until the operation is finished and has left its queue. Returns how the operation ended.
    ///
    /// Use it to await the result of a subclass. A task of higher priority raises the operation to its own priority,
    /// regardless of the priority policy of the queue. The call marks a failure as read. See
    /// `OperationQueue.unhandledFailureHandler`.
    ///
    /// - Returns: The outcome. `cancelled`, without waiting any longer, if the calling task is cancelled before the work has started.
    /// - Throws: `OperationError` without waiting, when the operation would wait for itself.
    @discardableResult
    public final func waitForOutcome() async throws(OperationError) -> OperationOutcome {
        guard try await waitUntilFinished(inAnyQueue: true) else { return .cancelled }
        // A subclass may override `isFinished`; the system knows that the operation has ended.
        return operationOutcome ?? .succeeded
    }
}
