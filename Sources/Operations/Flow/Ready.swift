// Step 2 of 5: ready. Before: add. After: start.
//
// `isReady` belongs to the operation, and a subclass may override it. The queue keeps only the last value. Every event on
// which the value may depend ends in `reconsiderReadiness`: a dependency that finishes or is removed, a cancellation, an
// announcement. One thread at a time reads the value, and other threads make it read again. So the last value is the
// present one.

import SchedulerCore

extension Operation {
    /// Reads `isReady` again if the operation waits in a queue. The caller holds a reference.
    final func reconsiderReadiness() {
        let question = word.decide { $0.reconsidered() }
        if case .ask = question { askWhetherReady() }
    }

    /// Reads an overridden `isReady` of an operation in no queue. The value is not used, but the override may act on the
    /// call (rule A3). The caller holds a reference.
    final func askThoughUnqueued() {
        guard word.lifecycle.phase == .idle, !isPlainBlock else { return }
        HeldLocks.assertNone()
        _ = untracked { isReady }
    }

    /// Reads `isReady` until the value holds. The caller's `reconsidered` returned `ask`, which pins the operation.
    final func askWhetherReady() {
        HeldLocks.assertNone()
        while true {
            let isReady = untracked { self.isReady }
            // The pin keeps the queue alive only until the answer is settled. The push comes after.
            let queue = queue
            let gatedQueue = word.lifecycle.contains(.gated) ? queue?.takeUnretainedValue() : nil
            let id = scheduleID
            let answer = word.decide { $0.answered(isReady: isReady) }
            switch answer {
            case .askAgain: notifyGatesOfChange()
            case .settled(let next, let finishNow):
                if let gatedQueue { Self.settledGated(id, next, gatedQueue) }
                if finishNow { finishOrReconsider() }
                return
            case .push: return pushReady(into: queue)
            }
        }
    }

    /// Finishes the operation, because its end was announced during the addition or the question. If the end was revoked, reads
    /// `isReady` again.
    final func finishOrReconsider() {
        finishIfFinished()
        reconsiderReadiness()
    }

    /// Ends a question that was asked only for its pin. The answer does not change.
    final func unpin() {
        let queue = queue
        let answer = word.decide { $0.answered(isReady: $0.contains(.ready)) }
        switch answer {
        case .askAgain:
            notifyGatesOfChange()
            askWhetherReady()
        case .settled(_, let finishNow): if finishNow { finishOrReconsider() }
        case .push: pushReady(into: queue)
        }
    }

    /// Notifies the gates that there was a change during the question, which may be a new gate. The pin keeps the queue alive.
    private final func notifyGatesOfChange() {
        if let queue { notifyGatesOfWait(in: queue.takeUnretainedValue()) }
    }

    /// Pushes the answer to the queue, pinned. The operation may be released from the push on.
    private final func pushReady(into queue: Unmanaged<OperationQueue>?) {
        guard let queue = queue?.takeUnretainedValue() else { return }
        let isGated = word.lifecycle.contains(.gated)
        queue.push(self, last: nil)
        // As in `settledGated`. The thread that has the lock offers or releases reserved resources.
        if isGated { queue.takeIn() }
    }
}
