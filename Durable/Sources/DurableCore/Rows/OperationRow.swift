/// The stored state of one operation, without its input and output.
public struct OperationRow: Sendable, Hashable {
    public private(set) var id: OperationID
    public var queue: QueueID
    public var kind: KindID
    /// The section of the queue between two barriers.
    public var epoch: Int64
    public var priority: DurablePriority
    public var state: DurableState
    /// The instant at which the operation became ready. The lane of a priority is in this order, then by identifier.
    public var readyAt: DurableInstant
    /// The earliest instant of the next attempt, or the timeout of a wait for a signal.
    public var wakeAt: DurableInstant?
    /// The number of unfinished operations that the operation waits for.
    public var pending: Int64 = 0
    /// The number of unfinished children.
    public var children: Int64 = 0
    public var parent: OperationID?
    public var failurePolicy = DurableFailurePolicy.runAnyway
    /// The operation at the start of the chain of failures that reached this operation.
    public var rootCause: OperationID?
    /// The key of a limit per key.
    public var key: String?
    /// The worker that holds the lease, or that held the last lease.
    public var worker: WorkerID?
    /// The number of leases so far. A completion names the number, so that the store refuses a completion of an old lease.
    public var fence: Int64 = 0
    /// The number of failed attempts.
    public var failures: Int64 = 0
    /// The number of leases that expired.
    public var lostLeases: Int64 = 0
    /// The number of deaths of workers while the operation ran, since its last attempt that ended.
    public var crashes: Int64 = 0
    /// The last worker that died while the operation ran.
    public var death: WorkerID?
    public var retry = RetryRule.none
    /// The time limit of an attempt, in microseconds.
    public var timeout: Int64?
    /// The instant after which no attempt starts.
    public var deadline: DurableInstant?
    public var addedAt: DurableInstant
    public var startedAt: DurableInstant?
    public var endedAt: DurableInstant?
    /// The instant at which the retention period ends. Nil for an operation that has not ended.
    public var purgeAt: DurableInstant?
    public var isCancelRequested = false
    /// The number of entries in the history.
    public var historyCount: Int64 = 0
    /// The name of the signal that the operation waits for.
    public var signal: String?
    /// The outcome of the work, while the operation waits for its children.
    public var workOutcome: DurableState?
    /// The text of the last error.
    public var reason: String?
    /// The context of the caller that added the operation, for traces.
    public var context: String?

    package init(
        id: OperationID, queue: QueueID, kind: KindID, epoch: Int64, priority: DurablePriority, state: DurableState,
        readyAt: DurableInstant, addedAt: DurableInstant
    ) {
        (self.id, self.queue, self.kind, self.epoch, self.priority) = (id, queue, kind, epoch, priority)
        (self.state, self.readyAt, self.addedAt) = (state, readyAt, addedAt)
    }

    /// Divides operations into runs of neighbors that differ in their identifiers only.
    package static func runs(_ rows: [OperationRow]) -> [ArraySlice<OperationRow>] {
        var (runs, start): ([ArraySlice<OperationRow>], Int) = ([], 0)
        for end in rows.indices.dropFirst() where !rows[end].isAlike(rows[start]) {
            runs.append(rows[start..<end])
            start = end
        }
        return rows.isEmpty ? [] : runs + [rows[start...]]
    }

    private func isAlike(_ other: OperationRow) -> Bool {
        var copy = other
        copy.id = id
        // Texts with other bytes may be equal.
        return copy == self && Self.haveSameBytes(key, other.key) && Self.haveSameBytes(signal, other.signal)
            && Self.haveSameBytes(reason, other.reason) && Self.haveSameBytes(context, other.context)
    }

    private static func haveSameBytes(_ a: String?, _ b: String?) -> Bool {
        guard let a, let b else { return a == nil && b == nil }
        return ExactName(a) == ExactName(b)
    }

    /// Whether the operation is before the other operation in the order of starts.
    package func precedes(_ other: OperationRow) -> Bool {
        (epoch, -priority.rawValue, readyAt, id) < (other.epoch, -other.priority.rawValue, other.readyAt, other.id)
    }

    /// The counter that counts the operation.
    package var counter: Counter {
        // A program of an earlier version does not know `crashed`.
        let counted = state == .crashed ? DurableState.failed : state
        return Counter(queue: queue, epoch: state.isEnded ? Counter.ended : epoch, kind: kind, state: counted)
    }
}

/// The place of one counter: the operations of a queue, an epoch, a kind and a state.
public struct Counter: Hashable, Sendable {
    /// The epoch of all operations that have ended.
    package static let ended: Int64 = -1

    public var queue: QueueID
    public var epoch: Int64
    public var kind: KindID
    public var state: DurableState

    package init(queue: QueueID, epoch: Int64, kind: KindID, state: DurableState) {
        (self.queue, self.epoch, self.kind, self.state) = (queue, epoch, kind, state)
    }

    package var epochName: EpochName { EpochName(queue: queue, epoch: epoch) }
}

/// The name of an epoch of a queue.
package struct EpochName: Hashable, Sendable {
    package var queue: QueueID
    package var epoch: Int64

    package init(queue: QueueID, epoch: Int64) { (self.queue, self.epoch) = (queue, epoch) }
}
