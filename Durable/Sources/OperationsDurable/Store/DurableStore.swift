public import DurableCore

/// A database of durable operations, queues and workers.
///
/// Any number of processes may use one database. A store is safe to use from any task.
public protocol DurableStore: Sendable {
    /// The limits of names, payloads and retention.
    var limits: DurableLimits { get }
    /// A text that identifies the database. The text is part of idempotency keys.
    var identity: String { get }
    /// The notices of changes, for waiting tasks of this process.
    var notices: StoreNotices { get }

    /// Applies an event, and returns when the event is durable.
    ///
    /// The store commits events of many callers together.
    ///
    /// - Throws: The error of the event, which then changed nothing, or `DurableError.unavailable`. After `unavailable`, the
    ///   event may be durable. The caller repeats only events that permit repetition.
    func commit<Reply: Sendable>(
        _ event: @escaping @Sendable (inout DurableMachine) throws -> Reply
    ) async throws -> Reply

    /// Answers a question from a consistent snapshot. The question changes nothing.
    func read<Reply: Sendable>(
        _ question: @escaping @Sendable (inout DurableMachine) throws -> Reply
    ) async throws -> Reply

    /// Extends the leases of a worker. The call does not wait for transactions of an application.
    ///
    /// - Returns: A text about a transaction that has delayed all others for a long time; nil if there is none.
    /// - Throws: `DurableError.workerExpired` if the leases have expired. `DurableError.unavailable`.
    func renewLeases(of worker: WorkerID, for lease: Duration) async throws -> String?
}

extension DurableStore {
    /// Extends the leases of a worker by a commit.
    public func renewLeases(of worker: WorkerID, for lease: Duration) async throws -> String? {
        try await commit { try $0.heartbeat(worker, lease: lease) }
        return nil
    }
}
