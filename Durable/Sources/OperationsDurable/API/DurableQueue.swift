public import DurableCore
public import GRDB

/// A queue of durable operations. Workers of any process that names the queue run its operations.
public struct DurableQueue: Sendable {
    /// The name of the queue in the database.
    public let name: String
    /// The store of the queue.
    public let store: any DurableStore

    /// Creates a reference to a queue. The first addition or setting creates the queue in the database.
    public init(_ name: String, in store: any DurableStore) { (self.name, self.store) = (name, store) }

    /// Adds an operation, and returns when the operation is durable.
    ///
    /// - Parameters:
    ///   - operation: The operation.
    ///   - priority: The priority in the queue.
    ///   - dependencies: The operations that end before the operation starts.
    ///   - retry: The rule for retries.
    ///   - options: Further options. The named parameters have precedence.
    /// - Throws: `DurableError`. After an error of the event, the database contains nothing of the operation.
    @discardableResult
    public func add<Work: DurableOperation>(
        _ operation: Work, priority: DurablePriority? = nil, after dependencies: [any DurableReference] = [],
        retry: RetryRule? = nil, options: DurableOptions = DurableOptions()
    ) async throws -> DurableHandle<Work.Output> {
        let new = try newOperation(operation, priority, dependencies, retry, options)
        let id = try await store.commit { try $0.add([new])[0] }
        return DurableHandle(id: id, store: store)
    }

    /// Adds operations in one transaction, and returns when they are durable.
    ///
    /// - Parameters:
    ///   - operations: The operations, in the order of their starts.
    ///   - priority: The priority of each operation in the queue.
    ///   - dependencies: The operations that end before any of the operations starts.
    ///   - retry: The rule for retries of each operation.
    ///   - options: Further options of each operation. The named parameters have precedence.
    /// - Returns: The handles, in the order of the operations.
    /// - Throws: `DurableError`. After an error of the event, the database contains nothing of the operations.
    @discardableResult
    public func add<Work: DurableOperation>(
        contentsOf operations: [Work], priority: DurablePriority? = nil,
        after dependencies: [any DurableReference] = [], retry: RetryRule? = nil,
        options: DurableOptions = DurableOptions()
    ) async throws -> [DurableHandle<Work.Output>] {
        let batch = try operations.map { try newOperation($0, priority, dependencies, retry, options) }
        let ids = try await store.commit { try $0.add(batch) }
        return ids.map { DurableHandle(id: $0, store: store) }
    }

    /// Adds an operation in a transaction of the application.
    ///
    /// The operation exists if and only if the transaction commits.
    ///
    /// - Parameters:
    ///   - operation: The operation.
    ///   - transaction: A connection to the file of the store, in a transaction.
    ///   - priority: The priority in the queue.
    ///   - dependencies: The operations that end before the operation starts.
    ///   - retry: The rule for retries.
    ///   - options: Further options. The named parameters have precedence.
    /// - Throws: `DurableError.noSchema` if the connection is not one to the file of the store.
    @discardableResult
    public func add<Work: DurableOperation>(
        _ operation: Work, in transaction: Database, priority: DurablePriority? = nil,
        after dependencies: [any DurableReference] = [], retry: RetryRule? = nil,
        options: DurableOptions = DurableOptions()
    ) throws -> DurableHandle<Work.Output> {
        guard let store = store as? SQLiteStore else { throw DurableError.noSchema }
        let new = try newOperation(operation, priority, dependencies, retry, options)
        let id = try store.apply(in: transaction) { try $0.add([new])[0] }
        return DurableHandle(id: id, store: store)
    }

    package func newOperation<Work: DurableOperation>(
        _ operation: Work, _ priority: DurablePriority?, _ dependencies: [any DurableReference], _ retry: RetryRule?,
        _ options: DurableOptions
    ) throws -> NewOperation {
        var new = NewOperation(name: Work.name, queue: name, input: try Payload.encode(operation))
        try options.apply(to: &new)
        if let priority { new.priority = priority }
        if let retry { new.retry = retry }
        new.after = dependencies.map { .existing($0.id) }
        new.context = TraceContext.current()
        return new
    }

    // MARK: - Steering

    /// Suspends the queue on all machines. Running operations continue.
    public func suspend() async throws { try await store.commit { [name] in try $0.setSuspended(true, queue: name) } }

    /// Resumes the queue on all machines.
    public func resume() async throws { try await store.commit { [name] in try $0.setSuspended(false, queue: name) } }

    /// Sets the largest number of running operations on all machines together. Nil removes the limit.
    public func setLimit(_ limit: Int?) async throws {
        try await store.commit { [name] in try $0.setLimit(limit, queue: name) }
    }

    /// Sets the largest rate of starts on all machines together. Nil removes the rate.
    public func setRate(_ rate: RateRule?) async throws {
        try await store.commit { [name] in try $0.setRate(rate, queue: name) }
    }

    /// Sets the largest rate of starts of each key without a rate of its own. Nil removes the rate.
    ///
    /// A rate that differs from the rate before applies at once: earlier starts do not count.
    public func setRatePerKey(_ rate: RateRule?) async throws {
        try await store.commit { [name] in try $0.setRatePerKey(rate, queue: name) }
    }

    /// Sets the largest rate of starts of one key. Nil makes the rate per key apply.
    ///
    /// A rate that differs from the rate before applies at once: earlier starts do not count.
    public func setRate(_ rate: RateRule?, forKey key: String) async throws {
        try await store.commit { [name] in try $0.setRate(rate, key: key, queue: name) }
    }

    /// Sets the limit of each key without a limit of its own. Nil removes the limit.
    ///
    /// One transaction admits the operations of all keys. Its time grows with the number of keys that have operations.
    public func setLimitPerKey(_ limit: Int?) async throws {
        try await store.commit { [name] in try $0.setLimitPerKey(limit, queue: name) }
    }

    /// Sets the limit of one key. Nil makes the limit per key apply.
    public func setLimit(_ limit: Int?, forKey key: String) async throws {
        try await store.commit { [name] in try $0.setLimit(limit, key: key, queue: name) }
    }

    /// Returns the keys of the queue that have a limit or a rate of their own, or ready, blocked or running operations.
    ///
    /// The time grows with the number of these keys.
    public func keys() async throws -> [DurableKey] {
        try await store.read { [name] machine in
            guard let queue = try machine.rows.existingQueue(named: name) else { return [] }
            let rows = try machine.rows.keys(of: queue.id).filter { $0.limit != nil || $0.rate != nil || !$0.isUnused }
            return rows.sorted { $0.name < $1.name }.map(DurableKey.init)
        }
    }

    /// Returns the number of operations in each state. The time does not depend on the number of operations.
    public func counts() async throws -> [DurableState: Int] {
        try await store.read { [name] machine in
            guard let queue = try machine.rows.existingQueue(named: name) else { return [:] }
            return try machine.rows.counters(of: queue.id).reduce(into: [:]) { counts, entry in
                counts[entry.key.state, default: 0] += Int(entry.value)
            }
        }
    }
}
