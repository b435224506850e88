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
    // Sendable: `task` is guarded by `lock`; the rest is atomic or constant.

    // `queue` need not be atomic for correctness: its last read precedes the write. But the runtime provides that order,
    // and ThreadSanitizer does not see it.

    /// The operation. The task's closure holds it, so it is alive as long as there are jobs.
    private unowned(unsafe) let operation: AsyncOperation
    /// The operation's queue, which this object retains: an operation that ends early leaves the queue before its task
    /// has ended. The last job sets it to nil, after all other jobs have run.
    var queue: OperationQueue? { Self.queue(heldQueue.load(ordering: .acquiring))?.takeUnretainedValue() }
    private let heldQueue: Atomic<UInt>
    /// The first job, from its arrival until it is launched.
    private let first = Atomic<UInt>(Launch.unborn)
    private let lock = SpinLock()
    /// The task; nil before its creation and after its end.
    @exclusivity(unchecked) private var task: Task<Void, Never>?
    /// The level of the task's threads, if it differs from the queue's level, or if there is no queue. Set before the
    /// first job runs.
    private let ownLevel: Atomic<Int>

    /// The highest priority that is known.
    private let priority = Atomic<UInt8>(0)

    private static var levelOfQueue: Int { -1 }

    private enum Launch {
        static var unborn: UInt { 0 }
        static var done: UInt { 1 }
    }

    init(of operation: AsyncOperation, in queue: OperationQueue?) {
        self.operation = operation
        heldQueue = Atomic(queue.map { UInt(bitPattern: Unmanaged.passRetained($0).toOpaque()) } ?? 0)
        ownLevel = Atomic(queue == nil ? ServiceLevel.normal.rawValue : Self.levelOfQueue)
    }

    deinit { letQueueGo() }

    private func letQueueGo() {
        Self.queue(heldQueue.exchange(0, ordering: .acquiringAndReleasing))?.release()
    }

    private static func queue(_ bits: UInt) -> Unmanaged<OperationQueue>? {
        UnsafeRawPointer(bitPattern: bits).map { Unmanaged.fromOpaque($0) }
    }

    /// Creates the task. Its first job waits for `launch`.
    func begin(inherits: Bool) {
        let operation = operation
        let priority = TaskPriority(untracked { operation.qualityOfService })
        let new =
            inherits
            ? Task(executorPreference: self, priority: priority) { await operation.runAsTask() }
            : Task.detached(executorPreference: self, priority: priority) { await operation.runAsTask() }
        lock.withLock { task = new }
    }

    /// Runs the first job on this thread, if no thread has run it. Returns when the operation suspends for the first
    /// time.
    func launch() {
        let job = first.exchange(Launch.done, ordering: .acquiringAndReleasing)
        guard job > Launch.done else { return }
        if let worker = ThreadContext.current.worker, let queue {
            let level = worker.pool.level
            if level != queue.level { ownLevel.store(level.rawValue, ordering: .relaxed) }
        }
        run(unsafeBitCast(job, to: UnownedJob.self))
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let bits = unsafeBitCast(job, to: UInt.self)
        let (isFirst, _) = first.compareExchange(
            expected: Launch.unborn, desired: bits, ordering: .acquiringAndReleasing)
        guard !isFirst else { return self.priority.store(job.priority.rawValue, ordering: .relaxed) }
        let resumption = Resumption(job: job, task: self)
        if let queue, ownLevel.load(ordering: .relaxed) == Self.levelOfQueue { return queue.resume(resumption) }
        let level = ServiceLevel(rawValue: ownLevel.load(ordering: .relaxed)) ?? .normal
        WorkerPool[level].request(LoneResumption(resumption))
    }

    /// Runs a job on this thread, which holds the operation and has recorded that it runs the operation.
    func run(_ job: UnownedJob) {
        HeldLocks.assertNone()
        job.runSynchronously(on: asUnownedTaskExecutor())
    }

    /// The operation, for the thread that runs a job and retains the operation meanwhile.
    var heldOperation: AsyncOperation { operation }

    /// Raises the priority of the task, unless the task has that priority already.
    func escalate(to priority: TaskPriority) {
        guard let task = lock.withLock({ task }), self.priority.load(ordering: .relaxed) < priority.rawValue else {
            return
        }
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

    /// Releases the task, because the operation has ended.
    func end() {
        let old = lock.withLock { task.take() }
        withExtendedLifetime(old) {}
        letQueueGo()
    }
}

