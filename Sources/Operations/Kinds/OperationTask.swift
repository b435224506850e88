import SchedulerCore
import Synchronization

/// The task of an async operation, and the executor of that task and its child tasks.
///
/// The task is created early, so that it inherits from the task that adds the operation, or at the start if it inherits
/// nothing. The runtime then passes the first job of the task to `enqueue`, which keeps it. To start the operation, a thread
/// runs that job. Each later job is a resumption, or belongs to a child task. Such a job needs no slot: the operation's queue
/// runs it in addition to the operations that it starts.
///
/// A task whose first job never ran would never be freed. So a task that is not to run is launched too, and returns at
/// once. Its operation was cancelled or has ended early.
final class OperationTask: TaskExecutor, @unchecked Sendable {
    // Sendable: `operation` and `task` are guarded by `lock`; the rest is atomic or constant.

    /// The operation, until it has ended. It has a reference, which the task takes over when it runs.
    @exclusivity(unchecked) private var operation: Unmanaged<AsyncOperation>?
    /// The operation's queue, which this object retains: an operation that ends early leaves the queue before its task
    /// has ended. The task lets it go at the end of the operation.
    ///
    /// The lock, because a task of the user on this executor may continue on another thread while the operation ends.
    var queue: OperationQueue? { lock.withLock { unretainedQueue?.takeUnretainedValue() } }
    /// The queue without a reference. For comparisons, and for the thread that starts the operation.
    private var unretainedQueue: Unmanaged<OperationQueue>? { .at(heldQueue.load(ordering: .acquiring)) }
    private let heldQueue: Atomic<UInt>
    /// The first job, from its arrival until it is launched.
    private let first = Atomic<UInt>(Launch.unborn)
    private let lock = SpinLock()
    /// The task; nil before its creation and after its end.
    @exclusivity(unchecked) private var task: Task<Void, Never>?
    /// The level of the task's threads, if it differs from the queue's level, or if there is no queue. Set before the
    /// first job runs.
    private let ownLevel: Atomic<Int>

    /// The time at which the operation was started, by the coarse clock; 0 before that, or if a host runs the operation.
    private let start = Atomic<UInt64>(0)
    var startTime: UInt64? {
        let start = start.load(ordering: .relaxed)
        return start > 0 ? start : nil
    }

    /// The highest priority that is known.
    private let priority = Atomic<UInt8>(0)

    /// The level that waiters have lent to the operation; `noLevel` for none.
    private let lentLevel = Atomic<Int>(noLevel)

    private static var levelOfQueue: Int { -1 }
    private static var noLevel: Int { -1 }

    private enum Launch {
        static var unborn: UInt { 0 }
        static var done: UInt { 1 }
    }

    init(of operation: AsyncOperation, in queue: Unmanaged<OperationQueue>?) {
        self.operation = Unmanaged.passRetained(operation)
        heldQueue = Atomic(queue.map { UInt(bitPattern: $0.retain().toOpaque()) } ?? 0)
        ownLevel = Atomic(queue == nil ? ServiceLevel.normal.rawValue : Self.levelOfQueue)
    }

    /// A task that has ended, for operations whose work was discarded before they had a task.
    static let spent = OperationTask()

    private init() {
        heldQueue = Atomic(0)
        ownLevel = Atomic(ServiceLevel.normal.rawValue)
        first.store(Launch.done, ordering: .relaxed)
    }

    /// Takes back the operation from a task that was not created: the work was discarded meanwhile.
    func abandon() { takeOperation().map { withExtendedLifetime($0) { forgetOperation() } } }

    deinit { unretainedQueue?.release() }

    /// Creates the task. Its first job waits for `launch`.
    func begin(inherits: Bool, priority: TaskPriority?) {
        let new =
            inherits
            ? Task(executorPreference: self, priority: priority) { await self.runOperation() }
            : Task.detached(executorPreference: self, priority: priority) { await self.runOperation() }
        lock.withLock { task = new }
    }

