// Step 4 of 5: finish. Before: start. After: complete.
//
// The end is claimed by one thread (`finishing`), whoever brings the news: the default `start()`, an announcement from
// user code on any thread. It tells the dependents first, so that a free slot is given to the best of what is ready
// then (rule P2); leaves the queue; and only then lets waiters go (rule W3). O(dependents), never a walk over the queue.

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
        if lifecycle.contains(.hasDependents) { tellDependents() }
        if lifecycle.hasQueue {
            let queue = queue.unsafelyUnwrapped.takeUnretainedValue()
            if !lifecycle.contains(.unlisted) { queue.tellWatchers(.hasFinished, of: self) }
            if lifecycle.contains(.hasFailed) { keepFailureHandler(of: queue) }
            queue.leave(self)
            complete()
            Unmanaged.passUnretained(self).release()
        } else {
            complete()
        }
    }

    /// Rule L10: a common bug in ported code. The system survives it and says so.
    private final func warnOfEarlyFinish() {
        let queue = queue?.takeUnretainedValue().label ?? "a queue"
        Log.warning("\(label) announced isFinished before \(queue) started it")
    }
}

extension OperationQueue {
    /// Forgets a finished operation and looks for someone to use its slot.
    func leave(_ operation: Operation) { _ = leave(operation, claimingNext: false) }

    /// The same, and claims the next operation for this thread in the same stride.
    func leave(_ operation: Operation, claimingNext: Bool) -> Claim? {
        while true {
            let departure: Departure? = withState { state in
                // Pinned: someone is about to push it. Without its ticket it cannot leave; it is a matter of moments.
                let lifecycle = operation.word.lifecycle
                guard !lifecycle.contains(.inInbox) else { return nil }
                if observersReference.isSet, !lifecycle.contains(.unlisted) { state.noteLeaving(operation) }
                state.schedule.finished(operation.ticket)
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

    /// What is to be done, without the lock, after an operation has left.
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
    /// It was added to a queue, so it leaves one.
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
