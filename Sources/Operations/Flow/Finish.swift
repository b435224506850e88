// Step 4 of 5: finish. Before: start. After: complete.
//
// One thread claims the end (`finishing`): the thread of the default `start()`, or a thread that announces the end. The
// departure follows. It first notifies the dependents, so that a free slot goes to the best operation that is ready then
// (rule P2). Then the operation leaves the queue, and only after that waiters resume (rule W3). O(dependents), never a walk
// over the queue.

@_spi(Hosting) import KeyValueObserving
import SchedulerCore

extension Operation {
    /// Finishes the operation if `isFinished`, overridden or not, is true. Called whenever the end is announced.
    final func finishIfFinished() {
        HeldLocks.assertNone()
        guard untracked({ isFinished }) else { return }
        let finish = word.decide {
            $0.finishing()
        } next: {
            $0.next
        }
        guard case .claimed(_, let tooEarly) = finish else { return }
        if tooEarly { warnOfEarlyFinish() }
        endClaimed()
    }

    /// Continues after this thread has claimed the end. A worker of the queue that runs the operation makes it leave when
    /// `start()` has returned, and claims the next operation in the same section. Any other thread makes it leave now.
    final func endClaimed() {
        if ThreadContext.withCurrent({ $0.worker?.willDepart(self) }) != true { depart() }
    }

    /// Makes the operation leave its queue, if it has one, and completes it. Only the thread that has claimed the end, or has
    /// taken the promise of that thread, calls this method.
    final func depart() {
        prepareToLeave()
        guard word.lifecycle.hasQueue else { return complete(markFinished()) }
        let queue = queue.unsafelyUnwrapped.takeUnretainedValue()
        let departure = queue.leave(self, claimingFor: nil)
        queue.callWorkersUnlessLooking(departure.look.more)
        complete(departure.lifecycle)
        Unmanaged.passUnretained(self).release()
    }

    /// Does the work that precedes the departure: releases unused work, and notifies dependents.
    @inline(__always)
    final func prepareToLeave() {
        let lifecycle = word.lifecycle
        let isSimple =
            lifecycle.contains([.ranMain, .queued]) && !lifecycle.containsAny([.gated, .hasDependents, .hasFailed])
        if isSimple, queue.unsafelyUnwrapped._withUnsafeGuaranteedRef({ !$0.hooks.isSet }) { return }
        prepareToLeave(lifecycle)
    }

    @inline(never)
    private final func prepareToLeave(_ lifecycle: Lifecycle) {
        if !lifecycle.contains(.ranMain) { discardWork() }
        if lifecycle.contains(.gated) { for gate in gates { gate.leaves(self) } }
        if lifecycle.contains(.hasDependents) { notifyDependents() }
        guard lifecycle.hasQueue else { return }
        let queue = queue.unsafelyUnwrapped
        queue._withUnsafeGuaranteedRef { queue in
            if queue.hooks.isSet { queue.noteEnd(of: self, lifecycle) }
        }
    }

    /// Warns of a common bug in ported code, which the system survives (rule L10).
    private final func warnOfEarlyFinish() {
        let queue = queue?.takeUnretainedValue().label ?? "a queue"
        Log.warning("\(label) announced isFinished before \(queue) started it")
    }
}

extension OperationQueue {
    struct Departure {
        /// The word from before the operation was marked as finished.
        let lifecycle: Lifecycle
        var look = Look()
        /// Whether the worker has claimed the call of a worker, because no operation was left for it.
        let isCalled: Bool
    }

    /// Removes an operation that has claimed its end, and marks it as finished: from here on waiters return, and no completion
    /// block is added.
    ///
    /// A waiting thread may add an operation as soon as it sees the mark. If this worker is about to wait for work, it claims
    /// the call before the mark, so that the thread does not wake another worker.
    ///
    /// - Parameter level: The level of the worker that claims the next operation in the same section; nil for none. It claims
    ///   none if the operation has a completion block, which may take long.
    /// - Parameter claimsCall: Whether the worker claims the call if nothing is left for it. See `claimCall`.
    func leave(_ operation: Operation, claimingFor level: ServiceLevel?, claimsCall: Bool = false) -> Departure {
        while true {
            var idle: Idle?
            let departure: Departure? = withState { state in
                // Pinned: a thread is about to push the operation. The operation cannot leave before it has arrived. The
                // wait is short.
                let lifecycle = operation.word.lifecycle
                guard !lifecycle.contains(.inInbox) else { return nil }
                if state.policies.concern(lifecycle) { state.notePoliciesLeaving(operation, lifecycle) }
                let actions = state.machine.handle(.leave(operation.asMember))
                let isCalled = claimsCall && level.map { claimCall($0, state) } == true
                // Under the lock: a caller that sees the end finds that the operation has left (rule W3).
                var departure = Departure(lifecycle: operation.markFinished(), isCalled: isCalled)
                if actions.becomesIdle {
                    idle = state.becameIdle()
                } else if let level, !departure.lifecycle.contains(.hasCompletionBlock) {
                    departure.look = look(into: &state, for: serviceMap.services(of: level))
                } else {
                    departure.look.more = startableLevels(&state)
                }
                return departure
            }
            if let idle { for waiter in idle.waiters { waiter.wake() } }
            if let departure { return departure }
            Processor.yield()
        }
    }

    /// Claims the call for a worker that is about to wait for work, unless user code may run before the worker can promise to
    /// look. Such code is an action of a policy, and the executor of a task that waits for the queue.
    @inline(__always)
    private func claimCall(_ level: ServiceLevel, _ state: borrowing State) -> Bool {
        guard !state.machine.schedule.hasStartable, state.policies.isEmpty else { return false }
        return !state.idleWaiters.contains(where: { $0.isTask }) && signal.claimLingering(level)
    }

    /// The callers to resume, and the reference to release, when the queue has become empty.
    fileprivate struct Idle {
        let waiters: [Waiter]
        let keptAlive: OperationQueue?
    }
}

extension OperationQueue.State {
    fileprivate mutating func becameIdle() -> OperationQueue.Idle? {
        defer {
            idleWaiters = []
            keptAlive = nil
            reportedAt = nil
        }
        return OperationQueue.Idle(waiters: idleWaiters, keptAlive: keptAlive)
    }
}

extension Lifecycle {
    /// Whether the operation was added to a queue, and so leaves a queue.
    var hasQueue: Bool { contains(.queued) }
}

extension Lifecycle.Finish {
    var next: Lifecycle? {
        switch self {
        case .claimed(let next, _), .delegated(let next): next
        case .already: nil
        }
    }
}
