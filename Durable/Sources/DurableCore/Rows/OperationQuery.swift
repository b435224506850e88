/// A question for identifiers of operations, which has the same text in each database.
public enum OperationQuery: Sendable, Hashable {
    /// The unfinished operations in the epochs of the queue that wait for dependencies or have unfinished children.
    case waiting(QueueID, epochs: Range<Int64>)
    /// The scheduled and signal-awaiting operations whose wake instant has passed, the earliest first.
    case due(limit: Int)
    /// The operations that do not run, and whose deadline has passed, the earliest first.
    case expired(limit: Int)
    /// The ended operations whose retention period has passed.
    case purgeable(limit: Int)
    /// The running operations whose lease the worker holds.
    case running(WorkerID)
    /// The running operations of the worker with a request for cancellation.
    case cancelRequests(WorkerID)
    /// The unfinished operations that ran in workers that died, and that no attempt has cleared since.
    case suspects

    /// The name of a question, which its statement has in each store.
    package enum Kind: String, Sendable, CaseIterable {
        case waiting, due, expired, purgeable, running, cancelRequests, suspects

        /// The condition and the order. Constants name states, as in the statements of the stores.
        private var condition: String {
            switch self {
            case .waiting: "queue = $1 AND epoch >= $2 AND epoch < $3 AND state < 7 AND (state = 0 OR children > 0)"
            case .due: "state IN (1, 5) AND wake_at <= $1 ORDER BY wake_at, id LIMIT $2"
            case .expired:
                """
                deadline IS NOT NULL AND state IN (0, 1, 2, 3, 5) AND deadline <= $1 ORDER BY deadline, id LIMIT $2
                """
            case .purgeable: "purge_at IS NOT NULL AND purge_at <= $1 ORDER BY purge_at, id LIMIT $2"
            case .running: "worker = $1 AND state = 4"
            case .cancelRequests: "worker = $1 AND is_cancel_requested = 1 AND state = 4"
            case .suspects: "crashes > 0 AND state < 7"
            }
        }

        package func text(_ dialect: Table.Dialect) -> String {
            switch dialect {
            case .sqlite: "SELECT id FROM main.durable_operation WHERE \(condition.replacing("$", with: "?"))"
            case .postgres: "SELECT id FROM @.durable_operation WHERE \(condition)"
            }
        }

        /// Whether the text has no order, so that the caller sorts the identifiers.
        package var isUnordered: Bool { !condition.contains("ORDER BY") }
    }

    package var kind: Kind {
        switch self {
        case .waiting: .waiting
        case .due: .due
        case .expired: .expired
        case .purgeable: .purgeable
        case .running: .running
        case .cancelRequests: .cancelRequests
        case .suspects: .suspects
        }
    }

    /// Writes the parameters of the text.
    package func write(to parameters: inout some ColumnWriter, now: DurableInstant) {
        switch self {
        case .waiting(let queue, let epochs):
            parameters.write(queue.rawValue)
            parameters.write(epochs.lowerBound)
            parameters.write(epochs.upperBound)
        case .due(let limit), .expired(let limit), .purgeable(let limit):
            parameters.write(now.microseconds)
            parameters.write(Int64(limit))
        case .running(let worker), .cancelRequests(let worker): parameters.write(worker.rawValue)
        case .suspects: break
        }
    }
}
