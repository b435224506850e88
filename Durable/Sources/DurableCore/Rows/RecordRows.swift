/// The record of one attempt that did not end its operation by success.
public struct AttemptRow: Sendable, Hashable {
    /// The outcomes of recorded attempts.
    public enum Outcome: Int64, Sendable, Hashable {
        /// The attempt threw an error, or exceeded its time limit.
        case failed = 0
        /// The worker vanished, and its lease expired.
        case lostLease = 1
    }

    public var operation: OperationID
    /// The number of the lease, which grows with each attempt.
    public var fence: Int64
    /// The name of the worker.
    public var worker: String
    public var startedAt: DurableInstant
    public var endedAt: DurableInstant
    public var outcome: Outcome
    /// The text of the error.
    public var reason: String

    package init(
        operation: OperationID, fence: Int64, worker: String, startedAt: DurableInstant, endedAt: DurableInstant,
        outcome: Outcome, reason: String
    ) {
        (self.operation, self.fence, self.worker) = (operation, fence, worker)
        (self.startedAt, self.endedAt, self.outcome, self.reason) = (startedAt, endedAt, outcome, reason)
    }
}

/// One change of the state of an operation. The store records changes only while a caller observes them.
public struct EventRow: Sendable, Hashable {
    /// The position among all changes. Numbers are consecutive, except where no caller observed.
    public var number: Int64
    public var operation: OperationID
    public var queue: QueueID
    public var kind: KindID
    public var state: DurableState
    /// The number of leases of the operation so far.
    public var fence: Int64
    public var at: DurableInstant
    public var reason: String?

    package init(_ row: OperationRow, number: Int64, at instant: DurableInstant) {
        (self.number, operation, queue, kind) = (number, row.id, row.queue, row.kind)
        (state, fence, at, reason) = (row.state, row.fence, instant, row.reason)
    }

    package init(
        number: Int64, operation: OperationID, queue: QueueID, kind: KindID, state: DurableState, fence: Int64,
        at instant: DurableInstant, reason: String?
    ) {
        (self.number, self.operation, self.queue, self.kind) = (number, operation, queue, kind)
        (self.state, self.fence, at, self.reason) = (state, fence, instant, reason)
    }
}