/// A job that can run on any thread of a queue: the next part of an async operation, or other work of the runtime.
struct Resumption: Sendable {
    let job: UnownedJob
    private let executor: Executor

    private enum Executor {
        case task(OperationTask)
        case queue(OperationQueue)
    }

    init(job: UnownedJob, task: OperationTask) {
        self.job = job
        executor = .task(task)
    }

    /// Creates a resumption for a job that is not part of a task.
    init(job: UnownedJob, on queue: OperationQueue) {
        self.job = job
        executor = .queue(queue)
    }

    var task: OperationTask? { if case .task(let task) = executor { task } else { nil } }

    /// Runs the job as part of its operation, on a thread that has not yet recorded the operation.
    func run(in context: ThreadContext) {
        guard case .task(let task) = executor else { return runAlone() }
        // Held here, because the job may be the last one and end the task that holds the operation.
        let operation = task.heldOperation
        context.frames.append(
            .init(
                operation: Unmanaged.passUnretained(operation),
                queue: task.queue.map { Unmanaged.passUnretained($0) }))
        withExtendedLifetime(operation) { task.run(job) }
        context.frames.removeLast()
    }

    /// Runs a job that is not part of an operation.
    func runAlone() {
        guard case .queue(let queue) = executor else { return }
        HeldLocks.assertNone()
        job.runSynchronously(on: queue.asUnownedTaskExecutor())
    }
}

/// A resumption that no thread of a queue runs: its operation was started by hand, or has a service level of its own.
private final class LoneResumption: WorkSource {
    private let resumption: Resumption

    init(_ resumption: Resumption) { self.resumption = resumption }

    var urgency: Urgency { resumption.task?.queue?.urgency ?? .shared }
    var threadName: String? { resumption.task?.queue?.threadName ?? "async operation" }

    func work(on worker: Worker) { resumption.run(in: .current) }
}

extension AsyncOperation {
    /// The body of the task. `nonsending`, like the functions that it calls: every other async function asks the runtime
    /// for its executor at its beginning and after every call.
    nonisolated(nonsending)
        fileprivate final func runAsTask() async
    {
        let task = taskReference.load().unsafelyUnwrapped
        // Launched only to be freed: the operation was cancelled before its start, or its end was announced early.
        guard word.lifecycle.phase == .executing else {
            releaseWork()
            return task.end()
        }
        // A thread that cancelled the operation may not have found the task, because the task was being created.
        if word.lifecycle.isCancelled { withUnsafeCurrentTask { $0?.cancel() } }
        let reporter = progressReporter
        reporter?.willRunTask(of: self)
        do {
            if let interceptor { try await interceptor.perform(self, work) } else { try await work() }
        } catch {
            reportFailure(error)
        }
        // The task was cancelled from inside. A cancellation handler would report this, but costs more than a short task.
        if Task.isCancelled, !word.lifecycle.isCancelled { cancel() }
        task.end()
        (reporter ?? progressReporter)?.didRunTask(of: self)
        endAnnounced()
    }
}

extension TaskPriority {
    /// The priority of a task for work of a quality of service; nil when the quality was not set: the task inherits its
    /// priority.
    fileprivate init?(_ quality: QualityOfService) {
        guard quality != .default else { return nil }
        self.init(rawValue: UInt8(quality.rawValue))
    }
}
