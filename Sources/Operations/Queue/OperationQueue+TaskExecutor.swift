import SchedulerCore

/// A queue is a task executor: `Task(executorPreference: queue)` and `withTaskExecutorPreference(queue)` run tasks and
/// their child tasks on the queue, within its concurrency limit and at its service level.
///
/// Each part of a task, from one suspension to the next, uses a slot while it runs. A part waits for a slot like an
/// operation: by the priority of the task, behind barriers, and not while the queue is suspended. A suspended task uses
/// no slot. The parts are not operations: the queue does not count, list or cancel them. Waiting for all operations, and
/// a barrier, include the parts that are queued.
///
/// An asynchronous operation that moves to its own queue in this way, or that awaits a task of its own queue, needs a second
/// slot there. If the operation has the last slot, the operation never ends, and the queue reports a stall.
extension OperationQueue: TaskExecutor {
    /// Adds a job. The runtime calls this method when a task can continue.
    public final func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        // As soon as the queue has the job, another thread may run it to the end of the task, which may hold the queue.
        let held = Unmanaged.passRetained(self)
        defer { held.release() }
        guard job.isTask else {
            // The job of an actor, for example, that a task of this queue has called. Tasks of any executor may wait for
            // the actor. If the job waited for a slot, so would these tasks, and perhaps for each other.
            return resume(Resumption(job: job, on: self))
        }
        let part = TaskJob(job, on: self)
        let creator = operation(behind: job)
        if let creator { part.isAwaited(by: creator) }
        stopOnMisuse { () throws(OperationError) in try add(part) }
        if creator != nil { watchWaits() }
    }

    /// Returns the operation of this queue whose code has made the task of a job, or whose own task moves to the queue. It is likely to
    /// wait for the task, which would explain a queue that stands still.
    private func operation(behind job: UnownedJob) -> Operation? {
        if let (operation, queue) = ThreadContext.ofCurrentTask { return queue === self ? operation : nil }
        // A task that moves is not the current task any more. Its thread still runs the operation.
        let context = ThreadContext.current
        let frame = context.frames.last ?? context.workerFrame
        let operation = frame?.operation.takeUnretainedValue() as? AsyncOperation
        guard let operation, frame?.queue?.toOpaque() == Unmanaged.passUnretained(self).toOpaque(),
            operation.taskReference.load()?.isTask(job) == true
        else { return nil }
        return operation
    }
}

/// A part of a task. It moves through its queue like an operation.
final class TaskJob: Operation, @unchecked Sendable {
    // Sendable: constants.
    private let job: UnownedJob
    /// The queue. It holds its operations, of which this is one.
    private unowned(unsafe) let executor: OperationQueue
    /// The operation whose code has made the task, until the part starts.
    @exclusivity(unchecked) private var creator: Operation?

    init(_ job: UnownedJob, on executor: OperationQueue) {
        self.job = job
        self.executor = executor
        super.init()
        let lane = PriorityLane(TaskPriority(rawValue: job.priority.rawValue))
        word.change { word in
            word.priority = lane
            word.insert(.unlisted)
        }
    }

    override var executorOfTask: UnownedTaskExecutor? { executor.asUnownedTaskExecutor() }

    override var name: String? {
        get { "a part of a task" }
        set {}
    }

    /// Called before the part is in the queue.
    func isAwaited(by operation: Operation) {
        creator = operation
        operation.beginsWait(for: .operation(self))
    }

    override func main() {
        creator.take()?.endsWait(for: .operation(self))
        job.runSynchronously(on: executor.asUnownedTaskExecutor())
    }
}

extension TaskPriority {
    /// The priority of a task in this lane.
    init(_ lane: PriorityLane) {
        self =
            switch lane {
            case .veryHigh: TaskPriority(rawValue: 33)
            case .high: .high
            case .normal: .medium
            case .low: .low
            case .veryLow: .background
            }
    }
}

extension PriorityLane {
    /// The lane of a task: tasks of medium priority are in the lane of operations of normal priority.
    init(_ priority: TaskPriority) {
        self =
            switch priority.rawValue {
            case 33...: .veryHigh
            case TaskPriority.high.rawValue...: .high
            case TaskPriority.medium.rawValue...: .normal
            case TaskPriority.low.rawValue...: .low
            default: .veryLow
            }
    }
}
