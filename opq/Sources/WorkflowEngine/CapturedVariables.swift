import Synchronization

/// A variable that an operation gets from the standard output of operations before it.
struct CapturedVariable: Equatable, Sendable {
    let name: String
    let makers: CaptureMakers
}

/// The operations whose outputs are the value of one variable, in order. All members of a family share the object.
final class CaptureMakers: Equatable, Sendable {
    let names: [String]

    init(_ names: [String]) { self.names = names }

    static func == (left: CaptureMakers, right: CaptureMakers) -> Bool {
        left === right || left.names == right.names
    }
}

/// The values of the variables that the operations of a run have captured.
final class CapturedVariables: Sendable {
    private struct State {
        var values: [ByteKey: String] = [:]
        /// The values of families, which each member of another family may ask for.
        var joined: [ObjectIdentifier: String] = [:]
    }

    private let state = Mutex(State())
    private let planned: Set<ByteKey>
    private let recorded: @Sendable (String) -> String?

    /// Creates the values of a run, in which no operation has ended.
    ///
    /// - Parameter recorded: Returns the value of an operation that is not in the plan, as its last success left it.
    init(of plan: WorkflowPlan, recorded: @escaping @Sendable (String) -> String?) {
        let hasAny = plan.operations.contains { !$0.captured.isEmpty }
        planned = hasAny ? Set(plan.operations.lazy.map { ByteKey($0.name) }) : []
        self.recorded = recorded
    }

    /// Stores the value of an operation that has succeeded or is up to date.
    func set(_ value: String, of name: String) { state.withLock { $0.values[ByteKey(name)] = value } }

    /// Returns the value of an operation. `nil` if it has none.
    func value(of name: String) -> String? { state.withLock { $0.values[ByteKey(name)] } }

    /// Returns the operation with the values of its captured variables. All operations before it must have ended.
    ///
    /// The value of a family has the outputs of its members in order, one after the other on lines of their own. An operation
    /// that did not succeed has no output.
    ///
    /// - Throws: ``CaptureFailure`` if an operation is not in the plan and has no recorded value, or if a value is too long.
    func filled(_ operation: PlannedOperation) throws(CaptureFailure) -> PlannedOperation {
        guard !operation.captured.isEmpty else { return operation }
        var filled = operation
        for variable in operation.captured {
            let value = try value(of: variable)
            let count = variable.name.utf8.count + 1 + value.fileNameBytes.count
            if count > Self.longest {
                throw CaptureFailure(
                    text: "the captured variable '\(variable.name)' has \(count) bytes, and the system takes "
                        + "\(Self.longest); let the operations write files")
            }
            filled.environment[variable.name] = value
        }
        return filled
    }

    /// The longest variable with its name, in bytes.
    private static let longest = 131_071

    private func value(of variable: CapturedVariable) throws(CaptureFailure) -> String {
        let key = ObjectIdentifier(variable.makers)
        let (known, values) = state.withLock { ($0.joined[key], $0.values) }
        if let known { return known }
        var parts: [String] = []
        for name in variable.makers.names {
            if let value = values[ByteKey(name)] {
                parts.append(value)
            } else if planned.contains(ByteKey(name)) {
                continue
            } else if let value = recorded(name) {
                parts.append(value)
            } else {
                throw CaptureFailure(
                    text: "no output of '\(name)' is recorded for the variable '\(variable.name)'; run '\(name)' too")
            }
        }
        let joined = parts.joined(separator: "\n")
        if variable.makers.names.count > 1 { state.withLock { $0.joined[key] = joined } }
        return joined
    }
}
