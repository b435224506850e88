import SchedulerCore
import Synchronization

// The queues whose threads come from the pools.
extension OperationQueue: WorkSource {
    var urgency: Urgency {
        state.withLock { $0.width == Self.defaultMaxConcurrentOperationCount ? .shared : .eager }
    }

    var threadName: String? { state.withLock { $0.name } ?? "operation queue" }

    /// Drains the queue of the operations of the worker's level. See `Shift`.
    func work(on worker: Worker) {
        signal.workerArrived(worker.level)
        worker.workplace = Unmanaged.passUnretained(self)
        defer { worker.workplace = nil }
        let hasPlace = threads.enter(limit: Self.maxThreadCount)
        var shift = Shift(of: worker, isBeyondLimit: !hasPlace)
        if hasPlace {
            work(in: &shift)
            if threads.leave(limit: Self.maxThreadCount) { callWorkersIfStartable() }
        } else {
            workBeyondLimit(in: &shift)
        }
        // The level of the queue may have changed after a push that relied on this worker.
        if level != worker.level, hasResumptions { callWorkerIfNone(level) }
    }

    /// Ends the call of a worker that has no thread, so that the next push calls a worker again.
    func noThreadComes(of level: ServiceLevel) { signal.workerArrived(level) }

    /// Whether a thread may claim the next operation in the section in which an operation leaves: the schedule alone decides which
    /// is next, and no user code runs when the lock is released.
    @inline(__always)
    var mayClaim: Bool {
        !hasResumptions && !readsClock.load(ordering: .relaxed) && !observersReference.isSet
    }
}
