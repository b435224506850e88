/// An error of a durable store.
public enum DurableError: Error, Sendable, Hashable, CustomStringConvertible {
    /// A payload has more bytes than the store accepts.
    case payloadTooLarge(of: String, bytes: Int, limit: Int)
    /// A name or key is empty or has more UTF-8 bytes than the store accepts.
    case invalidName(String, limit: Int)
    /// The operations depend on each other. The path begins and ends with one operation.
    case cycle([String])
    /// The store has no operation with the identifier. The retention period may have passed.
    case unknownOperation(OperationID)
    /// The store has no queue with the name.
    case unknownQueue(String)
    /// A dependency names a member that the batch does not have.
    case unknownMember(Int)
    /// The change needs an operation that has not ended.
    case operationEnded(OperationID, DurableState)
    /// The change needs an operation that no worker runs.
    case operationRuns(OperationID)
    /// The worker lost the lease of the operation. The worker can change nothing of the operation any more.
    case leaseLost(OperationID)
    /// The registration of the worker has expired.
    case workerExpired(WorkerID)
    /// The stored history has another entry at the position of the step.
    case historyMismatch(position: Int, stored: String, current: String)
    /// Another operation holds the unique key, and the addition rejects that.
    case uniqueKeyHeld(String, by: OperationID)
    /// A value is outside its range.
    case invalidValue(String)
    /// A cron expression is invalid.
    case invalidCron(String, reason: String)
    /// The wait for a signal took longer than its timeout.
    case signalTimeout(String)
    /// A stored payload does not decode as the expected type.
    case undecodable(String, reason: String)
    /// The store does not have all events after the number, because they are too old or were not recorded.
    case eventsMissed(after: Int64)
    /// The operation ended without an output.
    case notSucceeded(OperationID, DurableState, reason: String)
    /// The database file cannot be opened or written.
    case unavailable(String)
    /// The database has a newer schema than this version of the library.
    case newerSchema(found: Int, supported: Int)
    /// The database has an older schema than this version of the library, and the store may not migrate it.
    case olderSchema(found: Int, supported: Int)
    /// The database has no tables of this library.
    case noSchema

    public var description: String {
        switch self {
        case .payloadTooLarge(let subject, let bytes, let limit):
            "the \(subject) has \(bytes) bytes; the limit is \(limit) bytes"
        case .invalidName(let name, let limit):
            name.isEmpty ? "a name is empty" : "the name '\(name.prefix(40))…' has more than \(limit) bytes"
        case .cycle(let path): "the operations depend on each other: \(path.joined(separator: " → "))"
        case .unknownOperation(let id): "the store has no operation \(id)"
        case .unknownQueue(let name): "the store has no queue '\(name)'"
        case .unknownMember(let index): "the batch has no member \(index)"
        case .operationEnded(let id, let state): "operation \(id) has ended: \(state)"
        case .operationRuns(let id): "a worker runs operation \(id)"
        case .leaseLost(let id): "the worker lost the lease of operation \(id)"
        case .workerExpired(let id): "the registration \(id) of the worker has expired"
        case .historyMismatch(let position, let stored, let current):
            "the history has \(stored) at position \(position), and the operation requests \(current)"
        case .uniqueKeyHeld(let key, let id): "operation \(id) holds the unique key '\(key)'"
        case .invalidValue(let reason): reason
        case .invalidCron(let text, let reason): "the cron expression '\(text)' is invalid: \(reason)"
        case .signalTimeout(let name): "the signal '\(name)' did not arrive before the timeout"
        case .undecodable(let subject, let reason): "the \(subject) does not decode: \(reason)"
        case .eventsMissed(let number): "events after number \(number) were removed, or were not recorded"
        case .notSucceeded(let id, let state, let reason):
            "operation \(id) has no output, because it ended as \(state)\(reason.isEmpty ? "" : ": \(reason)")"
        case .unavailable(let reason): "the database is unavailable: \(reason)"
        case .newerSchema(let found, let supported):
            "the database has schema \(found); this version of the library supports schema \(supported)"
        case .olderSchema(let found, let supported):
            "the database has schema \(found); this version of the library migrates it to schema \(supported)"
        case .noSchema: "the database has no tables of this library"
        }
    }
}
