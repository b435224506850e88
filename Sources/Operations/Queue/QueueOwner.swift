import SchedulerCore

/// The operation that owns a queue: the group of the queue's operations, or the retry operation whose attempts run in the
/// queue. An operation of the queue that waits for the owner waits for itself (rule M8).
final class QueueOwner: Sendable {
    // Weak: the operation holds the queue. The children of a group that is released may end after the group.
    private weak let heldOperation: AsyncOperation?
    private let outerReference = LazyReference<Outer>()

    /// A holder of the queue that the operation is in.
    private final class Outer: Sendable {
        // Weak: the operation may leave the outer queue, which is then released, while the children still run.
        weak let queue: OperationQueue?
        init(_ queue: OperationQueue) { self.queue = queue }
    }

    init(_ operation: AsyncOperation) { heldOperation = operation }

    var operation: AsyncOperation? { heldOperation }

    /// The queue that the operation is in; nil if there is none, or if the queue has been released.
    var outerQueue: OperationQueue? { outerReference.load()?.queue }

    /// Records the queue of the operation. The thread that adds the operation calls this method during the adding.
    func isAdded(to queue: OperationQueue) { _ = outerReference.storeIfNil(Outer(queue)) }
}

extension OperationQueue {
    /// Sets the owner. Called once, after the queue and the operation are made.
    func setOwner(_ operation: AsyncOperation) { _ = ownerReference.storeIfNil(QueueOwner(operation)) }

    /// The owner of the queue; nil for most queues.
    var owner: AsyncOperation? { queueOwner?.operation }

    var queueOwner: QueueOwner? { ownerReference.isSet ? ownerReference.load() : nil }
}

extension ThreadContext.Frame {
    /// Calls `check` with this frame, and with the frames of the operations around it, the innermost first. The method is a
    /// loop, because groups may be nested deep.
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
