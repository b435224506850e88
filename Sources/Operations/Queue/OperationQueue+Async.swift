import SchedulerCore

// Async work as operations (rule N1).
extension OperationQueue {
    /// Adds an async closure as an operation, whose `value` is the closure's result.
    ///
    /// The closure inherits the task-local values and the priority of the caller. It holds a slot of the queue until it
    /// returns, also while it is suspended. It uses a thread only while it runs. O(1).
    ///
    /// - Parameters:
    ///   - name: A label for people.
    ///   - priority: The rank of the operation among the ready operations of the queue.
    ///   - dependencies: The operations that have to finish before the new operation starts.
    ///   - key: The key whose limit applies, such as a host; nil for no key. See ``addOperation(_:limitKey:)``.
    ///   - timeout: The time from the start of the operation to its end, after which it fails with ``OperationTimeout``;
    ///     nil for no limit. See ``Operation/setTimeout(_:clock:)``.
    ///   - body: The work.
    @discardableResult @inlinable
    public final func addTask<Success: Sendable>(
        name: String? = nil, priority: Operation.QueuePriority = .normal, after dependencies: [Operation] = [],
        limitKey key: String? = nil, timeout: Duration? = nil, _ body: @escaping @Sendable () async throws -> Success
    ) -> TaskOperation<Success> {
        let operation = Self.task(name, priority, dependencies, timeout, body)
        addOperation(operation, limitKey: key)
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
    ///   `OperationError` when the caller holds the queue's only slot, or when the queue is full.
    @inlinable
    public final func run<Success: Sendable>(
        name: String? = nil, priority: Operation.QueuePriority = .normal, after dependencies: [Operation] = [],
        limitKey key: String? = nil, timeout: Duration? = nil, _ body: @escaping @Sendable () async throws -> Success
    ) async throws -> Success {
        let (operation, wait) = (Self.task(name, priority, dependencies, timeout, body), TaskWait())
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
        _ body: @escaping @Sendable () async throws -> Success
    ) -> TaskOperation<Success> {
        let operation = TaskOperation(name: name, priority: priority, body)
        for dependency in dependencies { operation.addDependency(dependency) }
        if let timeout { operation.setTimeout(timeout) }
        return operation
    }
}

extension OperationQueue {
    /// Transforms each element of a sequence with an async closure, and returns the results in order. Each element is an
    /// operation.
    ///
    /// When an operation fails, the others are cancelled. A cancellation of the waiting task cancels all operations.
    ///
    /// - Parameters:
    ///   - inputs: The elements.
    ///   - limit: The largest number of these operations that are in the queue at a time; nil for `maxThreadCount`. The
    ///     concurrency limit of the queue applies too.
    ///   - transform: Returns the output for an input.
    /// - Throws: The first error of a closure. `OperationError` when `limit` is below 1, when the caller holds the
    ///   queue's only slot, or when the queue is full.
    public final func map<Input: Sendable, Output: Sendable>(
        _ inputs: some Sequence<Input>, atMost limit: Int? = nil,
        _ transform: @escaping @Sendable (Input) async throws -> Output
    ) async throws -> [Output] {
        if let limit, limit < 1 { throw OperationError.limitNotPositive(queue: label, limit: limit) }
        let window = limit ?? Self.maxThreadCount
        return try await withThrowingTaskGroup(of: (Int, Output).self) { group in
            var outputs: [Output?] = []
            for (index, input) in inputs.enumerated() {
                outputs.append(nil)
                if index >= window, let (done, output) = try await group.next() { outputs[done] = output }
                group.addTask { (index, try await self.run { try await transform(input) }) }
            }
            for try await (done, output) in group { outputs[done] = output }
            return outputs.map(\.unsafelyUnwrapped)
        }
    }
}
