/// The settings of an operation beyond its command and its place in the graph. All placeholders are replaced.
public struct OperationSettings: Equatable, Sendable {
    /// The shell of the command.
    public var shell = Shell.standard
    /// The patterns of the files and folders that the command reads, relative to its directory. Special characters of values
    /// have backslashes. `nil` if the file declares none.
    public var inputs: [String]?
    /// The patterns of the files and folders that the command makes, relative to its directory. `nil` if the file declares none.
    public var outputs: [String]?
    /// The file in make's syntax in which the command lists further inputs, relative to its directory.
    public var depfile: String?
    /// Whether outputs stay when the command fails or is interrupted.
    public var keepsOutputs = false
    /// The longest time of one run of the command.
    public var timeout: Duration?
    /// The time that the command gets to end after a signal. `nil` stands for ``WorkflowSettings/grace``.
    public var grace: Duration?
    /// The runs after a failed one.
    public var retries = Retries()
    /// The outcome of earlier operations that is needed.
    public var condition = Condition.success
    /// Whether the run succeeds although the operation fails.
    public var mayFail = false
    /// The amounts of resources that the command uses. Memory is in bytes.
    public var resources: [String: Int] = [:]
    /// The largest number of starts in a time.
    public var rate: Rate?
    /// Names that no two running operations share.
    public var exclusive: [String] = []
    /// Whether the command owns the terminal and standard input.
    public var usesTerminal = false
    /// The name of the variable that gets the standard output, for the operations that come after this one.
    public var capture: String?
    /// Options for `sbatch`.
    public var slurm: [String] = []
    /// The largest number of commands of the family that share a job of Slurm.
    public var batch = 1

    /// Creates settings with the default values.
    public init() {}
}

/// The settings of a workflow that concern more than one operation.
public struct WorkflowSettings: Equatable, Sendable {
    /// The time that commands get to end after a signal.
    public var grace = Duration.seconds(2)
    /// The totals of the resources. Memory is in bytes.
    public var resources: [String: Int] = [:]
    /// The names of the environment variables whose values are masked in everything that is shown or written.
    public var secrets: [String] = []
    /// Whether commands get a jobserver of GNU make.
    public var offersJobserver = false

    /// Creates settings with the default values.
    public init() {}
}

/// The outcome of earlier operations that an operation needs. The raw values are the names in the file.
public enum Condition: String, CaseIterable, Sendable {
    /// All operations in `after` succeeded.
    case success
    /// An operation in `after` failed, or was skipped because of a failure.
    case failure
    /// All operations in `after` ended.
    case always
}

/// The runs of a command after a failed run.
public struct Retries: Equatable, Sendable {
    /// The number of runs after the first.
    public var count = 0
    /// The time before the second run.
    public var delay = Duration.zero
    /// The factor by which each delay is longer than the delay before it.
    public var factor = 1.0
    /// The exit statuses after which the command runs again. `nil` stands for each failure, a death by a signal included.
    public var statuses: [Int32]?

    /// Creates a value for a command that runs once.
    public init() {}
}

/// The largest number of starts in a time.
public struct Rate: Equatable, Sendable {
    /// The number of starts.
    public let count: Int
    /// The time.
    public let interval: Duration

    /// Creates a rate.
    public init(count: Int, interval: Duration) {
        self.count = count
        self.interval = interval
    }
}
