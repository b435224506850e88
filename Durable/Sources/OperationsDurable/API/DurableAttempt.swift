public import DurableCore

/// One attempt of an operation.
public struct DurableAttempt: Sendable, Hashable {
    /// The outcomes of an attempt.
    public enum Outcome: Sendable, Hashable {
        /// The attempt runs, or waits.
        case unfinished
        /// The attempt threw an error, or exceeded its time limit.
        case failed
        /// The worker vanished, and its lease expired.
        case lostLease
        /// The attempt ended the operation.
        case ended(DurableState)
    }

    /// The number of the lease. Waits, snoozes and shutdowns also use a lease, so that numbers may be left out.
    public let lease: Int
    /// The name of the worker. The name is empty for an attempt that did not fail, if the worker has left.
    public let worker: String
    /// The instant of the start, by the database's clock.
    public let startedAt: DurableInstant
    /// The instant of the end, by the database's clock.
    public let endedAt: DurableInstant?
    /// The outcome.
    public let outcome: Outcome
    /// The text of the error.
    public let reason: String?
}

extension DurableStore {
    /// Returns the failed attempts of an operation, and the last attempt, in their order.
    ///
    /// The store keeps the last `DurableLimits.attemptRecords` failed attempts, as long as the operation itself.
    ///
    /// - Throws: `DurableError.unknownOperation`.
    public func attempts(of id: OperationID) async throws -> [DurableAttempt] {
        try await read { machine in
            guard let row = try machine.rows.operations([id]).first else { throw DurableError.unknownOperation(id) }
            let records = try machine.rows.attempts(of: id)
            let failed = records.map(DurableAttempt.init)
            guard let start = row.startedAt, row.fence > records.last?.fence ?? 0 else { return failed }
            let worker = try row.worker.flatMap { try machine.rows.worker($0) }
            return failed + [DurableAttempt(row, startedAt: start, worker: worker?.name ?? "")]
        }
    }
}

extension DurableAttempt {
    fileprivate init(_ row: AttemptRow) {
        (lease, worker) = (Int(row.fence), row.worker)
        (startedAt, endedAt, reason) = (row.startedAt, row.endedAt, row.reason)
        outcome = row.outcome == .failed ? .failed : .lostLease
    }

    /// The last attempt of an operation, which no record describes.
    fileprivate init(_ row: OperationRow, startedAt: DurableInstant, worker: String) {
        (lease, self.worker, self.startedAt, endedAt) = (Int(row.fence), worker, startedAt, row.endedAt)
        outcome = row.state.isEnded ? .ended(row.state) : .unfinished
        reason = row.state.isEnded ? row.reason : nil
    }
}
