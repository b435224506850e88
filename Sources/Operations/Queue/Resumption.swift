import CPlatform

/// A job that can run on any thread of a queue: the next part of an async operation, or other work of the runtime.
///
/// It has one reference to its executor, and no copy counts another. `run` or `runAlone` is called once, and ends the reference.
struct Resumption: Sendable {
    let job: UnownedJob
    private let executor: Executor

    private enum Executor: @unchecked Sendable {
        // Sendable: the objects are.
        case task(Unmanaged<OperationTask>)
        case queue(Unmanaged<OperationQueue>)
    }

    init(job: UnownedJob, task: OperationTask) {
        self.job = job
        executor = .task(.passRetained(task))
    }

    /// Creates a resumption for a job that is not part of a task.
    init(job: UnownedJob, on queue: OperationQueue) {
        self.job = job
        executor = .queue(.passRetained(queue))
    }

    /// The task, while the resumption has its reference.
    @inline(__always)
    var task: Unmanaged<OperationTask>? { if case .task(let task) = executor { task } else { nil } }

    /// Runs the job as part of its operation, on a thread that has not yet recorded the operation.
    func run(in context: ThreadContext) {
        guard let task else { return runAlone() }
        task._withUnsafeGuaranteedRef { task in
            // Held here, because the job may be the last one and end the task that holds the operation.
            guard let operation = task.heldOperation else { return task.run(job) }
            let queue = task.queue
            context.frames.append(
                .init(operation: .passUnretained(operation), queue: queue.map(Unmanaged.passUnretained)))
            context.withWorker { $0.beginRunning(.passUnretained(operation)) }
            withExtendedLifetime((operation, queue)) { task.run(job) }
            context.withWorker { $0.endRunning() }
            context.frames.removeLast()
        }
        task.release()
    }

    /// Runs a job that is not part of an operation.
    func runAlone() {
        switch executor {
        case .task(let task):
            task._withUnsafeGuaranteedRef { $0.run(job) }
            task.release()
        case .queue(let queue):
            HeldLocks.assertNone()
            queue._withUnsafeGuaranteedRef { job.runSynchronously(on: $0.asUnownedTaskExecutor()) }
            queue.release()
        }
    }

    /// Runs the job on a thread that has recorded its operation.
    @inline(__always)
    func runInside(_ task: Unmanaged<OperationTask>) {
        task._withUnsafeGuaranteedRef { $0.run(job) }
        task.release()
    }
}

extension UnownedJob {
    /// Whether the job is a task that resumes. Other jobs belong to the runtime.
    @inline(__always)
    var isTask: Bool { cplatform_job_is_task(unsafeBitCast(self, to: UInt.self)) }

    /// Whether the job is the second half of a `Task.yield()`. The thread that enqueues it is about to suspend the task.
    @inline(__always)
    var isYield: Bool { cplatform_job_is_yield(unsafeBitCast(self, to: UInt.self)) }
}
