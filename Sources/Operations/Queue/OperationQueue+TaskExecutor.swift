import CPlatform
import SchedulerCore

/// A queue runs tasks (rule N2): `Task(executorPreference: queue)`, `withTaskExecutorPreference(queue)`, and their child
/// tasks, within its width and at its service level.
///
/// Each part of a task, from one suspension to the next, takes a slot while it runs and waits for one like an operation:
/// by the task's priority, behind barriers, and not while the queue is suspended. A suspended task holds nothing. To the
/// outside these parts are no operations: they are not counted, listed, or cancelled; but who waits for all of the queue,
/// and a barrier, wait for those that are queued.
extension OperationQueue: TaskExecutor {
    /// Called by the runtime when a task can go on.
    public final func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        guard cplatform_job_is_task(unsafeBitCast(job, to: UInt.self)) else {
            // An actor, say, that a task of this queue has called: it has to be drained, by this thread or that, for all
            // who wait for it, whoever they are. If it waited for a slot, they would, and perhaps for one another.
            return resume(Resumption(job: job, on: self))
        }
        stopOnMisuse { () throws(OperationError) in try add(TaskJob(job, on: self)) }
    }
}

/// A part of a task that travels through its queue as an operation does.
final class TaskJob: Operation, @unchecked Sendable {
    // Sendable: constants.
    private let job: UnownedJob
    /// It holds the queue's operations, of which this is one.
    private unowned(unsafe) let executor: OperationQueue

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

    override func main() { job.runSynchronously(on: executor.asUnownedTaskExecutor()) }
}

extension TaskPriority {
    /// The priority of a task whose lane is this.
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
    /// The lane of a task: those of medium priority stand with operations of normal priority.
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
