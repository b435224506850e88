/// The way in which an operation ended.
public enum Outcome: Equatable, Sendable {
    /// The command exited with status 0.
    case succeeded
    /// The command did not run, because nothing has changed since its last success.
    case upToDate
    /// The command did not start, did not exit with status 0, lost output, or did not make an output.
    case failed(Failure)
    /// The operation did not run, for the given reason.
    case skipped(String)
    /// The operation did not run, because the workflow needs it only after other outcomes.
    case unneeded(String)
    /// The run was cancelled before the operation ended.
    case cancelled

    /// Whether the command succeeded now or earlier.
    public var isSuccess: Bool { self == .succeeded || self == .upToDate }

    /// The reason why an operation failed.
    public enum Failure: Equatable, Sendable {
        /// The command exited with the given status, which is not 0.
        case exit(Int32)
        /// A signal with the given number ended the command.
        case signal(Int32)
        /// The command could not be started, for the given reason.
        case unstartable(String)
        /// The end of the command is unknown, or a cluster refused it, for the given reason.
        case unknown(String)
        /// The command ended, but the directory for output had no space left at some time, so output may be lost.
        case outputLost(ProcessEnd, directory: String)
        /// The command succeeded but did not make a file that it has to make.
        case missingOutput(String)
        /// The command succeeded, but a line of its depfile is not in make's syntax.
        case badDepfile(String, line: Int)
        /// The command succeeded, but its output cannot be the value of a variable, for the given reason.
        case badCapture(String)
        /// The items of a family could not be found during the run, for the given reason.
        case noItems(String)
        /// The command ran longer than its time limit.
        case timedOut(Duration)
    }
}

/// The result of one operation.
public struct Conclusion: Equatable, Sendable {
    /// The name of the operation.
    public let name: String
    /// The way in which the operation ended.
    public let outcome: Outcome
    /// The running time of the command. `nil` if the command was not started.
    public let duration: Duration?
    /// Whether the run succeeds although the operation failed, by `mayFail`.
    public let isTolerated: Bool

    /// Whether the run can succeed with this result.
    public var isFine: Bool {
        switch outcome {
        case .succeeded, .upToDate, .unneeded: true
        case .failed: isTolerated
        case .skipped, .cancelled: false
        }
    }

    /// Creates the result of the operation with the given name.
    init(name: String, outcome: Outcome, duration: Duration? = nil, isTolerated: Bool = false) {
        self.isTolerated = isTolerated
        self.name = name
        self.outcome = outcome
        self.duration = duration
    }
}

/// The result of a run.
public struct RunResult: Equatable, Sendable {
    /// The results of the operations, in the order of the plan.
    public let conclusions: [Conclusion]
    /// The operations of these results.
    public var operations: [PlannedOperation] = []
    /// The reason why the journal lacks entries of the run. `nil` if it has all.
    public let recordFailure: String?
    /// The time from the start of the run to its end.
    public let wallTime: Duration
    /// The total processor time of all commands.
    public let processorTime: Duration
}
