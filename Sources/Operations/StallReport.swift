/// An explanation of a queue that holds operations and cannot start any of them without an outside event.
public struct StallReport: Sendable, CustomStringConvertible {
    /// The queue's name.
    public let queue: String
    /// The groups and retries of that queue in which the operations wait, outermost first; empty if the operations are in the
    /// queue itself.
    public let path: [String]
    /// Every operation of the queue, or of the innermost group or retry of `path`, in the order added.
    public let blocked: [Explanation]
    /// The other operations that the blocked ones wait for, also in other queues, and that cannot continue. The nearest come first.
    /// At most `describedCauses`.
    public let causes: [Explanation]

    /// The most operations in `causes`.
    public static let describedCauses = 20

    /// The most operations that `description` lists. `blocked` has all of them.
    public static let describedOperations = 20

    /// One line for the queue, one line for each of the first `describedOperations` operations, the number of other operations,
    /// and one line for each cause.
    public var description: String {
        let listed = blocked.prefix(Self.describedOperations)
        let rest = blocked.count - listed.count
        let count = blocked.count
        let state =
            count == 1 ? "1 operation waits and cannot continue" : "\(count) operations wait and none can continue"
        let place = path.isEmpty ? "queue '\(queue)'" : path.joined(separator: " → ")
        let around = path.isEmpty || queue.isEmpty ? "" : " in queue '\(queue)'"
        return "\(place)\(around) is stalled: \(state)"
            + listed.map { "\n  \($0)" }.joined() + (rest > 0 ? "\n  and \(rest) more" : "")
            + causes.map { "\n  cause: \($0)" }.joined()
    }
}

/// The reasons for which an operation waits at one moment.
public struct Explanation: Sendable, CustomStringConvertible {
    /// The type of the operation, and its name or address.
    public let operation: String
    /// The reasons for which the operation waits; empty when it can start.
    public let reasons: [WaitingReason]

    /// The number of reasons that `description` lists of a longer list. It lists six of six. `reasons` has all of them.
    public static let describedReasons = 5

    /// The operation, the first `describedReasons` of its reasons, and the number of other reasons.
    public var description: String {
        guard !reasons.isEmpty else { return "\(operation): nothing holds it back" }
        // A cycle is the last reason and the most useful one, so it is always listed.
        let isLong = reasons.count > Self.describedReasons + 1
        let listed = isLong ? Array(reasons.prefix(Self.describedReasons - 1)) + reasons.suffix(1) : reasons
        return "\(operation): " + listed.map(\.description).joined(separator: "; ")
            + (isLong ? "; and \(reasons.count - listed.count) more" : "")
    }
}

/// One reason for which an operation waits.
public enum WaitingReason: Sendable, Equatable, CustomStringConvertible {
    /// The operation has started.
    case executing
    /// The code of the operation, which executes, waits for this operation.
    case awaits(String)
    /// The code of the operation, which executes, waits for all operations of this queue.
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
    /// A barrier that was added earlier has not run.
    case barrier
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
    /// The limit of the operation's key is reached, or other keys have their turn first.
    case key(String)
    /// The rate limit of the queue has no permit left.
    case rateLimit(queue: String)
    /// The concurrency limit of the queue is reached, or the operation is about to start.
    case slot
    /// The operation or its group is paused. The operation starts after the operation or group was resumed.
    case paused
    /// The group of the operation has not started.
    case group(String)

    public var description: String {
        switch self {
        case .executing: "executes"
        case .awaits(let name): "waits in its work for \(name)"
        case .awaitsQueue(let queue): "waits in its work for all operations of queue '\(queue)'"
        case .child(let name): "waits for its child \(name)"
        case .mainThread(let subject): "waits for the main thread, which waits for \(subject)"
        case .finished: "has finished"
        case .inNoQueue: "is in no queue and has not been started; add it to a queue or start it"
        case .cycle(let path): "waits for itself: \(Self.describe(path))"
        case .dependencyInNoQueue(let name): "waits for \(name), which is in no queue; add it to one or start it"
        case .dependency(let name): "waits for \(name)"
        case .queueSuspended(let queue): "queue '\(queue)' is suspended; set isSuspended to false"
        case .limitZero(let queue): "the concurrency limit of queue '\(queue)' is 0; raise maxConcurrentOperationCount"
        case .barrier: "waits for a barrier in front of it"
        case .customIsReady: "its overridden isReady is false; announce isReady when it becomes true"
        case .readyNotAnnounced: "isReady is true but was not announced; call didChangeValue(for: \\.isReady)"
        case .finishNotAnnounced: "isFinished is true but was not announced; call didChangeValue(for: \\.isFinished)"
        case .conditions(let names): "waits for its conditions: \(names.joined(separator: ", "))"
        case .resource(let name, let units, let inUse, let capacity):
            "waits for \(units) of '\(name)', of which \(inUse) of \(capacity) are in use"
        case .resourceLine(let name, let first):
            "waits behind \(first), which requested '\(name)' earlier and waits as well"
        case .exclusion(let name, let holder):
            "waits for the exclusive name '\(name)'" + (holder.map { ", which \($0) holds" } ?? "")
        case .capacity(let queue): "waits for capacity in queue '\(queue)', which is full"
        case .key(let key): "waits for its turn under key '\(key)'"
        case .rateLimit(let queue): "waits for a permit of the rate limit of queue '\(queue)'"
        case .slot: "waits for a free slot"
        case .paused: "is paused; resume it"
        case .group(let name): "waits for its group \(name) to start"
        }
    }

    /// The most operations of a cycle that `description` names.
    private static let describedPath = 12

    private static func describe(_ path: [String]) -> String {
        guard path.count > describedPath else { return path.joined(separator: " → ") }
        let first = path.prefix(describedPath - 2).joined(separator: " → ")
        return "\(first) → (\(path.count - describedPath + 1) more) → \(path[path.count - 1])"
    }
}
