/// One reason for which an operation waits.
public enum WaitingReason: Sendable, Equatable, CustomStringConvertible {
    /// The operation has started.
    case executing
    /// The code of the operation, or of its conditions, waits for this operation.
    case awaits(String)
    /// The code of the operation, or of its conditions, waits for all operations of this queue.
    case awaitsQueue(String)
    /// A group or a retry, which executes, waits for this child or attempt, which cannot continue.
    case child(String)
    /// The main thread, which would start the operation, waits for this operation, or for all operations of this queue.
    case mainThread(waitsFor: String)
    /// The operation has finished.
    case finished
    /// The operation is in no queue and has not been started.
    case inNoQueue
    /// Operations that wait for each other, as the path `a, b, a`. A barrier appears as "a barrier". The path begins with
    /// the operation itself when the operation is part of a cycle of up to 32 operations.
    case cycle([String])
    /// A dependency is in no queue and has not been started.
    case dependencyInNoQueue(String)
    /// A dependency is in a queue or executes.
    case dependency(String)
    /// The queue is suspended.
    case queueSuspended(queue: String)
    /// The concurrency limit of the queue is 0.
    case limitZero(queue: String)
    /// A barrier that was added earlier has not ended. The holders are the operations that the barrier waits for, or the barrier
    /// itself if it runs.
    case barrier(heldBy: [Holder])
    /// An overridden `isReady` is false. Announce `isReady` when the value becomes true.
    case customIsReady
    /// An overridden `isReady` is true, but the change was not announced.
    case readyNotAnnounced
    /// `isFinished` is true, but the change was not announced.
    case finishNotAnnounced
    /// A condition is being tested. The value has the names of all conditions of the operation.
    case conditions([String])
    /// Other operations use units of a resource.
    case resource(name: String, units: Int, inUse: Int, capacity: Int)
    /// Enough units of a resource are free, but an operation that has requested them earlier waits for more units, or for other
    /// resources.
    case resourceLine(name: String, behind: String)
    /// Another operation runs under this exclusive name, or has requested the name earlier.
    case exclusion(String, heldBy: String?)
    /// The operation, which is not in the queue yet, waits until the queue has free capacity.
    case capacity(queue: String)
    /// The limit of the operation's key is reached, or other keys have their turn first. The holders are the running operations of
    /// the key; empty if its limit is not reached.
    case key(String, heldBy: [Holder])
    /// The rate limit of the queue has no permit left.
    case rateLimit(queue: String)
    /// The concurrency limit of the queue is reached, or the operation is about to start. The holders are the running operations;
    /// empty if a slot is free.
    case slot(queue: String, limit: Int, heldBy: [Holder])
    /// A slot is free, and the operation waits for a thread of the dispatch queue of this label. The holders are the operations that
    /// run there.
    case dispatchQueue(String, heldBy: [Holder])
    /// The work has released its slot, as between two attempts. It continues by itself after this time, when it has a slot again.
    case slotReleased(for: Duration)
    /// The operation or its group is paused. The operation starts after the operation or group was resumed.
    case paused
    /// The group of the operation has not started.
    case group(String)

    /// An operation that has the slot or the turn that another one waits for.
    public struct Holder: Sendable, Equatable, CustomStringConvertible {
        /// The type of the operation, and its name or address.
        public let operation: String
        /// The time since the start of the operation; nil if it is not known.
        public let executionTime: Duration?

        /// Creates a holder, such as one that a test expects.
        public init(operation: String, executionTime: Duration?) {
            (self.operation, self.executionTime) = (operation, executionTime)
        }

        public var description: String { operation + (executionTime.map { " for \($0.inWords)" } ?? "") }
    }

    /// The number of holders that `description` lists.
    public static let describedHolders = 3

    public var description: String {
        switch self {
        case .executing: "executes"
        case .awaits(let name): "waits in its work for \(name)"
        case .awaitsQueue(let queue): "waits in its work for all operations of queue \(queue.inQuotes)"
        case .child(let name): "waits for its child \(name)"
        case .mainThread(let subject): "waits for the main thread, which waits for \(subject)"
        case .finished: "has finished"
        case .inNoQueue: "is in no queue and has not been started; add it to a queue or start it"
        case .cycle(let path): "waits for itself: \(Self.describe(path))"
        case .dependencyInNoQueue(let name): "waits for \(name), which is in no queue; add it to one or start it"
        case .dependency(let name): "waits for \(name)"
        case .queueSuspended(let queue): "queue \(queue.inQuotes) is suspended; set isSuspended to false"
        case .limitZero(let queue):
            "the concurrency limit of queue \(queue.inQuotes) is 0; raise maxConcurrentOperationCount"
        case .barrier(let holders):
            "waits for a barrier in front of it" + (holders.isEmpty ? "" : ", held by \(Self.list(holders))")
        case .customIsReady: "its overridden isReady is false; announce isReady when it becomes true"
        case .readyNotAnnounced: "isReady is true but was not announced; call didChangeValue(for: \\.isReady)"
        case .finishNotAnnounced: "isFinished is true but was not announced; call didChangeValue(for: \\.isFinished)"
        case .conditions(let names): "waits for its conditions: \(names.map(\.onOneLine).joined(separator: ", "))"
        case .resource(let name, let units, let inUse, let capacity):
            "waits for \(units) of \(name.inQuotes), of which \(inUse) of \(capacity) are in use"
        case .resourceLine(let name, let first):
            "waits behind \(first), which requested \(name.inQuotes) earlier and waits as well"
        case .exclusion(let name, let holder):
            "waits for the exclusive name \(name.inQuotes)" + (holder.map { ", which \($0) holds" } ?? "")
        case .capacity(let queue): "waits for capacity in queue \(queue.inQuotes), which is full"
        case .key(let key, let holders):
            "waits for its turn under key \(key.inQuotes)"
                + (holders.isEmpty ? "" : ", whose limit is reached by \(Self.list(holders))")
        case .rateLimit(let queue): "waits for a permit of the rate limit of queue \(queue.inQuotes)"
        case .slot(let queue, let limit, let holders):
            holders.isEmpty
                ? "is about to start"
                : "waits for a slot of queue \(queue.inQuotes) (limit \(limit)), taken by \(Self.list(holders))"
        case .dispatchQueue(let label, let holders):
            "waits for a thread of dispatch queue \(label.inQuotes), taken by \(Self.list(holders))"
        case .slotReleased(let time): "has released its slot, and continues in \(time.inWords)"
        case .paused: "is paused; resume it"
        case .group(let name): "waits for its group \(name) to start"
        }
    }

    private static func list(_ holders: [Holder]) -> String {
        let rest = holders.count - describedHolders
        return holders.prefix(describedHolders).map(\.description).joined(separator: ", ")
            + (rest > 0 ? " and \(rest) more" : "")
    }

    /// The most operations of a cycle that `description` names.
    private static let describedPath = 12

    static func describe(_ path: [String]) -> String {
        guard path.count > describedPath else { return path.joined(separator: " → ") }
        let first = path.prefix(describedPath - 2).joined(separator: " → ")
        return "\(first) → (\(path.count - describedPath + 1) more) → \(path[path.count - 1])"
    }
}
