import Synchronization

/// The task-local values of the code that adds an operation, for a task that another thread creates later.
///
/// No interface copies the values, except the creation of a task. So this is a task: its executor keeps the only job of it, and
/// `use(_:)` runs the job on the calling thread.
final class TaskLocalValues: TaskExecutor, @unchecked Sendable {
    // Sendable: the job is atomic, and `body` belongs to the thread that has taken the job.
    private let job = Atomic<UInt>(0)
    @exclusivity(unchecked) private var body: (() -> Void)?

    /// Takes the values of the calling code. The caller has to call `use(_:)` or `release()`: a task that never runs is never freed.
    static func ofCaller() -> TaskLocalValues {
        let values = TaskLocalValues()
        Task(executorPreference: values) { values.body.take()?() }
        return values
    }

    func enqueue(_ job: consuming ExecutorJob) {
        self.job.store(unsafeBitCast(UnownedJob(job), to: UInt.self), ordering: .releasing)
    }

    /// Calls `body` on this thread. The tasks that it creates inherit the values. The second call has no effect.
    func use(_ body: @escaping () -> Void) {
        let job = job.exchange(0, ordering: .acquiringAndReleasing)
        guard job != 0 else { return }
        self.body = body
        HeldLocks.assertNone()
        unsafeBitCast(job, to: UnownedJob.self).runSynchronously(on: asUnownedTaskExecutor())
    }

    /// Ends the task, if it has not run. The values are released.
    func release() { use {} }
}
