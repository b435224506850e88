/// The contents of a workflow file, before families are expanded and names are resolved.
struct Workflow: Sendable {
    /// A file of the workflow.
    struct Origin: Sendable {
        /// The directory to which the paths in the file are relative.
        var base: String
        /// The shell of the commands in the file.
        var shell: Shell?
    }

    var name: String?
    var variables: [(name: String, value: Located<String>)] = []
    var environment: [(name: String, value: Located<String>)] = []
    /// The files of environment variables. `nil` stands for `.env`, if it exists.
    var environmentFiles: [Located<String>]?
    var includes: [Located<String>] = []
    var shell: Located<Shell>?
    var settings = WorkflowSettings()
    var queues: [QueueDescription] = []
    var operations: [OperationDescription] = []
    /// The workflow file, and the files that it includes.
    var origins: [Origin] = []
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

/// The command of an operation in a workflow file.
enum CommandDescription: Sendable {
    /// A text for the shell.
    case text(Located<String>)
    /// A program and its arguments, which run without a shell.
    case program([Located<String>])

    /// The strings of the command.
    var strings: [Located<String>] {
        switch self {
        case .text(let text): [text]
        case .program(let words): words
        }
    }
}

/// The description of an operation in a workflow file, or of a family of operations if it has items.
///
/// The strings may contain placeholders.
struct OperationDescription: Sendable {
    /// The key of the operation in the file.
    let name: Located<String>
    /// The command. `nil` if the file contains no valid command, which the parser has reported.
    var run: CommandDescription?
    var queue: Located<String>?
    /// The names of the operations, families and items that must succeed before this operation starts.
    var after: [Located<String>] = []
    var priority: Located<String>?
    var directory: Located<String>?
    var environment: [(name: String, value: Located<String>)] = []
    var isBarrier = false
    /// The index of the file in ``Workflow/origins``.
    var origin = 0
    /// The items of a family; `nil` for a single operation.
    var family: FamilyDescription?
    private var rare: RareBox?

    /// The keys that few operations have. A box keeps the other operations small.
    var settings: SettingsDescription {
        get { rare?.value ?? SettingsDescription() }
        set { rare = RareBox(newValue) }
    }

    /// Whether the operation has one of the keys of ``settings``.
    var hasSettings: Bool { rare != nil }

    /// Creates a description with a name and default values.
    init(name: Located<String>) {
        self.name = name
    }

    private final class RareBox: Sendable {
        let value: SettingsDescription

        init(_ value: SettingsDescription) { self.value = value }
    }
}

/// The keys of an operation that few operations have.
struct SettingsDescription: Sendable {
    var shell: Located<Shell>?
    var inputs: [Located<String>]?
    var outputs: [Located<String>]?
    var depfile: Located<String>?
    var exclusive: [Located<String>] = []
    var slurm: [Located<String>] = []
    var capturePosition: SourcePosition?
    /// The settings whose values have no placeholders.
    var plain = OperationSettings()

    /// The strings that may contain placeholders.
    var strings: [Located<String>] {
        (inputs ?? []) + (outputs ?? []) + [depfile].compactMap(\.self) + exclusive + slurm
    }
}

/// The items of a family in a workflow file.
struct FamilyDescription: Sendable {
    /// A source of items.
    enum Source: Sendable {
        /// A glob, or a string that is an item itself.
        case item(Located<String>)
        /// A glob, or a file that must exist.
        case file(Located<String>)
        /// A file, of which each line is an item.
        case lines(Located<String>)
        /// A command, of whose output each line is an item.
        case command(Located<String>)

        var text: Located<String> {
            switch self {
            case .item(let text), .file(let text), .lines(let text), .command(let text): text
            }
        }
    }

    /// An axis of a matrix.
    struct Axis: Sendable {
        let name: Located<String>
        let values: [Located<String>]
    }

    /// Values of axes, by the names of the axes.
    typealias Combination = [(axis: Located<String>, value: Located<String>)]

    /// The place of the key.
    var position: SourcePosition
    var sources: [Source] = []
    var axes: [Axis] = []
    var exclusions: [Combination] = []
    var additions: [Combination] = []
    /// Whether the family may have no items.
    var isOptional = false

    /// Whether the family is a matrix.
    var isMatrix: Bool { !axes.isEmpty || !additions.isEmpty }
}
