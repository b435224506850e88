/// Why a queue that holds operations runs none and will not by its own means (rule N3).
public struct StallReport: Sendable, CustomStringConvertible {
    /// The queue's name.
    public let queue: String
    /// Every operation of the queue, in the order added.
    public let blocked: [Explanation]

    /// The most operations that `description` lists. `blocked` has all of them.
    public static let describedOperations = 20

    /// One line for the queue and one for each of the first `describedOperations` operations, and how many more there are.
    public var description: String {
        let listed = blocked.prefix(Self.describedOperations)
        let rest = blocked.count - listed.count
        return "queue '\(queue)' is stalled: \(blocked.count) operations wait and none can start"
            + listed.map { "\n  \($0)" }.joined() + (rest > 0 ? "\n  and \(rest) more" : "")
    }
}

/// What an operation waits for at one moment.
public struct Explanation: Sendable, CustomStringConvertible {
    /// Type and name, or address.
    public let operation: String
    /// What holds it back; empty when nothing does.
    public let reasons: [WaitingReason]

    /// The most reasons that `description` lists. `reasons` has all of them.
    public static let describedReasons = 5

    /// The operation and the first `describedReasons` of its reasons, and how many more there are.
    public var description: String {
        guard !reasons.isEmpty else { return "\(operation): nothing holds it back" }
        // A cycle stands last, and says most.
        let isLong = reasons.count > Self.describedReasons + 1
        let listed = isLong ? Array(reasons.prefix(Self.describedReasons - 1)) + reasons.suffix(1) : reasons
        return "\(operation): " + listed.map(\.description).joined(separator: "; ")
            + (isLong ? "; and \(reasons.count - listed.count) more" : "")
    }
}

/// One thing that an operation waits for.
public enum WaitingReason: Sendable, Equatable, CustomStringConvertible {
    /// It has started.
    case executing
    /// It has finished.
    case finished
    /// It is in no queue and nobody has started it.
    case inNoQueue
    /// Operations that wait for one another, as the path `a, b, a`. A barrier in it is called so. The path begins with the
    /// operation itself when it is part of a cycle of up to 32 operations.
    case cycle([String])
    /// A dependency that is in no queue and that nobody has started.
    case dependencyInNoQueue(String)
    /// A dependency that is queued or runs.
    case dependency(String)
    /// The queue is suspended.
    case queueSuspended(queue: String)
    /// The queue's width is 0.
    case widthZero(queue: String)
    /// A barrier that was queued before it has not run.
    case barrier
    /// An overridden `isReady` is false. Announce `isReady` when it becomes true.
    case customIsReady
    /// An overridden `isReady` is true, but that was not announced.
    case readyNotAnnounced
    /// `isFinished` is true, but that was not announced.
    case finishNotAnnounced
    /// A condition is being tested.
    case conditions([String])
    /// Units of a resource that others have, or wait for before it.
    case resource(name: String, units: Int, inUse: Int, capacity: Int)
    /// Another operation runs under this exclusive name, or waits to do so before it.
    case exclusion(String)
    /// As many operations of its key run as may, or other keys have their turn before.
    case key(String)
    /// The queue's rate limit has no permit left.
    case rateLimit(queue: String)
    /// As many operations run as the queue's width allows, or it is about to start.
    case slot
    /// It is paused, or its group is, and starts when that is resumed.
    case held
    /// The group that it is part of has not started.
    case group(String)

    public var description: String {
        switch self {
        case .executing: "executes"
        case .finished: "has finished"
        case .inNoQueue: "is in no queue, and nobody has started it"
        case .cycle(let path): "waits for itself: \(Self.describe(path))"
        case .dependencyInNoQueue(let name): "waits for \(name), which is in no queue; add it to one or start it"
        case .dependency(let name): "waits for \(name)"
        case .queueSuspended(let queue): "queue '\(queue)' is suspended; set isSuspended to false"
        case .widthZero(let queue): "queue '\(queue)' has width 0; raise maxConcurrentOperationCount"
        case .barrier: "waits for a barrier in front of it"
        case .customIsReady: "its overridden isReady is false; announce isReady when it becomes true"
        case .readyNotAnnounced: "isReady is true but was not announced; call didChangeValue(for: \\.isReady)"
        case .finishNotAnnounced: "isFinished is true but was not announced; call didChangeValue(for: \\.isFinished)"
        case .conditions(let names): "waits for its conditions: \(names.joined(separator: ", "))"
        case .resource(let name, let units, let inUse, let capacity):
            "waits for \(units) of '\(name)', of which \(inUse) of \(capacity) are in use"
        case .exclusion(let name): "waits to run exclusively as '\(name)'"
        case .key(let key): "waits for its turn under key '\(key)'"
        case .rateLimit(let queue): "waits for a permit of the rate limit of queue '\(queue)'"
        case .slot: "waits for a free slot"
        case .held: "is paused; resume it"
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
