// Cancellation, beside the five steps. A waiting operation becomes ready at once and then passes through the usual steps.

@_spi(Hosting) import KeyValueObserving
import SchedulerCore

extension Operation {
    /// The default `cancel()`.
    final func requestCancellation() {
        guard !untracked({ isFinished }) else { return }
        guard !word.lifecycle.isCancelled else { return }
        let isMine = word.lifecycle.contains(.observed) ? cancelObserved() : cancelUnobserved()
        guard isMine else { return }
        announceReadiness()
        reconsiderReadiness()
        askThoughUnqueued()
        announcedDependents(of: .isCancelled)
    }

    /// Cancels an operation without observers. Returns false if another thread was first, or if the operation has finished.
    private final func cancelUnobserved() -> Bool {
        guard word.update({ $0.cancelled() }) != nil else { return false }
        if word.lifecycle.contains(.observed), claimsCancellation {
            announceLate([.isCancelled], since: nil)
        }
        return true
    }

    /// Cancels an operation with observers. If several threads cancel, one of them notifies the observers, before and after
    /// the change. The other threads only make the change. So the operation is cancelled when any of these calls returns,
    /// and no thread waits for the handlers that another thread calls.
    private final func cancelObserved() -> Bool {
        guard claimsCancellation else { return word.update { $0.cancelled() } != nil }
        let observers = ownAttachments
        HeldLocks.assertNone()
        let announcement = observers.willChange([.name("isCancelled")], of: self, knownOld: false)
        let isMine = word.update { $0.cancelled() } != nil
        if word.lifecycle.isCancelled {
            observers.notifiedFlips.note(.isCancelled)
            observers.didChange(announcement, of: self, isFlip: true)
        } else {
            observers.didNotChange(announcement, of: self)
        }
        return isMine
    }

    private final var claimsCancellation: Bool {
        ownAttachments.withLock { state in
            defer { state.isCancellationNotified = true }
            return !state.isCancellationNotified
        }
    }
}

extension OperationQueue {
    /// Cancels the operations that are in the queue at one moment (rules C5, A12). The queue keeps running. A member does not
    /// start before its cancellation. If a worker reaches a member before the caller, the worker calls `cancel()`. O(n log n).
    ///
    /// The method does nothing if all operations are cancelled already, and it sorts without the lock. Both let the workers
    /// make progress in a queue that is cancelled again and again.
    func cancelAll() {
        struct Member {
            let arrival: UInt64
            let operation: Operation
            let isPromised: Bool
        }
        let members: [Member]? = withState { state in
            let members = state.arrivals
            guard members.contains(where: { !$0.operation.word.lifecycle.isCancelled }) else { return nil }
            return members.compactMap { member in
                // An operation that leaves is still a member. One that has run `main()` may work on (rule A1).
                guard !member.operation.word.lifecycle.hasClaimedEnd else { return nil }
                let isPromised = member.operation.word.update { $0.cancelPromised() } != nil
                return Member(arrival: member.arrival, operation: member.operation, isPromised: isPromised)
            }
        }
        guard let members = members?.sorted(by: { $0.arrival < $1.arrival }) else { return }
        let runsUserCode = members.contains {
            !$0.operation.isPlainBlock || $0.operation.word.lifecycle.contains(.observed)
        }
        if runsUserCode {
            for member in members.dropFirst() where member.isPromised { member.operation.offerCancelCall() }
        }
        for member in members {
            if member.isPromised { member.operation.cancelIfUnclaimed() } else { member.operation.cancel() }
        }
    }
}

extension Operation {
    /// Makes a waiting operation with a promised cancellation available to a worker, which calls its `cancel()`. The
    /// `cancel()` of another operation may wait for this operation.
    final func offerCancelCall() {
        let lifecycle = word.lifecycle
        if lifecycle.needsCancelCall, !lifecycle.contains(.ready) { reconsiderReadiness() }
    }

    /// Calls `cancel()` as promised, unless another thread has claimed the call.
    final func cancelIfUnclaimed() {
        if word.update({ $0.cancelClaimed() }) != nil { return cancelAsPromised() }
        // The other thread may not have called `cancel()` yet. For a plain block, this line has the effect of that call. An
        // override may do something else.
        if isPlainBlock, word.lifecycle.awaitsPromisedCancel { requestCancellation() }
    }

    /// Called by the one thread that has claimed the promised call of `cancel()`.
    final func cancelAsPromised() {
        HeldLocks.assertNone()
        cancel()
        word.update { $0.cancelCalled() }
        // An override may not have called super, and the operation was held back during the call.
        reconsiderReadiness()
    }
}
