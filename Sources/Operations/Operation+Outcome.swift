import SchedulerCore

/// The result of an operation that has finished.
public enum OperationOutcome: Sendable, CustomStringConvertible {
    /// The operation ran to its end.
    case succeeded
    /// The operation was cancelled, before or while it ran.
    case cancelled
    /// The operation failed with an error.
    case failed(any Error)

    public var description: String {
        switch self {
        case .succeeded: "succeeded"
        case .cancelled: "was cancelled"
        case .failed(let error): "failed: \(error)"
        }
    }
}

// The names are long, because subclasses of code that comes from Foundation have an `outcome`, a `result` or a
// `fail(with:)` of their own. They have to compile unchanged.
extension Operation {
    /// The outcome of the operation; nil until the operation is finished.
    ///
    /// Reading the property marks a failure as read. See `OperationQueue.unseenFailureHandler`.
    public final var operationOutcome: OperationOutcome? {
        noteFailureSeen()
        return unseenOutcome
    }

    /// The outcome, read by a recorder: a failure does not count as read.
    package final var unseenOutcome: OperationOutcome? {
        guard untracked({ isFinished }) else { return nil }
        switch reportedFailure {
        case is CancellationError: return .cancelled
        case let failure?: return .failed(failure)
        case nil: return untracked({ isCancelled }) ? .cancelled : .succeeded
        }
    }

    /// Reports that the work failed. Call this method from the work, before the work ends.
    ///
    /// The first of several failures counts. `CancellationError` means that the operation was cancelled. A call after the
    /// end has no effect.
    public final func reportFailure(_ error: any Error) {
        guard !word.lifecycle.isFinished else { return }
        ownAttachments.withExtras { if $0.failure == nil { $0.failure = error } }
        word.insert(.hasFailed)
    }

    final func noteFailureSeen() {
        guard word.lifecycle.contains(.hasFailed) else { return }
        attachments?.withLock { $0.extras?.isFailureSeen = true }
    }

    final var reportedFailure: (any Error)? { attachments?.withLock { $0.extras?.failure } }
}
