/// Something that has to hold before an operation starts, and is found out asynchronously.
///
/// A condition is tested once, when everything the operation depends on has finished. While it is tested the operation
/// waits, without a slot. When it is not satisfied the operation fails with an `OperationConditionFailure`, and is
/// cancelled in place of being started. It is a matter of queues: an operation that is started by hand tests nothing.
///
///     upload.addCondition(isOnline && !isOnMeteredNetwork)
public struct OperationCondition: Sendable {
    /// What it is called in failures and explanations.
    public let name: String
    /// Returns when it is satisfied, and throws why it is not.
    let test: @Sendable (Operation) async throws -> Void

    /// A condition that is satisfied when `test` returns, and not when it throws. It is given the operation.
    public init(_ name: String, test: @escaping @Sendable (Operation) async throws -> Void) {
        self.name = name
        self.test = test
    }

    /// A condition that is satisfied when `holds` answers true.
    public init(_ name: String, holds: @escaping @Sendable () async -> Bool) {
        self.init(name) { _ in
            guard await holds() else { throw Unsatisfied(name: name) }
        }
    }

    /// Satisfied when the operation's instant has come: it starts no earlier.
    public static func notBefore<C: Clock>(_ instant: C.Instant, clock: C) -> OperationCondition {
        OperationCondition("not before \(instant)") { _ in try await clock.sleepFully(until: instant) }
    }

    /// Satisfied when both are; the second is tested only if the first is satisfied.
    public static func && (first: OperationCondition, second: OperationCondition) -> OperationCondition {
        OperationCondition("(\(first.name) and \(second.name))") { operation in
            try await first.test(operation)
            try await second.test(operation)
        }
    }

    /// Satisfied when one of them is; the second is tested only if the first is not.
    public static func || (first: OperationCondition, second: OperationCondition) -> OperationCondition {
        OperationCondition("(\(first.name) or \(second.name))") { operation in
            do { try await first.test(operation) } catch { try await second.test(operation) }
        }
    }

    /// Satisfied when the other is not. A cancellation is passed on.
    public static prefix func ! (condition: OperationCondition) -> OperationCondition {
        let name = "not \(condition.name)"
        return OperationCondition(name) { operation in
            do { try await condition.test(operation) } catch is CancellationError {
                throw CancellationError()
            } catch {
                return
            }
            throw Unsatisfied(name: name)
        }
    }

    /// The reason of a condition that has no other.
    public struct Unsatisfied: Error, CustomStringConvertible {
        /// What the condition is called.
        public let name: String

        public var description: String { "\(name) does not hold" }
    }
}

/// Why an operation did not run: a condition was not satisfied.
public struct OperationConditionFailure: Error, CustomStringConvertible {
    /// What the condition is called.
    public let condition: String
    /// What the condition threw.
    public let reason: any Error

    public var description: String { "condition '\(condition)' was not satisfied: \(reason)" }
}

extension Operation {
    /// Makes the operation wait for a condition, besides those it has. Misuse M9 when it has started.
    public final func addCondition(_ condition: OperationCondition) {
        stopOnMisuse { () throws(OperationError) in try tryAddCondition(condition) }
    }

    /// `addCondition` that throws misuse M9 as an error and then has changed nothing.
    public final func tryAddCondition(_ condition: OperationCondition) throws(OperationError) {
        try changeGates { gates in
            gates.conditions.append(condition)
            return nil
        }
    }
}
