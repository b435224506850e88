/// What an operation does when one it depends on has failed or was cancelled.
public enum DependencyFailurePolicy: Sendable {
    /// It runs, as documented for operations ever since (rule D1).
    case runAnyway
    /// It is cancelled in place of being started.
    case cancel
    /// It fails with a `DependencyFailure`, and is cancelled, in place of being started.
    case fail
}

/// Why an operation did not run: one it depends on did not succeed.
public struct DependencyFailure: Error, CustomStringConvertible {
    /// Type and name, or address, of the dependency.
    public let dependency: String
    /// How the dependency ended.
    public let outcome: OperationOutcome?

    /// The first error of the chain, when this one was caused by another failure of a dependency.
    public var rootCause: (any Error)? {
        guard case .failed(let error) = outcome else { return nil }
        return (error as? DependencyFailure)?.rootCause ?? error
    }

    public var description: String { "\(dependency) \(outcome?.description ?? "has not ended")" }
}

extension Operation {
    /// What becomes of the operation when one it depends on has failed or was cancelled. Default: it runs anyway.
    ///
    /// It is looked at once, when a queue is about to start the operation, which is when all dependencies have finished.
    /// Setting it later than that has no effect.
    public final var dependencyFailurePolicy: DependencyFailurePolicy {
        get { gates?.failurePolicy ?? .runAnyway }
        set { try? changeGates { $0.failurePolicy = newValue } }
    }
}
