package import DurableCore
import Operations

/// The state of one attempt that its context shares with the worker.
package final class AttemptState: Sendable {
    private struct State {
        var position = 0
        var isCompleted = false
        /// The error after which the attempt makes no further entry in the history.
        var interruption: (any Error)?
        /// Calls that failed since the last entry in the history. The next entry proves that the operation caught the errors.
        var failures: [(kind: HistoryEntry.Kind, name: String, reason: String, position: Int64)] = []
    }

    package let store: any DurableStore
    let row: OperationRow
    let queue: String
    package let lease: Lease
    private let history: [HistoryEntry]
    private let state = Locked(State())

    init(_ claim: Claim, lease: Lease, store: any DurableStore) {
        (self.store, row, queue, self.lease) = (store, claim.row, claim.queue, lease)
        history = claim.history
    }

    /// Whether the store no longer expects a completion: a transaction of the application completed the operation, or the
    /// operation released its lease.
    var isDone: Bool { state.withLock { $0.isCompleted || $0.interruption is DurableSuspension } }

    /// Makes each further call of the context throw the error. The first error counts.
    ///
    /// An operation that catches a suspension, a cancellation or the loss of its lease must not continue, because another
    /// worker may run the operation.
    func interrupt(_ error: any Error) {
        state.withLock { state in if state.interruption == nil { state.interruption = error } }
    }

    package func setCompleted() { state.withLock { $0.isCompleted = true } }

    /// Returns the next position of the history, and the entry that is stored there.
    ///
    /// - Throws: `DurableStepFailure` if the stored entry is a failure. `DurableError.historyMismatch` with both names.
    ///   `DurableError.invalidName`, before the body of a step runs.
    func next(_ kind: HistoryEntry.Kind, _ name: String) throws -> (position: Int64, stored: HistoryEntry?) {
        try store.limits.checkName(name)
        let position = try state.withLock { state in
            if let interruption = state.interruption { throw interruption }
            defer { state.position += 1 }
            return state.position
        }
        guard position < history.count else { return (Int64(position), nil) }
        let stored = history[position]
        let current = HistoryEntry(operation: row.id, position: Int64(position), kind: kind, name: name, result: nil)
        guard stored.answers(kind, name) else {
            throw DurableError.historyMismatch(position: position, stored: stored.label, current: current.label)
        }
        if stored.kind != stored.kind.call {
            let reason = String(decoding: stored.result ?? [], as: UTF8.self)
            throw DurableStepFailure(step: name, reason: reason, call: stored.label)
        }
        return (Int64(position), stored)
    }

    /// Calls the body, and keeps its error. If the operation continues with another entry, the history also has the failure, so
    /// that later attempts continue in the same way.
    ///
    /// - Parameter kind: The kind of the failure.
    func keepingFailure<Value>(
        _ kind: HistoryEntry.Kind, _ name: String, at position: Int64, _ body: () async throws -> Value
    ) async throws -> Value {
        do { return try await body() } catch {
            switch error {
            case is CancellationError, DurableError.leaseLost(lease.operation): interrupt(error)
            case is DurableSuspension: break
            default: state.withLock { $0.failures.append((kind, name, "\(error)", position)) }
            }
            throw error
        }
    }

    /// Applies an event with the lease. Repeats the event while the database is away: each such event permits repetition.
    ///
    /// - Throws: The error of the event, or `CancellationError`.
    func commit<Reply: Sendable>(
        _ event: @escaping @Sendable (inout DurableMachine, Lease) throws -> Reply
    ) async throws -> Reply {
        let failures = state.withLock { state in
            defer { state.failures = [] }
            return state.failures
        }
        var delay = Backoff()
        while true {
            do {
                return try await store.commit { [lease] machine in
                    for (kind, name, reason, position) in failures {
                        try machine.recordFailure(kind, name, reason: reason, position: position, by: lease)
                    }
                    return try event(&machine, lease)
                }
            } catch DurableError.unavailable {
                do { try await OperationClock().sleep(for: delay.next()) } catch {
                    // The event may be durable, so that the attempt does not know the next position.
                    interrupt(error)
                    throw error
                }
            } catch let error as DurableError where error == .leaseLost(lease.operation) {
                interrupt(error)
                throw error
            }
        }
    }

    /// Completes the operation by an event in a transaction of the application.
    ///
    /// - Throws: `DurableError.leaseLost`, also if an earlier transaction completed the operation: an effect is never repeated.
    package func complete(_ output: [UInt8], by machine: inout DurableMachine) throws {
        let row = try machine.rows.operations([lease.operation]).first
        let completion = Completion(lease: lease, result: .succeeded(output: output))
        // The machine accepts a repetition, which must not commit its effect a second time.
        if row?.isRunning(under: lease) == true, try machine.complete([completion])[0] { return }
        let error = DurableError.leaseLost(lease.operation)
        // The transaction that completed the operation may still be rolled back, and the attempt then continues.
        let isCompleted = row?.state == .succeeded || row?.workOutcome == .succeeded
        if !isCompleted || row?.fence != lease.fence { interrupt(error) }
        throw error
    }

    /// Requests a wait. Returns the result, or throws `DurableSuspension` after the release of the lease.
    func wait(_ event: @escaping @Sendable (inout DurableMachine, Lease) throws -> WaitReply) async throws -> [UInt8]? {
        switch try await commit(event) {
        case .resumed(let result): return result
        case .suspended:
            state.withLock { $0.interruption = DurableSuspension() }
            throw DurableSuspension()
        }
    }
}
