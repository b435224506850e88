/// The contents of a workflow file, before families are expanded and names are resolved.
struct Workflow: Sendable {
    var name: String?
    var queues: [QueueDescription] = []
    var operations: [OperationDescription] = []
}

/// The description of a queue in a workflow file.
public struct QueueDescription: Equatable, Sendable {
    /// The name of the queue for operations without a `queue` key. The file need not declare this queue.
    public static let defaultName = "default"

    /// The name of the queue, to which the `queue` keys of operations refer.
    public let name: String
    /// The concurrency limit of the queue. `nil` if the file sets none, in which case ``RunOptions/jobs`` decides.
    public internal(set) var concurrency: Int?
    /// The quality of service of the operations in the queue.
    public internal(set) var quality = Quality.default

    init(name: String) {
        self.name = name
    }
}

/// The quality of service of a queue. The raw values are the names in the file.
public enum Quality: String, CaseIterable, Sendable {
    case userInteractive, userInitiated, `default`, utility, background
}

/// The priority of an operation in its queue. The raw values are the names in the file.
public enum Priority: String, CaseIterable, Sendable {
    case veryLow, low, normal, high, veryHigh
}

/// The description of an operation in a workflow file, or of a family of operations if `each` is set.
///
/// The strings may contain placeholders for the item of a family.
struct OperationDescription: Sendable {
    /// The key of the operation in the file.
    let name: Located<String>
    /// The shell command. `nil` if the file contains no valid command, which the parser has reported.
    var run: Located<String>?
    var queue: Located<String>?
    /// The names of the operations, families and items that must succeed before this operation starts.
    var after: [Located<String>] = []
    var priority: Located<String>?
    var directory: Located<String>?
    var environment: [(name: String, value: Located<String>)] = []
    var isBarrier = false
    /// The items and globs of a family; `nil` for a single operation.
    var each: [Located<String>]?

    /// Creates a description with a name and default values.
    init(name: Located<String>) {
        self.name = name
    }
}
