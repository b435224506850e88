/// The reasons for which an operation does not run, across all machines.
public struct DurableExplanation: Sendable, Hashable, CustomStringConvertible {
    /// One reason.
    public enum Reason: Sendable, Hashable {
        /// The operation waits for the end of another operation.
        case waitsFor(OperationID, name: String, state: DurableState)
        /// The operation waits for more operations than the explanation lists.
        case waitsForMore(count: Int)
        /// The start time, or the end of a sleep or a snooze, is in the future.
        case startsAt(DurableInstant)
        /// The last attempt failed, and the next attempt is scheduled.
        case retriesAt(DurableInstant, lastError: String)
        /// The limit of the key is reached.
        case limitOfKey(String, limit: Int)
        /// The rate of the key permits no start before the instant.
        case rateOfKey(String, until: DurableInstant)
        /// The queue is suspended.
        case queueSuspended(String)
        /// The limit of the queue is reached.
        case limitOfQueue(String, limit: Int)
        /// The rate of the queue permits no start before the instant.
        case rateOfQueue(String, until: DurableInstant)
        /// Operations before a barrier of the queue have not ended.
        case barrier(queue: String, unfinished: Int)
        /// No worker serves the queue.
        case noWorkerServes(queue: String)
        /// No worker of the queue registers the name of the operation.
        case noWorkerRegisters(String)
        /// The operation waits for a signal, at most until the instant.
        case awaitsSignal(String, until: DurableInstant?)
        /// The work is done, and a child has not ended.
        case waitsForChild(OperationID)
        /// A worker runs the operation.
        case runs(worker: String, since: DurableInstant?)
        /// The worker of the running operation vanished. Another worker of the queue takes the operation over.
        case leaseExpired(at: DurableInstant)
        /// A caller requested the cancellation of the running operation.
        case cancelRequested
        /// Workers vanished while the operation ran, so that it runs alone in its process until an attempt ends.
        case runsAlone(crashes: Int)
        /// The operation can start when a worker has a free slot.
        case waitsForSlot
        /// The operation has ended.
        case ended(DurableState, reason: String)
    }

    /// The operation.
    public let id: OperationID
    /// The name of the operation.
    public let name: String
    /// The state.
    public let state: DurableState
    /// The reasons. The list is never empty.
    public let reasons: [Reason]

    package init(id: OperationID, name: String, state: DurableState, reasons: [Reason]) {
        (self.id, self.name, self.state, self.reasons) = (id, name, state, reasons)
    }

    public var description: String {
        "operation \(id) '\(name)': \(reasons.map(\.description).joined(separator: "; "))"
    }
}

extension DurableExplanation.Reason: CustomStringConvertible {
    public var description: String {
        switch self {
        case .waitsFor(let id, let name, let state): "waits for operation \(id) '\(name)', which is \(state)"
        case .waitsForMore(let count): "waits for \(count) more operations"
        case .startsAt(let instant): "starts at \(instant)"
        case .retriesAt(let instant, let error): "retries at \(instant) after the error: \(error)"
        case .limitOfKey(let key, let limit): "limit \(limit) of key '\(key)' is reached"
        case .rateOfKey(let key, let instant): "the rate of key '\(key)' permits no start before \(instant)"
        case .queueSuspended(let name): "queue '\(name)' is suspended"
        case .limitOfQueue(let name, let limit): "limit \(limit) of queue '\(name)' is reached"
        case .rateOfQueue(let name, let instant): "the rate of queue '\(name)' permits no start before \(instant)"
        case .barrier(let queue, let count): "\(count) operations before a barrier of queue '\(queue)' have not ended"
        case .noWorkerServes(let queue): "no worker serves queue '\(queue)'"
        case .noWorkerRegisters(let name): "no worker registers '\(name)'"
        case .awaitsSignal(let name, let until): "waits for signal '\(name)'\(until.map { " until \($0)" } ?? "")"
        case .waitsForChild(let id): "waits for child \(id)"
        case .runs(let worker, let since): "worker '\(worker)' runs it\(since.map { " since \($0)" } ?? "")"
        case .leaseExpired(let instant): "the lease of the worker expired at \(instant)"
        case .cancelRequested: "a cancellation is requested"
        case .runsAlone(let crashes): "runs alone, because its worker vanished \(crashes) times"
        case .waitsForSlot: "waits for a free slot of a worker"
        case .ended(let state, let reason): reason.isEmpty ? "ended as \(state)" : "ended as \(state): \(reason)"
        }
    }
}
