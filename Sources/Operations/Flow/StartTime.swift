// The time of the start of an operation that executes, for explanations (rule N3).
//
// An operation that a worker of a pool runs has no time of its own: the worker has it, so that a tiny operation pays a reading of
// the coarse clock only. A task has its time. The other operations are started on threads of Dispatch or by hand, or continue
// after their `start()` has returned. They have it with their attachments.

import SchedulerCore

extension Operation {
    /// The time at which the operation that executes was started; nil if it does not execute, or if a host runs it, whose time is
    /// not that of the system.
    final var startTime: UInt64? {
        let lifecycle = word.lifecycle
        switch lifecycle.phase {
        case .starting where !lifecycle.contains(.admitting), .executing, .ended: break
        default: return nil
        }
        let ofTask = (self as? AsyncOperation)?.taskReference.withLoaded { $0.startTime } ?? nil
        let kept = ofTask ?? attachments?.withLock { $0.extras?.startTime }
        return kept ?? WorkerPool.pools.lazy.compactMap { $0.start(of: self) }.min()
    }

    /// The time since the start of the operation. See `startTime`.
    final var executionTime: Duration? { startTime.map { .nanoseconds(MonotonicClock.elapsed(since: $0)) } }

    /// Keeps the time of the start, because no worker has it, or not for long enough. Called by the thread that starts the
    /// operation.
    @inline(never)
    final func keepStartTime(in queue: OperationQueue?) {
        guard queue?.host == nil, !(self is AsyncOperation) else { return }
        let start = ThreadContext.current.worker?.start(of: self) ?? MonotonicClock.coarse
        ownAttachments.withExtras { if $0.startTime == nil { $0.startTime = start } }
    }
}

extension WorkerPool {
    func start(of operation: Operation) -> UInt64? {
        state.withLock { $0.busy.values.lazy.compactMap { $0.start(of: operation) }.min() }
    }
}
