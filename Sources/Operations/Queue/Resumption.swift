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
        // Held here, because the job may be the last one and end the task that holds the operation.
        guard let task, let operation = task.heldOperation else { return runAlone() }
        context.frames.append(
            .init(
                operation: Unmanaged.passUnretained(operation),
                queue: task.queue.map { Unmanaged.passUnretained($0) }))
        withExtendedLifetime(operation) { task.run(job) }
        context.frames.removeLast()
    }

    /// Runs a job that is not part of an operation.
    func runAlone() {
        switch executor {
        case .task(let task): task.run(job)
        case .queue(let queue):
            HeldLocks.assertNone()
            job.runSynchronously(on: queue.asUnownedTaskExecutor())
        }
    }
}

/// A resumption that no thread of a queue runs: its operation was started by hand, or has a service level of its own.
final class LoneResumption: WorkSource {
    private let resumption: Resumption

    init(_ resumption: Resumption) { self.resumption = resumption }

    var urgency: Urgency { resumption.task?.queue?.urgency ?? .shared }
    var threadName: String? { resumption.task?.queue?.threadName ?? "async operation" }

    func work(on worker: Worker) { resumption.run(in: .current) }
}
