import SchedulerCore

// Async work, as operations (rule N1).
extension OperationQueue {
    /// Adds an async closure as an operation, whose `value` is the closure's result.
    ///
    /// The closure has the task-local values and the priority of who calls this. It holds a slot of the queue until it
    /// returns, also while it is suspended, and a thread only while it runs. O(1).
    ///
    /// - Parameters:
    ///   - name: A label for people.
    ///   - priority: The order among the ready operations of the queue.
    ///   - dependencies: What has to be finished before it starts.
    ///   - body: The work.
    @discardableResult @inlinable
    public final func addTask<Success: Sendable>(
        name: String? = nil, priority: Operation.QueuePriority = .normal, after dependencies: [Operation] = [],
        _ body: @escaping @Sendable () async throws -> Success
    ) -> TaskOperation<Success> {
        let operation = Self.task(name, priority, dependencies, body)
        addOperation(operation)
        return operation
    }

    /// Runs an async closure as an operation and returns its result; see `addTask`.
    ///
    /// Cancelling the task that waits here cancels the operation.
    ///
    /// - Throws: What the closure throws; `CancellationError` when it was cancelled before it began; an `OperationError`
    ///   when the caller holds the queue's only slot (M8).
    @inlinable
    public final func run<Success: Sendable>(
        name: String? = nil, priority: Operation.QueuePriority = .normal, after dependencies: [Operation] = [],
        _ body: @escaping @Sendable () async throws -> Success
    ) async throws -> Success {
        let operation = Self.task(name, priority, dependencies, body)
        try checkSuspension(for: operation)
        return try await withTaskCancellationHandler {
            try tryAddOperation(operation)
            return try await operation.value
        } onCancel: {
            operation.cancel()
        }
    }

    @inlinable
    static func task<Success: Sendable>(
        _ name: String?, _ priority: Operation.QueuePriority, _ dependencies: [Operation],
        _ body: @escaping @Sendable () async throws -> Success
    ) -> TaskOperation<Success> {
        let operation = TaskOperation(body)
        if let name { operation.name = name }
        if priority != .normal { operation.queuePriority = priority }
        for dependency in dependencies { operation.addDependency(dependency) }
        return operation
    }
}

extension OperationQueue {
    /// Transforms each element of a collection by an async closure, as an operation each, and returns the results in order.
    ///
    /// When one fails, the others are cancelled. Cancelling the task that waits here cancels all.
    ///
    /// - Parameters:
    ///   - inputs: What is transformed.
    ///   - limit: How many of these operations are in the queue at a time; nil for `widthCeiling`. The width of
    ///     the queue holds besides.
    ///   - transform: Makes an output of an input.
    /// - Throws: The error that came first; an `OperationError` when `limit` is not positive (M11), or when the caller holds
    ///   the queue's only slot (M8).
    public final func map<Input: Sendable, Output: Sendable>(
        _ inputs: some Sequence<Input>, atMost limit: Int? = nil,
        _ transform: @escaping @Sendable (Input) async throws -> Output
    ) async throws -> [Output] {
        if let limit, limit < 1 { throw OperationError.limitNotPositive(queue: label, limit: limit) }
        let window = limit ?? Self.widthCeiling
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
