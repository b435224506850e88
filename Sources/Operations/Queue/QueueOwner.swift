import SchedulerCore

/// The operation that a queue is a part of: the group of the queue's operations, or the retry operation that they are
/// attempts of. What waits for that operation from inside waits for itself (rule M8).
final class QueueOwner: Sendable {
    // Weak: the operation holds the queue. A group that is released lets its children end after it.
    private weak let heldOperation: AsyncOperation?
    private let outerReference = LazyReference<Outer>()

    /// The queue that the operation is in.
    private final class Outer: Sendable {
        // Weak: the operation may leave that queue, which is then released, while its children still run.
        weak let queue: OperationQueue?
        init(_ queue: OperationQueue) { self.queue = queue }
    }

    init(_ operation: AsyncOperation) { heldOperation = operation }

    var operation: AsyncOperation? { heldOperation }

    /// The queue that the operation is in; nil when there is none, or when it is gone.
    var outerQueue: OperationQueue? { outerReference.load()?.queue }

    /// Called by the thread that adds the operation to a queue, while it does so.
    func isAdded(to queue: OperationQueue) { _ = outerReference.storeIfNil(Outer(queue)) }
}

extension OperationQueue {
    /// Called once, when both are made.
    func setOwner(_ operation: AsyncOperation) {
        _ = ownerReference.storeIfNil(QueueOwner(operation))
        state.withLock { $0.hasOwner = true }
    }

    /// nil for most queues.
    var owner: AsyncOperation? { queueOwner?.operation }

    var queueOwner: QueueOwner? { ownerReference.isSet ? ownerReference.load() : nil }
}

extension ThreadContext.Frame {
    /// Calls `check` with this frame, and with those of the operations that it is inside of, the innermost first. In a loop:
    /// groups may be nested deep.
    func checkOutward(_ check: (Self) throws(OperationError) -> Void) throws(OperationError) {
        try check(self)
        var inner = queue?.takeUnretainedValue()
        while let queueOwner = inner?.queueOwner, let owner = queueOwner.operation {
            let outer = owner.word.lifecycle.phase == .executing ? queueOwner.outerQueue : nil
            try check(
                Self(operation: Unmanaged.passUnretained(owner), queue: outer.map { Unmanaged.passUnretained($0) }))
            inner = outer
        }
    }
}
