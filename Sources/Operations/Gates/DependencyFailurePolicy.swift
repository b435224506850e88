/// The reaction of an operation to a dependency that has failed or was cancelled.
public enum DependencyFailurePolicy: Sendable {
    /// The operation runs. This is the documented behavior of operations.
    case runAnyway
    /// The operation is cancelled and does not start.
    case cancel
    /// The operation fails with a `DependencyFailure`, is cancelled and does not start.
    case fail
}

/// The failure of an operation that did not run because a dependency did not succeed.
public struct DependencyFailure: Error, CustomStringConvertible {
    /// The type of the dependency, and its name or address.
    public let dependency: String
    /// The first error in the chain of dependencies; nil when the chain began with a cancellation.
    ///
    /// The other errors of the chain are not kept, because a chain can be very long.
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
            ?? "\(dependency) was cancelled, or depends on a cancelled operation"
    }
}

extension Operation {
    /// The reaction of the operation to a dependency that has failed or was cancelled. The default is `runAnyway`.
    ///
    /// A queue reads the policy each time it is about to start the operation, when all dependencies have finished. After a
    /// condition or a resource has delayed the start, the queue reads it again. Once the operation has started, setting the
    /// policy has no effect.
    public final var dependencyFailurePolicy: DependencyFailurePolicy {
        get { withGate(DependencyFailureGate.self) { $0.policy } ?? .runAnyway }
        set { try? changeGate(orNew: DependencyFailureGate()) { $0.policy = newValue } }
    }
}

/// The failure policy of an operation. The policy can still be read after the end.
private final class DependencyFailureGate: OperationGate {
    static var rank: OperationGateRank { .dependencyFailures }

    @exclusivity(unchecked) var policy = DependencyFailurePolicy.runAnyway

    func mayStart(_ operation: Operation) -> GateAnswer {
        let policy = operation.dependencyFailurePolicy
        guard policy != .runAnyway else { return .passes }
        for dependency in untracked({ operation.dependencies }) {
            guard let outcome = dependency.operationOutcome else { continue }
            if case .succeeded = outcome { continue }
            return .givesUp(
                policy == .fail ? DependencyFailure(dependency: dependency.label, outcome: outcome) : nil)
        }
        return .passes
    }
}
