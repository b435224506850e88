import OperationsTimeline

/// The error of a failed command, as observers of the operation see it.
struct CommandFailure: Error, CustomStringConvertible {
    let failure: Outcome.Failure

    var description: String { RunReport.text(of: failure) }
}

/// The reason why a command was skipped, as the trace of the operation shows it.
struct CommandSkipped: OperationTimeline.Ending {
    let reason: String

    var ending: String { reason }
}
