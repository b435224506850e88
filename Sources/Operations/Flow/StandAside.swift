// The way back from executing: an async operation pauses. It releases its slot and its resources and waits again,
// although its work has begun. The same things start it again as any operation: a slot, its turn, its resources. Then its
// queue starts it once more, and the work continues where it was.

import SchedulerCore

/// A pause of an operation, for as long as its owner wants. Part of its `Gates`.
struct Hold {
    var isOn = false
    /// The suspended work; nil while the work is not suspended.
    var standing: Standing?

    struct Standing {
        let continuation: CheckedContinuation<Void, Never>
        /// Whether a queue resumes the work. If false, the operation is in no queue and uses no slot.
        let isInQueue: Bool
    }
}

extension AsyncOperation {
    /// Whether the operation is paused: it does not start, and its suspended work does not continue, until it is resumed
    /// or cancelled.
    package final var isHeld: Bool { attachments?.withLock { $0.extras?.gates?.hold.isOn } ?? false }

    /// Pauses the operation. An executing operation continues until it calls `standAside()`.
    package final func hold() {
        ownAttachments.withExtras { extras in
            var gates = extras.gates ?? Gates()
            gates.hold.isOn = true
            // An operation that has started becomes gated when its work suspends.
            _ = word.update { $0.becameGated() }
            extras.gates = gates
        }
    }

    /// Resumes the operation: it starts or continues as soon as its queue has a slot for it.
    package final func letGo() {
        let standing = attachments?.withLock { state -> Hold.Standing? in
            state.extras?.gates?.hold.isOn = false
            return state.takeStandingAlone()
        }
        standing?.continuation.resume()
        reconsiderReadiness()
    }

    /// Suspends the work while the operation is paused, and releases its slot. Called from the operation's own task.
    ///
    /// The work continues when the operation is resumed and has a slot again, or is cancelled. Meanwhile `isExecuting` is
    /// false, if the operation is in a queue.
    package final func standAside() async {
        let isInQueue = word.lifecycle.hasQueue
        await withCheckedContinuation { continuation in
            let mustStand = attachments?.withLock { state in
                guard state.extras?.gates?.hold.isOn == true else { return false }
                state.extras?.gates?.hold.standing = .init(continuation: continuation, isInQueue: isInQueue)
                return true
            }
            guard mustStand == true else { return continuation.resume() }
            if isInQueue, leaveSlot() {
                // Resumed or cancelled before the operation was waiting: no thread has read its readiness then.
                if !isHeld || word.lifecycle.isCancelled { reconsiderReadiness() }
            } else if !isInQueue, !word.lifecycle.isCancelled {
                // `cancel` resumes the work.
            } else {
                goOn()
            }
        }
    }

    /// Continues suspended work. Returns whether there was suspended work.
    @discardableResult
    final func goOn() -> Bool {
        let standing = attachments?.withLock { $0.extras?.gates?.hold.standing.take() }
        standing?.continuation.resume()
        return standing != nil
    }

    /// Continues the suspended work of a cancelled operation that is in no queue.
    final func goOnAlone() {
        attachments?.withLock { $0.takeStandingAlone() }?.continuation.resume()
    }

    /// Releases the slot. False: the operation is cancelled or has ended, and keeps its slot for its remaining work.
    private final func leaveSlot() -> Bool {
        // Retained, because another thread may start and end the operation as soon as it waits.
        guard let queue = queue?.takeUnretainedValue() else { return false }
        withdrawFromResources()
        let hasStartable = announcing([.isExecuting]) { queue.giveSlotBack(of: self) }
        if hasStartable == true { queue.offerSlot() }
        return hasStartable != nil
    }
}

extension OperationQueue {
    /// Returns whether an operation can start now; nil when the operation has kept its slot.
    fileprivate func giveSlotBack(of operation: Operation) -> Bool? {
        withState { state in
            guard let lifecycle = operation.word.update({ $0.stoodAside() }) else { return nil }
            state.returnToWaiting(operation, lifecycle)
            return state.schedule.hasStartable
        }
    }
}

extension Attachments.State {
    fileprivate func takeStandingAlone() -> Hold.Standing? {
        guard extras?.gates?.hold.standing?.isInQueue == false else { return nil }
        return extras?.gates?.hold.standing.take()
    }
}
