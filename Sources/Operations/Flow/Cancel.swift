// The side road: cancel. A waiting operation becomes ready at once and takes the flow from there.

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

    /// False: another thread was first, or the operation has finished.
    private final func cancelUnobserved() -> Bool {
        guard word.update({ $0.cancelled() }) != nil else { return false }
        if word.lifecycle.contains(.observed), claimsCancellation {
            announceLate([.isCancelled], since: nil)
        }
        return true
    }

    /// Of several threads that cancel, one tells of it, before and after. The others make the change and no more: so for
    /// each of them it is made when `cancel()` returns, and nobody waits for another one's handlers.
    private final func cancelObserved() -> Bool {
        guard claimsCancellation else { return word.update { $0.cancelled() } != nil }
        let observers = ownAttachments
        HeldLocks.assertNone()
        let announcement = observers.willChange([.name("isCancelled")], of: self, knownOld: false)
        let isMine = word.update { $0.cancelled() } != nil
        if word.lifecycle.isCancelled {
            observers.toldFlips.note(.isCancelled)
            observers.didChange(announcement, of: self, isFlip: true)
        } else {
            observers.didNotChange(announcement, of: self)
        }
        return isMine
    }

    private final var claimsCancellation: Bool {
        ownAttachments.withLock { state in
            defer { state.isCancellationTold = true }
            return !state.isCancellationTold
        }
    }
}

extension OperationQueue {
    /// Cancels what is in the queue at one moment (rules C5, A12). The queue keeps running: a member that the caller has
    /// not come to yet does not start, and a worker that comes to it first calls its `cancel()`. O(n log n).
    ///
    /// A queue whose operations are all cancelled is left alone, and the sorting is done without the lock: so a queue that
    /// is cancelled again and again comes to run them.
    func cancelAll() {
        struct Member {
            let arrival: UInt64
            let operation: Operation
            let isPromised: Bool
        }
        let members: [Member]? = withState { state in
            guard state.schedule.contains(where: { !Self.operation($0).word.lifecycle.isCancelled }) else { return nil }
            return state.arrivals.map { arrival, operation in
                let isPromised = operation.word.update { $0.cancelPromised() } != nil
                return Member(arrival: arrival, operation: operation, isPromised: isPromised)
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
    /// Lets a worker come to an operation that waits for something, and call its `cancel()`. The `cancel()` of another one may
    /// wait for it.
    final func offerCancelCall() {
        let lifecycle = word.lifecycle
        if lifecycle.needsCancelCall, !lifecycle.contains(.ready) { reconsiderReadiness() }
    }

    /// Calls `cancel()` as promised, unless another thread does.
    final func cancelIfUnclaimed() {
        if word.update({ $0.cancelClaimed() }) != nil { return cancelAsPromised() }
        // The other thread may not have come to `cancel()`, which is known to do this. An override may do something else.
        if isPlainBlock, word.lifecycle.awaitsPromisedCancel { requestCancellation() }
    }

    /// Called by the one thread that has claimed the promised call of `cancel()`.
    final func cancelAsPromised() {
        HeldLocks.assertNone()
        cancel()
        word.update { $0.cancelCalled() }
        // An override may not have called super, and the operation has been held back meanwhile.
        reconsiderReadiness()
    }
}
