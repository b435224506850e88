/// What a workflow file says, before families are expanded and names are resolved.
struct Workflow: Sendable {
    var name: String?
    var queues: [QueueDescription] = []
    var operations: [OperationDescription] = []
}

/// A queue as the file describes it.
public struct QueueDescription: Equatable, Sendable {
    /// The queue of operations that name none; it need not be declared.
    public static let defaultName = "default"

    /// The name, by which operations say where they are queued.
    public let name: String
    /// How many operations run at a time; `nil` leaves it to whoever runs the workflow.
    public internal(set) var width: Int?
    /// The quality of service of its operations.
    public internal(set) var quality = Quality.default

    init(name: String) {
        self.name = name
    }
}

/// The quality of service of a queue, by its name in the file.
public enum Quality: String, CaseIterable, Sendable {
    case userInteractive, userInitiated, `default`, utility, background
}

/// The priority of an operation in its queue, by its name in the file.
public enum Priority: String, CaseIterable, Sendable {
    case veryLow, low, normal, high, veryHigh
}

/// An operation, or with `each` a family of them, as the file describes it.
///
/// The strings may hold placeholders for the item of a family.
struct OperationDescription: Sendable {
    /// The key of the operation.
    let name: Located<String>
    /// The shell command; `nil` if the file gives none, which has been reported by then.
    var run: Located<String>?
    var queue: Located<String>?
    /// The operations, families and items it comes after.
    var after: [Located<String>] = []
    var priority: Located<String>?
    var directory: Located<String>?
    var environment: [(name: String, value: Located<String>)] = []
    var isBarrier = false
    /// The items and globs of a family; `nil` for a single operation.
    var each: [Located<String>]?

    /// An operation of which nothing is known but its name.
    init(name: Located<String>) {
        self.name = name
    }
}
