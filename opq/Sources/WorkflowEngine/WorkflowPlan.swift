/// A workflow ready to run: every family expanded, every name resolved.
public struct WorkflowPlan: Equatable, Sendable {
    /// The name of the workflow, if it has one.
    public let name: String?
    /// The queues in use or declared.
    public let queues: [QueueDescription]
    /// The operations in the order in which they are queued, which is that of the file.
    public let operations: [PlannedOperation]
    /// The indices of the operations in an order in which they could run one by one.
    public let possibleOrder: [Int]
    /// How many operations the file names.
    public let describedCount: Int
    /// Whether some of these are families.
    public let hasFamilies: Bool
}

/// One operation to be queued.
public struct PlannedOperation: Equatable, Sendable {
    /// The name in the file, with the item in brackets for a member of a family: `compress[a.swift]`.
    public let name: String
    /// The shell command.
    public let command: String
    /// The directory to run in, relative to the current one unless absolute.
    public let directory: String
    /// The variables the file gives it in addition to those of this process.
    public let environment: [String: String]
    /// The item, of a member of a family.
    let item: Item?
    /// The name of its queue.
    public let queue: String
    /// Its priority among those that are ready in its queue.
    public let priority: Priority
    /// Whether it runs alone in its queue: after all that is queued before it, before all that is queued behind it.
    public let isBarrier: Bool
    /// The indices of the operations it comes after, all of which must have succeeded before it starts.
    public internal(set) var dependencies: [Int] = []
    /// The index of the last barrier queued before it in its queue, which must have succeeded as well.
    public internal(set) var barrierAhead: Int?
}

extension PlannedOperation {
    /// All variables it has in addition to those of this process: of the file, and `OPQ_ITEM` and so on for the item.
    public var variables: [String: String] {
        item.map { environment.merging($0.variables) { $1 } } ?? environment
    }
}

extension WorkflowPlan {
    /// The line that says what a workflow holds: `3 queues, 5 operations (128 after each:)`.
    public var census: String {
        let queues = queues.count == 1 ? "1 queue" : "\(queues.count) queues"
        let described = describedCount == 1 ? "1 operation" : "\(describedCount) operations"
        return "\(queues), \(described)" + (hasFamilies ? " (\(operations.count) after each:)" : "")
    }
}
