import SchedulerCore

/// How an operation ended.
public enum OperationOutcome: Sendable, CustomStringConvertible {
    /// It ran to its end.
    case succeeded
    /// It was cancelled, before or while it ran.
    case cancelled
    /// It failed with an error.
    case failed(any Error)

    public var description: String {
        switch self {
        case .succeeded: "succeeded"
        case .cancelled: "was cancelled"
        case .failed(let error): "failed: \(error)"
        }
    }
}

// Longer names than one would like: subclasses of code that comes from Foundation have an `outcome`, a `result`, a
// `fail(with:)` of their own, and have to go on compiling.
extension Operation {
    /// How it ended; nil until it is finished.
    ///
    /// Whoever asks has looked at a failure; see `OperationQueue.unseenFailureHandler`.
    public final var operationOutcome: OperationOutcome? {
        noteFailureSeen()
        return unseenOutcome
    }

    /// The same for who only takes it down: a failure is as unseen as before.
    package final var unseenOutcome: OperationOutcome? {
        guard untracked({ isFinished }) else { return nil }
        switch reportedFailure {
        case is CancellationError: return .cancelled
        case let failure?: return .failed(failure)
        case nil: return untracked({ isCancelled }) ? .cancelled : .succeeded
        }
    }

    /// Says that the work failed. Call it from the work, before it ends; of several failures the first one counts.
    ///
    /// `CancellationError` says that the work was given up. No effect after the end.
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
