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

extension OperationOutcome {
    /// Whether the operation ran to its end.
    public var isSucceeded: Bool { if case .succeeded = self { true } else { false } }

    /// Whether the operation was cancelled.
    public var isCancelled: Bool { if case .cancelled = self { true } else { false } }

    /// The error of an operation that failed; nil for the other outcomes.
    public var failure: (any Error)? { if case .failed(let error) = self { error } else { nil } }
}

extension OperationOutcome: Equatable {
    /// Compares two outcomes. Two failures are equal if their errors have the same type and are equal. Errors of a type that is
    /// not `Equatable` are compared by their descriptions.
    public static func == (a: Self, b: Self) -> Bool {
        switch (a, b) {
        case (.succeeded, .succeeded), (.cancelled, .cancelled): true
        case (.failed(let a), .failed(let b)): isEqual(a, b)
        default: false
        }
    }

    private static func isEqual(_ a: any Error, _ b: any Error) -> Bool {
        func compare<Value: Equatable>(_ value: Value) -> Bool { value == b as? Value }
        guard type(of: a) == type(of: b) else { return false }
        if let a = a as? any Equatable { return compare(a) }
        return String(reflecting: a) == String(reflecting: b)
    }
}

// The names are long, because subclasses of code that comes from Foundation have an `outcome`, a `result` or a
// `fail(with:)` of their own. They have to compile unchanged.
extension Operation {
    /// The outcome of the operation; nil until the operation is finished.
    ///
    /// Reading the property marks a failure as read. See `OperationQueue.unhandledFailureHandler`.
    public final var operationOutcome: OperationOutcome? {
        let outcome = unseenOutcome
        if outcome != nil { noteFailureSeen() }
        return outcome
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
        // The operation may have ended meanwhile, and its outcome may have been read.
        word.update { $0.isFinished ? nil : $0.inserting(.hasFailed) }
    }

    final func noteFailureSeen() {
        guard word.lifecycle.contains(.hasFailed) else { return }
        attachments?.withLock { $0.extras?.isFailureSeen = true }
    }

    final var reportedFailure: (any Error)? {
        word.lifecycle.contains(.hasFailed) ? attachments?.withLock { $0.extras?.failure } : nil
    }
}
