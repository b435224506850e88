/// A workflow that is ready to run, with expanded families and resolved names.
public struct WorkflowPlan: Equatable, Sendable {
    /// The name of the workflow, if it has one.
    public let name: String?
    /// The queues that the file declares, and the default queue if an operation uses it.
    public let queues: [QueueDescription]
    /// The operations in the order of the file, in which they are added to their queues.
    public let operations: [PlannedOperation]
    /// The indices of the operations in an order in which they could run one at a time.
    public let possibleOrder: [Int]
    /// The number of operations and families in the file.
    public let describedCount: Int
    /// Whether the file contains a family.
    public let hasFamilies: Bool
    /// The settings that concern more than one operation.
    public let settings: WorkflowSettings
    /// The directory of the file, to which its paths are relative.
    public let directory: String
    /// The names of the operations of the file that a selection left out.
    var otherNames: [String] = []
    /// The patterns of the inputs of these operations, with their directories.
    var otherInputs: [DeclaredInputs] = []

    /// The inputs of an operation.
    struct DeclaredInputs: Equatable, Sendable {
        let directory: String
        let patterns: [String]
    }
}

/// An operation of a plan.
///
/// The texts may contain characters that stand for bytes of file names. `withFileName(_:)` converts them for the system.
public struct PlannedOperation: Equatable, Sendable {
    private struct Fields: Equatable {
        let name, family, command: String
        let program: [String]?
        let directory: String
        var environment: [String: String]
        let item: Item?
        let queue: String
        let priority: Priority
        let isBarrier: Bool
        let settings: SettingsBox
        var awaited: [Range<Int>] = []
        var growth: FamilyGrowth?
        var captured: [CapturedVariable] = []
        var barrierAhead: Int?
    }

    // Copies share their fields: the steps of planning copy 100,000 operations many times. A change copies a shared box first, so no
    // box changes while another thread may read it.
    private final class Box: @unchecked Sendable {
        var fields: Fields

        init(_ fields: Fields) { self.fields = fields }
    }

    private var box: Box
    private var fields: Fields {
        _read { yield box.fields }
        _modify {
            if !isKnownUniquelyReferenced(&box) { box = Box(box.fields) }
            yield &box.fields
        }
    }

    /// The name in the file. For a member of a family, the item follows in brackets: `compress[a.swift]`.
    public var name: String { fields.name }
    /// The key of the operation or of its family in the file.
    public var family: String { fields.family }
    /// The command: a text for the shell, or for ``program``, its words with quotes as a shell needs them.
    public var command: String { fields.command }
    /// The program and its arguments, if the operation uses no shell by `run: [program, argument]`.
    public var program: [String]? { fields.program }
    /// The working directory of the command. The path is absolute, or relative to the current directory.
    public var directory: String { fields.directory }
    /// The environment variables that the file adds to those of this process.
    public internal(set) var environment: [String: String] {
        get { fields.environment }
        set { fields.environment = newValue }
    }
    /// The item. `nil` if the operation is not a member of a family.
    var item: Item? { fields.item }
    /// The name of the operation's queue.
    public var queue: String { fields.queue }
    /// The priority of the operation among the ready operations of its queue.
    public var priority: Priority { fields.priority }
    /// Whether the operation is a barrier. A barrier starts after all operations queued before it in its queue, and
    /// operations queued after the barrier start after it ends.
    public var isBarrier: Bool { fields.isBarrier }
    /// The operations that must succeed before this operation starts, in the order of `after`. A family is one range.
    var awaited: [Range<Int>] {
        get { fields.awaited }
        set { fields.awaited = newValue }
    }
    /// The way to find the operations for which this one stands: the members of a family whose items are not known yet. `nil` for
    /// an operation with a command.
    var growth: FamilyGrowth? {
        get { fields.growth }
        set { fields.growth = newValue }
    }
    /// The variables that the operation gets from the outputs of operations before it.
    var captured: [CapturedVariable] {
        get { fields.captured }
        set { fields.captured = newValue }
    }
    /// The index of the last barrier queued before this operation in its queue. The barrier must also succeed before this
    /// operation starts.
    public internal(set) var barrierAhead: Int? {
        get { fields.barrierAhead }
        set { fields.barrierAhead = newValue }
    }

    /// The other settings.
    public var settings: OperationSettings { _read { yield fields.settings.settings } }

    init(
        name: String, family: String? = nil, command: String, program: [String]? = nil, directory: String,
        environment: [String: String] = [:], item: Item? = nil, queue: String, priority: Priority = .normal,
        isBarrier: Bool = false, settings: SettingsBox = .standard
    ) {
        box = Box(
            Fields(
                name: name, family: family ?? name, command: command, program: program, directory: directory,
                environment: environment, item: item, queue: queue, priority: priority, isBarrier: isBarrier,
                settings: settings))
    }

    public static func == (left: Self, right: Self) -> Bool { left.box === right.box || left.fields == right.fields }
}

/// Settings that operations share. Most operations have the same ones, and a hundred thousand copies would need much memory.
final class SettingsBox: Equatable, Sendable {
    static let standard = SettingsBox(OperationSettings())

    let settings: OperationSettings

    init(_ settings: OperationSettings) { self.settings = settings }

    static func == (lhs: SettingsBox, rhs: SettingsBox) -> Bool { lhs === rhs || lhs.settings == rhs.settings }
}

extension PlannedOperation {
    /// The indices of the operations that must succeed before this operation starts. O(dependencies): if a family comes after
    /// a family, each member has all members of the other family.
    public var dependencies: [Int] {
        var seen: Set<Int> = []
        return awaited.joined().filter { seen.insert($0).inserted }
    }

    /// All environment variables that are added to those of this process. They are the variables of the file and, for a
    /// member of a family, the variables of the item such as `OPQ_ITEM`.
    public var variables: [String: String] {
        item.map { environment.merging($0.variables) { $1 } } ?? environment
    }
}

extension WorkflowPlan {
    /// A line that counts the contents of the workflow: `3 queues, 5 operations (128 after each:)`.
    public var census: String {
        let queues = queues.count == 1 ? "1 queue" : "\(queues.count) queues"
        let described = describedCount == 1 ? "1 operation" : "\(describedCount) operations"
        return "\(queues), \(described)" + (hasFamilies ? " (\(operations.count) after each:)" : "")
    }
}
