// The entrance of a queue for operations that are new, or have changed, and the call of workers.

import SchedulerCore

extension OperationQueue {
    /// Pushes operations that the caller has pinned, linked from `first` to `last`, and calls a worker if one is needed.
    @inline(__always)
    final func push(_ first: Operation, last: Operation?) { push(first, last: last, service: first.service) }

    /// - Parameter service: The service of the first operation, read while the pin lasts: it ends with the push.
    @inline(__always)
    final func push(_ first: Operation, last: Operation?, service: Schedule.Service) {
        let level = serviceMap.level(of: service)
        if observersReference.isSet {
            pushObserved(first, last: last)
        } else if inbox.push(first, last: last), signal.isBusyUnattended {
            // No worker looks soon. When one does, the operations may have left the cache.
            takeIn()
        }
        if signal.needsStep(for: level) { step(for: level) }
    }

    /// Calls a worker after a push, or takes the lock.
    @inline(never)
    private final func step(for level: ServiceLevel) {
        // If a bit is set later, the thread that sets it looks into the inbox afterward.
        if signal.isEmpty { return takeInWhileEmpty() }
        if !thisThreadLooksSoon, signal.claimCallForSlot(level) { callWorker(level) }
    }

    /// Takes an operation into an empty queue that could start nothing.
    private func takeInWhileEmpty() {
        withState { state in
            watchForStall(&state)
            state.opens = true
        }
    }

    /// Whether this thread is a worker that is going to look into the queue itself.
    final var thisThreadLooksSoon: Bool {
        ThreadContext.withCurrent { $0.withWorker { $0.looksSoon(into: self) } == true }
    }

    /// Pushes operations and drains the inbox in one section, so that this thread then notifies the observers.
    @inline(never)
    private func pushObserved(_ first: Operation, last: Operation?) {
        withState { state in
            inbox.push(first, last: last)
            drain(&state)
        }
    }

    /// Calls a worker of each of the levels, unless one was called.
    final func callWorkers(_ levels: ServiceLevels) {
        guard !levels.isEmpty else { return }
        for level in ServiceLevel.allCases where levels.contains(ServiceLevels(level)) { callWorkerIfNone(level) }
    }

    func callWorkerIfNone(_ level: ServiceLevel) { if signal.claimCall(level) { callWorker(level) } }

    /// Calls workers for operations that can start or resume. For a worker that leaves the queue or stops attending it.
    func callWorkersIfStartable() {
        callWorkers(withState { startableLevels(&$0) })
        if hasResumptions { callWorkerIfNone(level) }
    }
}