    /// Runs the first job on this thread, if no thread has run it. Returns when the operation suspends for the first
    /// time.
    func launch() {
        let job = first.exchange(Launch.done, ordering: .acquiringAndReleasing)
        guard job > Launch.done else { return }
        let level = ThreadContext.withCurrent { $0.withWorker { $0.level } }
        if let level, let queue = unretainedQueue, level != queue._withUnsafeGuaranteedRef({ $0.level }) {
            ownLevel.store(level.rawValue, ordering: .relaxed)
        }
        let isHosted = level == nil && unretainedQueue?._withUnsafeGuaranteedRef { $0.host } != nil
        if !isHosted { start.store(MonotonicClock.coarse, ordering: .relaxed) }
        run(unsafeBitCast(job, to: UnownedJob.self))
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        // There is no other job before the first one, so no other thread changes the value.
        if first.load(ordering: .relaxed) == Launch.unborn {
            priority.store(job.priority.rawValue, ordering: .relaxed)
            return first.store(unsafeBitCast(job, to: UInt.self), ordering: .releasing)
        }
        if job.isTask, catches(job) { return }
        let resumption = Resumption(job: job, task: self)
        let ownLevel = ServiceLevel(rawValue: ownLevel.load(ordering: .relaxed))
        if LevelLending.isUsed {
            resume(resumption, at: ownLevel)
        } else if ownLevel == nil, let queue = unretainedQueue, isHeldByWorker(queue) {
            queue._withUnsafeGuaranteedRef { $0.resume(resumption) }
        } else if ownLevel == nil, let queue {
            // Retained: as soon as the queue has the job, another thread may run it to the end of the operation.
            queue.resume(resumption)
        } else {
            // No thread of a queue runs it: the operation was started by hand, or has a service level of its own.
            request(ownLevel ?? .normal, for: resumption, of: queue)
        }
    }

    private func request(_ level: ServiceLevel, for resumption: Resumption, of queue: OperationQueue?) {
        let (urgency, name) = (queue?.urgency ?? .shared, queue?.threadName ?? "async operation")
        WorkerPool[level].request(PoolJob(urgency: urgency, threadName: name) { resumption.run(in: .current) })
    }

    /// Resumes at the level of the operation, or at the lent level if that is higher.
    @inline(never)
    private func resume(_ resumption: Resumption, at ownLevel: ServiceLevel?) {
        let queue = queue
        guard ownLevel == nil, let queue else {
            return request(max(ownLevel ?? .normal, lent ?? .background), for: resumption, of: queue)
        }
        if let lent, lent > queue.level, queue.hasLevels { return request(lent, for: resumption, of: queue) }
        // Another thread may run the job to the end of the operation.
        withExtendedLifetime(self) {
            queue.resume(resumption)
            // A lender that has not found the resumption has stored the level before.
            if let lent { moveParts(of: queue, to: lent) }
        }
    }

    var lent: ServiceLevel? { ServiceLevel(rawValue: lentLevel.load(ordering: .sequentiallyConsistent)) }

    /// Raises the task, and its parts that no thread has taken yet, to a lent level.
    func raise(to level: ServiceLevel) {
        escalate(to: TaskPriority(level))
        let old = lentLevel.max(level.rawValue, ordering: .sequentiallyConsistent).oldValue
        if old < level.rawValue, let queue { moveParts(of: queue, to: level) }
    }

    private func moveParts(of queue: OperationQueue, to level: ServiceLevel) {
        guard queue.hasLevels, queue.level < level else { return }
        for part in queue.resumptionsReference.withLoaded({ $0.takeAll(of: self) }) ?? [] {
            request(level, for: part, of: queue)
        }
    }

    /// Whether this thread is a worker that runs an operation of the queue, and so holds the queue.
    private func isHeldByWorker(_ queue: Unmanaged<OperationQueue>) -> Bool {
        ThreadContext.withCurrent { $0.withWorker { $0.isRunning(for: queue) } == true }
    }

    /// Runs a job on this thread, which holds the operation and has recorded that it runs the operation.
    func run(_ job: UnownedJob) {
        HeldLocks.assertNone()
        if job.isYield { runYield(job) } else { job.runSynchronously(on: asUnownedTaskExecutor()) }
    }

    /// Runs the second half of a `Task.yield()`. The job has waited for its turn. It enqueues the task again, and returns. This
    /// thread runs the task at once. In the queue, the task would wait for a second turn.
    private func runYield(_ job: UnownedJob) {
        let task = ThreadContext.withCurrent { context in
            context.yielding = Unmanaged.passUnretained(self).toOpaque()
            job.runSynchronously(on: asUnownedTaskExecutor())
            context.yielding = nil
            return context.yieldedTask.take()
        }
        task?.runSynchronously(on: asUnownedTaskExecutor())
    }

