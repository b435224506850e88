#if Postgres
public import DurableCore
public import OperationsDurable

extension DurableQueue {
    /// Adds an operation in a transaction of the application.
    ///
    /// The operation exists if and only if the transaction commits.
    ///
    /// - Parameters:
    ///   - operation: The operation.
    ///   - transaction: The transaction that `PostgresStore.transaction` passed to its closure.
    ///   - priority: The priority in the queue.
    ///   - dependencies: The operations that end before the operation starts.
    ///   - retry: The rule for retries.
    ///   - options: Further options. The named parameters have precedence.
    /// - Throws: `DurableError.noSchema` if the transaction is not one of the queue's store.
    @discardableResult
    public func add<Work: DurableOperation>(
        _ operation: Work, in transaction: PostgresTransaction, priority: DurablePriority? = nil,
        after dependencies: [any DurableReference] = [], retry: RetryRule? = nil,
        options: DurableOptions = DurableOptions()
    ) throws -> DurableHandle<Work.Output> {
        guard let store = store as? PostgresStore else { throw DurableError.noSchema }
        let new = try newOperation(operation, priority, dependencies, retry, options)
        let id = try transaction.apply(to: store) { try $0.add([new])[0] }
        return DurableHandle(id: id, store: store)
    }
}

extension DurableContext {
    /// Completes the operation in a transaction of the application: the effect and the completion commit together.
    ///
    /// The attempt returns the same output afterward. If the transaction is rolled back, the attempt continues.
    ///
    /// - Throws: `DurableError.leaseLost` also if an earlier transaction completed the operation: an effect is never repeated.
    ///   The application then rolls back the transaction.
    public func complete(_ output: some Sendable = (), in transaction: PostgresTransaction) throws {
        guard let store = attempt.store as? PostgresStore else { throw DurableError.noSchema }
        let bytes = try Payload.encode(output, of: "output")
        try transaction.apply(to: store) { try attempt.complete(bytes, by: &$0) }
        transaction.afterCommit { [attempt] in attempt.setCompleted() }
    }
}
#endif
