// The way back from executing: an async operation stands aside. It gives its slot and its resources back and is among
// the waiting again, though its work has begun. What lets it go on is what starts any operation: a slot, its turn, its
// resources; then its queue starts it once more, and the work goes on where it was.

import SchedulerCore

/// Holds an operation back for as long as its owner wants. Part of its `Gates`.
struct Hold {
    var isOn = false
    /// The work, while it waits to go on.
    var standing: Standing?

    struct Standing {
        let continuation: CheckedContinuation<Void, Never>
        /// Its queue lets it go on; else it has no queue, and has kept nothing from anybody.
        let isInQueue: Bool
    }
}

extension AsyncOperation {
    /// Whether the operation is held back: it is not started, and when it stands aside does not go on, until it is let
    /// go. One that is cancelled is held back no more.
    package final var isHeld: Bool { attachments?.withLock { $0.extras?.gates?.hold.isOn } ?? false }

    /// Holds it back from now on. One that executes goes on until it calls `standAside()`.
    package final func hold() {
        ownAttachments.withExtras { extras in
            var gates = extras.gates ?? Gates()
            gates.hold.isOn = true
            // What has started becomes gated when it stands aside.
            _ = word.update { $0.becameGated() }
            extras.gates = gates
        }
    }

    /// Lets it start, or go on, as soon as its queue has a slot for it.
    package final func letGo() {
        let standing = attachments?.withLock { state -> Hold.Standing? in
            state.extras?.gates?.hold.isOn = false
            return state.takeStandingAlone()
        }
        standing?.continuation.resume()
        reconsiderReadiness()
    }

    /// Called from the operation's own task: gives its slot back while it is held, and suspends until it is let go and has
    /// a slot again, or is cancelled. `isExecuting` is false meanwhile, if it is in a queue.
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
                // Let go, or cancelled, before it stood among the waiting: nobody has asked then.
                if !isHeld || word.lifecycle.isCancelled { reconsiderReadiness() }
            } else if !isInQueue, !word.lifecycle.isCancelled {
                // `cancel` finds it.
            } else {
                goOn()
            }
        }
    }

    /// Lets the work go on. Answers whether there was work that stood aside.
    @discardableResult
    final func goOn() -> Bool {
        let standing = attachments?.withLock { $0.extras?.gates?.hold.standing.take() }
        standing?.continuation.resume()
        return standing != nil
    }

    /// The same for what stands without a queue, and was cancelled.
    final func goOnAlone() {
        attachments?.withLock { $0.takeStandingAlone() }?.continuation.resume()
    }

    /// False: it is cancelled, or has ended, and keeps its slot for what is left to do.
    private final func leaveSlot() -> Bool {
        // Held: as soon as it stands among the waiting, another thread may start it, and end it.
        guard let queue = queue?.takeUnretainedValue() else { return false }
        withdrawFromResources()
        let hasStartable = announcing([.isExecuting]) { queue.giveSlotBack(of: self) }
        if hasStartable == true { queue.offerSlot() }
        return hasStartable != nil
    }
}

extension OperationQueue {
    /// Answers whether something may start now; nil when the operation has kept its slot.
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
