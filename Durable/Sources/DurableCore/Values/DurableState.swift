/// The state of a durable operation.
public enum DurableState: Int64, Sendable, Hashable, CaseIterable, Codable {
    /// The operation waits for other operations.
    case waiting = 0
    /// The operation waits for an instant: its start time, a retry, a snooze or a sleep.
    case scheduled = 1
    /// The operation is ready, and the limit of its key is reached.
    case blocked = 2
    /// The operation can start as soon as a worker has a slot.
    case ready = 3
    /// A worker holds the lease of the operation.
    case running = 4
    /// The operation waits for a signal.
    case awaitingSignal = 5
    /// The work is done, and the operation waits for the ends of its children.
    case finishing = 6
    /// The work is done.
    case succeeded = 7
    /// The last attempt failed, or a dependency did.
    case failed = 8
    /// The operation was cancelled.
    case cancelled = 9
    /// The operation was discarded.
    case discarded = 10
    /// The workers of the operation vanished while it ran, `DurableLimits.maxCrashes` times. Counts include the operation among
    /// those that failed.
    case crashed = 11

    /// Whether the operation has an outcome.
    public var isEnded: Bool { rawValue >= Self.succeeded.rawValue }
}

/// The priority of a durable operation. Higher priorities start first.
public enum DurablePriority: Int64, Sendable, Hashable, CaseIterable, Codable {
    case veryLow = -8
    case low = -4
    case normal = 0
    case high = 4
    case veryHigh = 8
}

/// The reaction of an operation to a dependency that did not succeed.
public enum DurableFailurePolicy: Int64, Sendable, Hashable, CaseIterable, Codable {
    /// The operation runs. This is the default, as for operations of a local queue.
    case runAnyway = 0
    /// The operation is cancelled and does not run.
    case cancel = 1
    /// The operation fails and does not run.
    case fail = 2
}
