// Step 4 of 5: finish. Before: start. After: complete.
//
// One thread claims the end (`finishing`): the thread of the default `start()`, or a thread that announces the end. It
// first notifies the dependents, so that a free slot goes to the best operation that is ready then (rule P2). Then it
// leaves the queue, and only after that resumes the waiters (rule W3). O(dependents), never a walk over the queue.

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
        guard case .claimed(let lifecycle, let tooEarly) = finish else { return }
        if tooEarly { warnOfEarlyFinish() }
        ThreadContext.current.worker?.willFinish(self)
        if !lifecycle.contains(.ranMain) { discardWork() }
        if lifecycle.contains(.gated) { leaveGates() }
        if lifecycle.contains(.hasDependents) { notifyDependents() }
        if lifecycle.hasQueue {
            let queue = queue.unsafelyUnwrapped.takeUnretainedValue()
            if !lifecycle.contains(.unlisted) { queue.notifyWatchers(.hasFinished, of: self) }
            if lifecycle.contains(.hasFailed) { keepFailureHandler(of: queue) }
            queue.leave(self)
            complete()
            Unmanaged.passUnretained(self).release()
        } else {
            complete()
        }
    }

    /// Warns of a common bug in ported code, which the system survives (rule L10).
    private final func warnOfEarlyFinish() {
        let queue = queue?.takeUnretainedValue().label ?? "a queue"
        Log.warning("\(label) announced isFinished before \(queue) started it")
    }
}

extension OperationQueue {
    /// Removes a finished operation, and finds a thread to use its slot.
    func leave(_ operation: Operation) { _ = leave(operation, claimingNext: false) }

    /// Removes a finished operation, and claims the next operation for this thread under the same lock.
    func leave(_ operation: Operation, claimingNext: Bool) -> Claim? {
        while true {
            let departure: Departure? = withState { state in
                // Pinned: a thread is about to push the operation. The operation cannot leave without its ticket. The
                // wait is short.
                let lifecycle = operation.word.lifecycle
                guard !lifecycle.contains(.inInbox) else { return nil }
                if observersReference.isSet, !lifecycle.contains(.unlisted) { state.noteLeaving(operation) }
                state.schedule.finished(operation.ticket)
                if let throttle = state.throttle { throttle.forget(operation.scheduleID) }
                if lifecycle.containsAny([.gated, .keyed, .bounded]) {
                    state.leftSpecial(operation, lifecycle)
                }
                return depart(&state, claimingNext: claimingNext)
            }
            switch departure {
            case .claimed(let claim):
                return claim
            case .left(let hasStartable):
                if hasStartable { offerSlot() }
                return nil
            case .leftEmpty(let waiters, let keptAlive):
                for waiter in waiters { waiter.wake() }
                withExtendedLifetime(keptAlive) {}
                return nil
            case nil:
                Processor.yield()
            }
        }
    }

    /// The work to do without the lock after an operation has left.
    private enum Departure {
        case claimed(Claim?)
        case left(hasStartable: Bool)
        case leftEmpty(waiters: [Waiter], keptAlive: OperationQueue?)
    }

    @inline(__always)
    private func depart(_ state: inout State, claimingNext: Bool) -> Departure {
        guard state.schedule.isEmpty else {
            return claimingNext ? .claimed(claim(from: &state)) : .left(hasStartable: state.schedule.hasStartable)
        }
        defer {
            state.idleWaiters = []
            state.keptAlive = nil
            state.reportedAt = nil
        }
        return .leftEmpty(waiters: state.idleWaiters, keptAlive: state.keptAlive)
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
