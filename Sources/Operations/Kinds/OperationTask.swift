import SchedulerCore
import Synchronization

/// The task of an async operation, and the executor of that task and its children.
///
/// The task is made early, so that it inherits from whoever adds the operation; the runtime then hands its first job to
/// `enqueue`, which keeps it. Starting the operation means to run that job on the thread that starts it. Every later job
/// is a resumption, or belongs to a child task: it takes no slot, and goes to the operation's queue, which runs it next
/// to what it starts.
///
/// A task whose first job never ran would never be freed. So one that is not to run, since its operation was cancelled or
/// ended early, is launched too, and returns at once.
final class OperationTask: TaskExecutor, @unchecked Sendable {
    // Sendable: `task` is guarded by `lock`; the rest is atomic or constant.

    // `queue` need not be atomic: its last reader comes before the writer. But what orders them is inside the runtime, where
    // ThreadSanitizer does not see it.

    /// Held by the task's closure, and so alive as long as there are jobs.
    private unowned(unsafe) let operation: AsyncOperation
    /// The operation's queue. Held, because who ends its operation early leaves the queue before the task is done; then nil,
    /// set by the last job, before which all others have run.
    var queue: OperationQueue? { Self.queue(heldQueue.load(ordering: .acquiring))?.takeUnretainedValue() }
    private let heldQueue: Atomic<UInt>
    /// The first job, from when the runtime hands it over until it is launched.
    private let first = Atomic<UInt>(Launch.unborn)
    private let lock = SpinLock()
    /// nil before it is made and when it is done.
    @exclusivity(unchecked) private var task: Task<Void, Never>?
    /// The level of its threads, when that is not its queue's, or it has no queue. Set before the first job runs.
    private let ownLevel: Atomic<Int>

    /// The highest that is known of.
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

    /// Makes the task; its first job waits for `launch`.
    func begin() {
        let operation = operation
        let priority = TaskPriority(untracked { operation.qualityOfService })
        let new = Task(executorPreference: self, priority: priority) { await operation.runAsTask() }
        lock.withLock { task = new }
    }

    /// Runs the first job on this thread, if it has not been run: until the operation suspends for the first time.
    func launch() {
        let job = first.exchange(Launch.done, ordering: .acquiringAndReleasing)
        guard job > Launch.done else { return }
        if let worker = ThreadContext.current.worker, let queue {
            let level = worker.pool.level.rawValue
            if level != queue.level.load(ordering: .relaxed) { ownLevel.store(level, ordering: .relaxed) }
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

    /// Runs a job on this thread, which has said that it runs the operation, and holds it.
    func run(_ job: UnownedJob) {
        HeldLocks.assertNone()
        job.runSynchronously(on: asUnownedTaskExecutor())
    }

    /// For the thread that runs a job: the operation, held until it has been run.
    var heldOperation: AsyncOperation { operation }

    /// Raises the task, unless it has that priority already.
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

    /// The operation has ended. Lets the task go.
    func end() {
        let old = lock.withLock { task.take() }
        withExtendedLifetime(old) {}
        letQueueGo()
    }
}

/// A part of an async operation that can go on, on any thread of its queue; or something that the runtime has to do there
/// before tasks can go on.
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

    /// For a job that is no part of a task.
    init(job: UnownedJob, on queue: OperationQueue) {
        self.job = job
        executor = .queue(queue)
    }

    var task: OperationTask? { if case .task(let task) = executor { task } else { nil } }

    /// Runs it as part of its operation, on a thread that does not yet say so.
    func run(in context: ThreadContext) {
        guard case .task(let task) = executor else { return runAlone() }
        // Held here: the job may be the last one, and end the task that holds the operation.
        let operation = task.heldOperation
        context.frames.append(
            .init(
                operation: Unmanaged.passUnretained(operation),
                queue: task.queue.map { Unmanaged.passUnretained($0) }))
        withExtendedLifetime(operation) { task.run(job) }
        context.frames.removeLast()
    }

    /// Runs what is part of no operation.
    func runAlone() {
        guard case .queue(let queue) = executor else { return }
        HeldLocks.assertNone()
        job.runSynchronously(on: queue.asUnownedTaskExecutor())
    }
}

/// A resumption that no queue's threads run: its operation was started by hand, or has a service level of its own.
private final class LoneResumption: WorkSource {
    private let resumption: Resumption

    init(_ resumption: Resumption) { self.resumption = resumption }

    var urgency: Urgency { resumption.task?.queue?.urgency ?? .shared }
    var threadName: String? { resumption.task?.queue?.threadName ?? "async operation" }

    func work(on worker: Worker) { resumption.run(in: .current) }
}

extension AsyncOperation {
    /// The whole of the task. `nonsending`, as what it calls: every other async function asks the runtime at its beginning,
    /// and after every call, where it has to run.
    nonisolated(nonsending)
        fileprivate final func runAsTask() async
    {
        let task = taskReference.load().unsafelyUnwrapped
        // Launched only to be freed: it was cancelled before it started, or its end was announced early.
        guard word.lifecycle.phase == .executing else {
            releaseWork()
            return task.end()
        }
        // Cancelled by who did not find the task yet, for it was being made.
        if word.lifecycle.isCancelled { withUnsafeCurrentTask { $0?.cancel() } }
        let reporter = progressReporter
        reporter?.willRunTask(of: self)
        do {
            if let interceptor { try await interceptor.perform(self, work) } else { try await work() }
        } catch {
            reportFailure(error)
        }
        // Cancelled from inside, of which nobody is told without a handler: that would cost more than a short task in all.
        if Task.isCancelled, !word.lifecycle.isCancelled { cancel() }
        task.end()
        (reporter ?? progressReporter)?.didRunTask(of: self)
        endAnnounced()
    }
}

extension TaskPriority {
    /// The priority of a task for work of a quality of service; nil, that of who makes the task, when that was never set.
    fileprivate init?(_ quality: QualityOfService) {
        guard quality != .default else { return nil }
        self.init(rawValue: UInt8(quality.rawValue))
    }
}
