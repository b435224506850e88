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
    /// The first error of the chain; nil when the chain began with a cancellation.
    ///
    /// It is all that is kept of the chain, which may be very long.
    public let rootCause: (any Error)?

    init(dependency: String, outcome: OperationOutcome) {
        self.dependency = dependency
        guard case .failed(let error) = outcome else {
            rootCause = nil
            return
        }
        rootCause = if let failure = error as? DependencyFailure { failure.rootCause } else { error }
    }

    public var description: String {
        rootCause.map { "\(dependency) failed, because of: \($0)" }
            ?? "\(dependency) was cancelled, or depends on what was"
    }
}

extension Operation {
    /// What becomes of the operation when one it depends on has failed or was cancelled. Default: it runs anyway.
    ///
    /// It is looked at once, when a queue is about to start the operation, which is when all dependencies have finished.
    /// Setting it later than that has no effect.
    public final var dependencyFailurePolicy: DependencyFailurePolicy {
        get { gates?.failurePolicy ?? .runAnyway }
        set {
            try? changeGates { gates in
                gates.failurePolicy = newValue
                return nil
            }
        }
    }
}
