// The way back from executing: a paused async operation releases its slot and its resources. The operation is then one of
// the waiting operations of its queue again, although its work has begun. The queue starts the operation once more when the
// operation is resumed and has a slot, its turn and its resources. The work then continues where it was.

import SchedulerCore

extension AsyncOperation {
    /// The default `pause()`.
    final func hold() { changeHold { $0.isOn = true } }

    /// The default `resume()`.
    final func releaseHold() { changeHoldBack { $0.isOn = false } }

    private final func changeHold(_ change: (Hold) -> Void) {
        guard !word.lifecycle.isFinished else { return }
        let new = Hold()
        ownAttachments.withExtras { extras in
            // An operation that has started becomes gated when its work pauses.
            _ = word.update { $0.becameGated() }
            change(extras.gate(orNew: new))
        }
        leaveLine()
    }

    private final func changeHoldBack(_ change: (Hold) -> Void) {
        let standing = withGate(Hold.self) { hold in
            change(hold)
            return hold.takeStandingAlone()
        }
        standing??.resume()
        reconsiderReadiness()
    }

    /// Suspends the work while the operation is paused. Call it from ``run()``, at the points where the work can stop.
    ///
    /// A paused operation in a queue releases its slot, its resources and its turn under a limit key here, and
    /// `isExecuting` becomes false. The operation keeps its place: after ``resume()`` it waits for a slot in the order of
    /// its priority and of its adding. Then `isExecuting` becomes true again, and the call returns.
    ///
    /// The call returns at once when the operation is not paused. Cancelling the operation ends the pause too: the call
    /// returns when the operation has a slot and its resources again. Check `Task.isCancelled` after the call.
    ///
    /// Several child tasks may call it. The first call releases the slot, although other child tasks may still work. All
    /// calls return together.
    public final func waitWhilePaused() async {
        let isInQueue = word.lifecycle.hasQueue
        await withCheckedContinuation { continuation in
            switch withGate(Hold.self, { $0.stand(continuation, isInQueue: isInQueue) }) {
            case .continues, nil: return continuation.resume()
            case .joins: return
            case .begins: break
            }
            if isInQueue, leaveSlot() {
                // Another thread may have resumed or cancelled it before it was one of the waiting operations. That
                // thread then found nothing to start.
                if !isHeld || word.lifecycle.isCancelled { reconsiderReadiness() }
            } else if !isInQueue, !word.lifecycle.isCancelled {
                // `cancel` resumes the work.
            } else {
                continueWork()
            }
        }
    }

    /// Suspends the work for a time, and gives the slot, the resources and the turn under a limit key to other operations meanwhile:
    /// the pause between two attempts, for example. Call it from ``run()``.
    ///
    /// After the time, the operation waits for a slot in the order of its priority and of its adding, and the call returns when it
    /// has one. It needs that slot also to end. The operation does not count as paused. An operation without a queue only sleeps. If
    /// several child tasks call the method, they continue together when the times of all are over.
    ///
    /// - Throws: `CancellationError` if the operation is cancelled. The operation has its slot again then.
    public final func releaseSlot(for delay: Duration, clock: some Clock<Duration> = ContinuousClock()) async throws {
        try Task.checkCancellation()
        guard word.lifecycle.hasQueue, let queue = taskReference.load()?.queue else {
            return try await clock.sleepFully(for: delay)
        }
        let start = clock.now
        let release = Hold.Release { delay - start.duration(to: clock.now) }
        changeHold { $0.releases.append(release) }
        let timer = Task(executorPreference: queue.executorBeside) { [weak self] in
            try? await clock.sleepFully(for: delay, since: start)
            self?.changeHoldBack { $0.releases.removeAll { $0 === release } }
        }
        await waitWhilePaused()
        timer.cancel()
        await timer.value
        try Task.checkCancellation()
    }

    /// Continues the paused work. Returns whether there was paused work.
    @discardableResult
    final func continueWork() -> Bool {
        let standing = withGate(Hold.self) { $0.takeStanding() } ?? nil
        standing?.resume()
        return standing != nil
    }

    /// Continues the paused work of a cancelled operation that is in no queue.
    final func continueWorkAlone() {
        withGate(Hold.self) { $0.takeStandingAlone() }??.resume()
    }

    /// Releases the slot. Returns false when the operation is cancelled or has ended: then it keeps its slot for the rest
    /// of its work.
    private final func leaveSlot() -> Bool {
        guard !word.lifecycle.isCancelled else { return false }
        // Retained: another thread may start the operation as soon as it is waiting, and end it. Not the queue of the operation,
        // which may be gone: the call may come from another task, after the end.
        guard let queue = taskReference.load()?.queue else { return false }
        // First: as soon as it is waiting, another thread may acquire them for it again.
        for gate in gates { gate.putBack(self, andAsk: false) }
        return announcing([.isExecuting]) { queue.giveSlotBack(of: self) } != nil
    }
}

extension OperationQueue {
    /// Returns nil when the operation has kept its slot.
    fileprivate func giveSlotBack(of operation: Operation) -> Void? {
        withState { state in
            guard let lifecycle = operation.word.update({ $0.stoodAside() }) else { return nil }
            state.returnToWaiting(operation, lifecycle, hasBegun: true)
            return ()
        }
    }
}