    private func catches(_ task: UnownedJob) -> Bool {
        ThreadContext.withCurrent { context in
            guard context.yielding == Unmanaged.passUnretained(self).toOpaque() else { return false }
            context.yielding = nil
            context.yieldedTask = task
            return true
        }
    }

    @inline(__always)
    nonisolated(nonsending)
        private func runOperation() async
    { if let operation = takeOperation() { await operation.body(of: self) } }

    /// Whether the job is the task of the operation, and not one of its child tasks. The job of a task is the task.
    func isTask(_ job: UnownedJob) -> Bool {
        lock.withLock { task.map { unsafeBitCast($0, to: UInt.self) } } == unsafeBitCast(job, to: UInt.self)
    }

    /// The operation; nil after its end.
    var heldOperation: AsyncOperation? { lock.withLock { operation?.takeUnretainedValue() } }

    /// Returns the operation with the reference that was counted for the task. Called once for each operation.
    private func takeOperation() -> AsyncOperation? { lock.withLock { operation }?.takeRetainedValue() }

    /// Notes that the operation has ended, while the caller holds it. A job that comes now is part of no operation.
    fileprivate func forgetOperation() { lock.withLock { operation = nil } }

    /// Raises the priority of the task, unless the task has that priority already.
    func escalate(to priority: TaskPriority) {
        guard self.priority.load(ordering: .relaxed) < priority.rawValue, let task = lock.withLock({ task })
        else { return }
        self.priority.store(priority.rawValue, ordering: .relaxed)
        if #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) {
            // The handlers of the task may raise the tasks that it waits for, and so on.
            Descent.step { task.escalatePriority(to: priority) }
        }
    }

    func cancel() {
        guard let task = lock.withLock({ task }) else { return }
        // The task may await another operation, whose cancellation is the next level of a long chain.
        Descent.step { task.cancel() }
    }

    /// Whether the body of a task that had begun has ended.
    var hasEnded: Bool { lock.withLock { task == nil } }

    /// Releases the task, because the operation has ended.
    func end() {
        let (old, queue) = lock.withLock { (task.take(), heldQueue.exchange(0, ordering: .acquiringAndReleasing)) }
        withExtendedLifetime(old) {}
        Unmanaged<OperationQueue>.at(queue)?.release()
    }
}

// The body of a task. A kind of operation has its own in one function: every return from another async function asks the
// runtime for the executor.
extension AsyncOperation {
    /// Begins the body, and returns the hooks of the queue. nil: the task was launched only to be freed. The operation was
    /// cancelled before its start, or its end was announced early.
    final func beginBody(of task: OperationTask) -> BodyHooks? {
        guard word.lifecycle.phase == .executing else {
            releaseWork()
            task.end()
            task.forgetOperation()
            return nil
        }
        // A thread that cancelled the operation may not have found the task, because the task was being created.
        if word.lifecycle.isCancelled { withUnsafeCurrentTask { $0?.cancel() } }
        let hooks = BodyHooks(hooksWhileExecuting)
        hooks.reporter?.willRunTask(of: self)
        return hooks
    }

    /// Ends the body, and the operation.
    final func endBody(of task: OperationTask, _ hooks: BodyHooks) {
        // The task was cancelled from inside. A cancellation handler would report this, but costs more than a short task.
        if Task.isCancelled, !word.lifecycle.isCancelled { cancel() }
        (hooks.reporter ?? progressReporter)?.didRunTask(of: self)
        task.end()
        endAnnounced()
        task.forgetOperation()
    }
}

/// The hooks of the queue when the body of a task begins.
struct BodyHooks {
    let reporter: (any ProgressReporter)?
    let interceptor: (any QueueInterceptor)?

    init(_ hooks: QueueHooks?) {
        reporter = hooks?.reporter.load()?.reporter
        interceptor = hooks?.interceptor
    }
}

extension TaskPriority {
    /// The priority of a task for work of a quality of service; nil when the quality was not set: the task inherits its
    /// priority.
    init?(_ quality: QualityOfService) {
        guard quality != .default else { return nil }
        self.init(rawValue: UInt8(quality.rawValue))
    }
}

extension TaskPriority {
    /// The priority of a task at a level. See `ServiceLevel`.
    init(_ level: ServiceLevel) { self.init(PriorityLane.allCases[level.rawValue]) }
}
