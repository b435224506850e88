/// How an operation ended.
public enum Outcome: Equatable, Sendable {
    /// Its command exited with 0.
    case succeeded
    /// Its command did not exit with 0, or not at all.
    case failed(Failure)
    /// It was not run, for the reason given.
    case skipped(String)
    /// It was stopped, or never started, because the run was cancelled.
    case cancelled

    /// Why a command counts as failed.
    public enum Failure: Equatable, Sendable {
        /// It exited with that status.
        case exit(Int32)
        /// It was ended by the signal of that number.
        case signal(Int32)
        /// It could not be started, for the reason given.
        case unstartable(String)
        /// It ended so, but the directory for what commands print had no space left: something of that may be lost.
        case outputLost(ProcessEnd, directory: String)
    }
}

/// The end of one operation.
public struct Conclusion: Equatable, Sendable {
    /// The name of the operation.
    public let name: String
    /// How it ended.
    public let outcome: Outcome
    /// How long the command ran; `nil` if it was not started.
    public let duration: Duration?

    /// The end of the operation of that name.
    init(name: String, outcome: Outcome, duration: Duration? = nil) {
        self.name = name
        self.outcome = outcome
        self.duration = duration
    }
}

/// The end of a whole run.
public struct RunResult: Equatable, Sendable {
    /// The ends of the operations, in the order of the plan.
    public let conclusions: [Conclusion]
    /// The time from its start to its end.
    public let wallTime: Duration
    /// The processor time of all commands together.
    public let processorTime: Duration
}
