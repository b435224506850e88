import SchedulerCore

/// The operation that a queue is a part of: the group of the queue's operations, or the retry operation that they are
/// attempts of. What waits for that operation from inside waits for itself (rule M8).
final class QueueOwner: Sendable {
    // Weak: the operation holds the queue. A group that is released lets its children end after it.
    private weak let heldOperation: AsyncOperation?

    init(_ operation: AsyncOperation) { heldOperation = operation }

    var operation: AsyncOperation? { heldOperation }
}

extension OperationQueue {
    /// Called once, when both are made.
    func setOwner(_ operation: AsyncOperation) {
        _ = ownerReference.storeIfNil(QueueOwner(operation))
        state.withLock { $0.hasOwner = true }
    }

    /// nil for most queues.
    var owner: AsyncOperation? { ownerReference.isSet ? ownerReference.load()?.operation : nil }
}

extension ThreadContext.Frame {
    /// Calls `check` with this frame, and with those of the operations that it is inside of, the innermost first. In a loop:
    /// groups may be nested deep.
    func checkOutward(_ check: (Self) throws(OperationError) -> Void) throws(OperationError) {
        try check(self)
        var inner = queue?.takeUnretainedValue()
        while let owner = inner?.owner {
            let lifecycle = owner.word.lifecycle
            let isInside = lifecycle.phase == .executing && lifecycle.hasQueue
            let outer = isInside ? owner.queue?.takeUnretainedValue() : nil
            try check(
                Self(operation: Unmanaged.passUnretained(owner), queue: outer.map { Unmanaged.passUnretained($0) }))
            inner = outer
        }
    }
}
