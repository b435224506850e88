import SchedulerCore

// Async work as operations (rule N1).
extension OperationQueue {
    /// Adds an async closure as an operation, whose `value` is the closure's result.
    ///
    /// The closure inherits the task-local values and the priority of the caller. It holds a slot of the queue until it
    /// returns, also while it is suspended. It uses a thread only while it runs. O(1).
    ///
    /// A queue that is full or was shut down refuses the operation, whose `value` then throws
    /// ``OperationError/queueFull(queue:capacity:)`` or ``OperationError/queueShutDown(queue:)``.
    ///
    /// - Parameters:
    ///   - name: A label for people.
    ///   - priority: The rank of the operation among the ready operations of the queue.
    ///   - dependencies: The operations that have to finish before the new operation starts.
    ///   - key: The key whose limit applies, such as a host; nil for no key. See ``addOperation(_:limitKey:)``.
    ///   - timeout: The time from the start of the operation to its end, after which it fails with ``OperationTimeout``;
    ///     nil for no limit. See ``Operation/setTimeout(_:clock:)``.
    ///   - deadline: The instant at which the operation fails with ``OperationTimeout``, if it has not finished; nil for none.
    ///   - retry: The rule for repeating the work when it throws; nil for one attempt. During a delay the operation releases its slot
    ///     and the turn of its key. See ``AsyncOperation/releaseSlot(for:clock:)``.
    ///   - body: The work.
    @discardableResult @inlinable
    public final func addTask<Success: Sendable>(
        name: String? = nil, priority: Operation.QueuePriority = .normal, after dependencies: [Operation] = [],
        limitKey key: String? = nil, timeout: Duration? = nil, deadline: ContinuousClock.Instant? = nil,
        retry: RetryPolicy? = nil, _ body: @escaping @Sendable () async throws -> Success
    ) -> TaskOperation<Success> {
        let operation = Self.task(name, priority, dependencies, timeout, deadline, retry, body)
        addOperation(operation, limitKey: key)
        return operation
    }

    /// Adds an async closure as an operation as soon as the queue has free capacity. See `addTask`, and
    /// ``addOperationWaitingForCapacity(_:limitKey:)``.
    ///
    /// - Throws: `CancellationError` if the task is cancelled before or while the caller waits.
    ///   ``OperationError/queueShutDown(queue:)``. The closure never runs then.
    @discardableResult @inlinable
    public final func addTaskWaitingForCapacity<Success: Sendable>(
        name: String? = nil, priority: Operation.QueuePriority = .normal, after dependencies: [Operation] = [],
        limitKey key: String? = nil, timeout: Duration? = nil, deadline: ContinuousClock.Instant? = nil,
        retry: RetryPolicy? = nil, _ body: @escaping @Sendable () async throws -> Success
    ) async throws -> TaskOperation<Success> {
        let operation = Self.task(name, priority, dependencies, timeout, deadline, retry, body)
        try await addOperationWaitingForCapacity(operation, limitKey: key)
        return operation
    }

    /// Runs an async closure as an operation, and returns its result. See `addTask`.
    ///
    /// A cancellation of the waiting task cancels the operation. If the closure has not started then, it never starts: the call
    /// throws at once, and the operation leaves when the queue reaches it. Otherwise the call waits for the end of the closure.
    ///
    /// The waiting task raises the operation to its own priority, unless `priority` is below normal.
    ///
    /// - Throws: The error of the closure. `CancellationError` when the operation was cancelled before its start.
    ///   `OperationError` when the caller holds the queue's only slot, or when the queue is full or was shut down.
    @inlinable
    public final func run<Success: Sendable>(
        name: String? = nil, priority: Operation.QueuePriority = .normal, after dependencies: [Operation] = [],
        limitKey key: String? = nil, timeout: Duration? = nil, deadline: ContinuousClock.Instant? = nil,
        retry: RetryPolicy? = nil, _ body: @escaping @Sendable () async throws -> Success
    ) async throws -> Success {
        let operation = Self.task(name, priority, dependencies, timeout, deadline, retry, body)
        let wait = TaskWait()
        try checkSuspension(for: operation)
        return try await withTaskCancellationHandler {
            try tryAddOperation(operation, limitKey: key)
            // A task of normal priority would raise an operation of low priority again.
            return try await operation.value(
                for: wait, raises: priority.rawValue >= Operation.QueuePriority.normal.rawValue)
        } onCancel: {
            // First, so that the closure of an abandoned operation never runs.
            operation.cancel()
            operation.abandon(wait)
        }
    }

    @inlinable
    static func task<Success: Sendable>(
        _ name: String?, _ priority: Operation.QueuePriority, _ dependencies: [Operation], _ timeout: Duration?,
        _ deadline: ContinuousClock.Instant?, _ retry: RetryPolicy?,
        _ body: @escaping @Sendable () async throws -> Success
    ) -> TaskOperation<Success> {
        let operation =
            if let retry {
                TaskOperation(name: name, priority: priority) { try await retry.runReleasingSlot(body) }
            } else {
                TaskOperation(name: name, priority: priority, body)
            }
        for dependency in dependencies { operation.addDependency(dependency) }
        if let timeout { operation.setTimeout(timeout) }
        if let deadline { operation.setDeadline(deadline, clock: ContinuousClock()) }
        return operation
    }
}
