public import DurableCore

extension DurableStore {
    /// Adds a graph of operations in one transaction, and returns when the graph is durable.
    ///
    /// ```swift
    /// var graph = DurableGraph()
    /// let fetch = try graph.add(Fetch(url: url), to: photos)
    /// let resize = try graph.add(Resize(photo: "a.jpg"), to: photos)
    /// graph.addDependency(of: resize, on: fetch)
    /// let added = try await store.add(graph)
    /// ```
    ///
    /// - Throws: `DurableError.cycle` with a path, and the errors of an addition. The database then contains nothing of it.
    public func add(_ graph: DurableGraph) async throws -> DurableGraph.Added {
        let ids = try await commit { try $0.add(graph.members) }
        return DurableGraph.Added(ids: ids, store: self)
    }

    /// Sends a signal to an operation. The store keeps the signal until the operation waits for it.
    ///
    /// - Throws: `DurableError.unknownOperation`, `operationEnded`, or `payloadTooLarge`.
    public func send(_ name: String, _ value: some Codable & Sendable, to id: OperationID) async throws {
        let payload = try Payload.encode(value, of: "signal '\(name)'")
        try await commit { try $0.send(name, payload, to: id) }
    }

    /// Cancels operations and their children. Operations that run end when their workers stop the attempts.
    public func cancel(_ ids: [OperationID]) async throws { try await commit { _ = try $0.cancel(ids) } }

    /// Ends operations that do not run without running them.
    ///
    /// - Throws: `DurableError.operationRuns` or `operationEnded`, for the first such operation. Then no operation changes.
    public func discard(_ ids: [OperationID], reason: String) async throws {
        try await commit { try $0.discard(ids, reason: reason) }
    }

    /// Gives failed, cancelled and discarded operations new attempts, without a deadline. Recorded steps do not run again.
    ///
    /// An operation gets its attempts also if a later operation holds its unique key. Then the two may run at the same time.
    /// If no later operation got the key, the operation holds the key again.
    ///
    /// A retried barrier is a barrier again: it waits for all operations of its queue, and later operations wait for it.
    ///
    /// - Throws: `DurableError.invalidValue` for an operation that has not ended or that succeeded. `cycle` if one of the
    ///   operations would wait for an operation that waits for it. Then no operation changes.
    public func retry(_ ids: [OperationID]) async throws { try await commit { try $0.retry(ids) } }

    /// Moves operations that do not run to another queue. A barrier is no barrier of the other queue.
    ///
    /// - Throws: `DurableError.operationRuns` or `operationEnded`, and `cycle` if one of the operations would wait behind a
    ///   barrier that waits for it. Then no operation changes.
    public func move(_ ids: [OperationID], to queue: String) async throws {
        try await commit { try $0.move(ids, to: queue) }
    }

    /// Sets the priority of operations that have not ended.
    public func setPriority(_ priority: DurablePriority, of ids: [OperationID]) async throws {
        try await commit { try $0.setPriority(priority, of: ids) }
    }
}
