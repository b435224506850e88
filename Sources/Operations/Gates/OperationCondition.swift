/// A requirement that is tested asynchronously before an operation starts.
///
/// A queue tests a condition once, when all dependencies of the operation have finished. During the test the operation
/// waits without a slot. If the condition is not satisfied, the operation fails with an `OperationConditionFailure`, is
/// cancelled and does not start. `Operation.start()` called by hand tests no conditions.
///
/// ```swift
/// upload.addCondition(isOnline && !isOnMeteredNetwork)
/// ```
public struct OperationCondition: Sendable {
    /// The name of the condition in failures and explanations.
    public let name: String
    /// Returns when the condition is satisfied, and throws the reason when the condition is not satisfied.
    let test: @Sendable (Operation) async throws -> Void

    /// Creates a condition that is satisfied when `test` returns, and not satisfied when `test` throws an error.
    ///
    /// - Parameters:
    ///   - name: The name in failures and explanations.
    ///   - test: The test. It receives the operation.
    public init(_ name: String, test: @escaping @Sendable (Operation) async throws -> Void) {
        self.name = name
        self.test = test
    }

    /// Creates a condition that is satisfied when `holds` returns true.
    public init(_ name: String, holds: @escaping @Sendable () async -> Bool) {
        self.init(name) { _ in
            guard await holds() else { throw Unsatisfied(name: name) }
        }
    }

    /// Returns a condition that is satisfied when the clock has reached the instant. The operation starts no earlier.
    public static func notBefore<C: Clock>(_ instant: C.Instant, clock: C) -> OperationCondition {
        OperationCondition("not before \(instant)") { _ in try await clock.sleepFully(until: instant) }
    }

    /// Returns a condition that is satisfied when both conditions are. `second` is tested only if `first` is satisfied.
    public static func && (first: OperationCondition, second: OperationCondition) -> OperationCondition {
        OperationCondition("(\(first.name) and \(second.name))") { operation in
            try await first.test(operation)
            try await second.test(operation)
        }
    }

    /// Returns a condition that is satisfied when one of two conditions is. `second` is tested only if `first` is not
    /// satisfied.
    public static func || (first: OperationCondition, second: OperationCondition) -> OperationCondition {
        OperationCondition("(\(first.name) or \(second.name))") { operation in
            do { try await first.test(operation) } catch { try await second.test(operation) }
        }
    }

    /// Returns a condition that is satisfied when the other condition is not. A `CancellationError` of the test is thrown
    /// again.
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

    /// The reason for a condition that returned false, or whose negation was satisfied.
    public struct Unsatisfied: Error, CustomStringConvertible {
        /// The name of the condition.
        public let name: String

        public var description: String { "\(name.inQuotes) was not satisfied" }
    }
}

/// The failure of an operation that did not run because a condition was not satisfied.
public struct OperationConditionFailure: Error, CustomStringConvertible {
    /// The name of the condition.
    public let condition: String
    /// The error that the condition threw.
    public let reason: any Error

    public var description: String {
        let text = "condition \(condition.inQuotes) was not satisfied"
        if let reason = reason as? OperationCondition.Unsatisfied, reason.name == condition { return text }
        return "\(text): \(reason)"
    }
}

extension Operation {
    /// Adds a condition. The operation waits for all its conditions. The test has the task-local values of the code that adds the
    /// operation to its queue.
    ///
    /// The call stops the process if the operation has started. ``tryAddCondition(_:)`` throws an error instead.
    public final func addCondition(_ condition: OperationCondition) {
        stopOnMisuse { () throws(OperationError) in try tryAddCondition(condition) }
    }

    /// Adds a condition, and throws an error if the operation has started.
    ///
    /// - Throws: `OperationError.lateGate`. The call has changed nothing then.
    public final func tryAddCondition(_ condition: OperationCondition) throws(OperationError) {
        try changeGate(orNew: ConditionGate()) { $0.conditions.append(condition) }
        ConditionGate.added(to: self)
    }
}
