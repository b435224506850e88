public import DurableCore

/// Changes of all operations that match a filter.
///
/// A call looks for the operations in a snapshot, which delays no other request, and then changes them in one transaction. An
/// operation that no longer matches in the transaction stays unchanged. The filter's limit bounds one call: a caller repeats
/// the call until no operation is returned. The process need not know the types of the operations.
extension DurableStore {
    /// Returns the operations that match a filter, in ascending order of identifiers.
    ///
    /// The time grows with the number of stored operations, unless the filter has identifiers.
    ///
    /// - Throws: `DurableError.invalidValue` for a limit below zero.
    public func operations(matching filter: DurableFilter) async throws -> [OperationID] {
        guard filter.limit >= 0 else { throw DurableError.invalidValue("the limit of a filter is below zero") }
        return try await read { try $0.operations(matching: filter) }
    }

    /// Cancels the operations that match a filter, and their children. Returns the operations that had not ended.
    @discardableResult
    public func cancel(matching filter: DurableFilter) async throws -> [OperationID] {
        try await change(filter.limited(to: .unfinished)) { try $0.cancel($1) }
    }

    /// Gives the failed, crashed, cancelled and discarded operations that match a filter new attempts. Returns these operations.
    @discardableResult
    public func retry(matching filter: DurableFilter) async throws -> [OperationID] {
        try await change(filter.limited(to: [.failed, .crashed, .cancelled, .discarded])) { machine, ids in
            try machine.retry(ids)
            return ids
        }
    }

    /// Ends the operations that match a filter and do not run, without running them. Returns these operations.
    @discardableResult
    public func discard(matching filter: DurableFilter, reason: String) async throws -> [OperationID] {
        try await change(filter.limited(to: .idle)) { machine, ids in
            try machine.discard(ids, reason: reason)
            return ids
        }
    }

    /// Moves the operations that match a filter and do not run to another queue. Returns these operations.
    @discardableResult
    public func move(matching filter: DurableFilter, to queue: String) async throws -> [OperationID] {
        try await change(filter.limited(to: .idle)) { machine, ids in
            try machine.move(ids, to: queue)
            return ids
        }
    }

    /// Sets the priority of the operations that match a filter and have not ended. Returns these operations.
    @discardableResult
    public func setPriority(
        _ priority: DurablePriority, matching filter: DurableFilter
    ) async throws -> [OperationID] {
        try await change(filter.limited(to: .unfinished)) { machine, ids in
            try machine.setPriority(priority, of: ids)
            return ids
        }
    }

    func change(
        _ filter: DurableFilter,
        _ event: @escaping @Sendable (inout DurableMachine, [OperationID]) throws -> [OperationID]
    ) async throws -> [OperationID] {
        let found = try await operations(matching: filter)
        if found.isEmpty { return [] }
        return try await commit { machine in
            let ids = try machine.rows.operations(found).filter { try machine.matches($0, filter) }.map(\.id)
            return ids.isEmpty ? [] : try event(&machine, ids)
        }
    }
}

extension Set<DurableState> {
    /// The states without an outcome.
    fileprivate static var unfinished: Self { Set(DurableState.allCases.filter { !$0.isEnded }) }

    /// The states of operations that no worker runs, and that have not ended.
    fileprivate static var idle: Self { [.waiting, .scheduled, .blocked, .ready, .awaitingSignal] }
}
