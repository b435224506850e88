import SchedulerCore

/// Operations of one queue that are new or have become ready, and are pinned until they are pushed. They are pushed together,
/// because all threads of a queue write to its inbox. The operation added last is the first one of the push.
struct PinnedOperations {
    private var newest: Unmanaged<Operation>?
    private var oldest: Unmanaged<Operation>?
    private var queue: Unmanaged<OperationQueue>?
    private var count = 0
    private let held: Unmanaged<OperationQueue>?
    private let limit: Int

    /// - Parameters:
    ///   - held: A queue that exists as long as this value. The runtime counts the references to most queues in a side table,
    ///     which takes as long as the rest of a notification.
    ///   - limit: The number of operations to push at once. A worker that needs a pinned operation waits until it is pushed.
    @inline(__always)
    init(in held: Unmanaged<OperationQueue>?, limit: Int = 32) {
        self.held = held
        self.limit = limit
    }

    /// Whether an operation of this queue may be pinned before the others are pushed. The push to another queue may run code of
    /// the user, and a worker that needs a pinned operation looks again and again until its push.
    ///
    /// - Parameter operation: An operation that waits in a queue, so that its queue is constant.
    @inline(__always)
    func admits(_ operation: Unmanaged<Operation>) -> Bool {
        newest == nil || operation._withUnsafeGuaranteedRef { $0.queue?.toOpaque() } == queue?.toOpaque()
    }

    /// Adds an operation that the caller has pinned, and that `admits` accepts.
    @inline(__always)
    mutating func add(_ operation: Unmanaged<Operation>) {
        operation._withUnsafeGuaranteedRef { operation in
            if newest == nil { queue = operation.queue }
            operation.next = newest
        }
        if newest == nil { oldest = operation }
        newest = operation
        count += 1
        // Not before the next operation is pinned: a push may run code of the user, and a pin is short.
        if count == limit { push() }
    }

    /// Pushes the operations. They may be released from then on, so no reference is counted here.
    mutating func push() {
        guard let newest, let oldest, let queue else { return }
        // The pins keep the queue until the push, and this thread uses the queue after that.
        let isHeld = queue.toOpaque() == held?.toOpaque()
        if !isHeld { _ = queue.retain() }
        queue._withUnsafeGuaranteedRef { queue in
            newest._withUnsafeGuaranteedRef { first in
                if count == 1 { return queue.push(first, last: nil) }
                oldest._withUnsafeGuaranteedRef { queue.push(first, last: $0) }
            }
        }
        if !isHeld { queue.release() }
        self.newest = nil
        count = 0
    }
}
