public import DurableCore

/// A unit of work that survives the process. The store keeps the operation as JSON.
///
/// ```swift
/// struct Resize: DurableOperation {
///     static let name = "resize"
///     var photo: String
///
///     func run(_ context: DurableContext) async throws -> String { "small-\(photo)" }
/// }
/// ```
///
/// A worker calls `run(_:)` at least once: a second attempt runs after a failure, or after the end of a worker's process.
public protocol DurableOperation: Codable, Sendable {
    /// The output: `Void`, or a type that is `Codable`.
    associatedtype Output: Sendable

    /// The name of the operation in the database. The name stays the same when the type is renamed.
    static var name: String { get }

    /// Does the work of one attempt.
    ///
    /// - Throws: The failure of the attempt. `CancellationError` ends the operation as cancelled.
    func run(_ context: DurableContext) async throws -> Output

    /// Returns whether an error justifies another attempt. The default is true for every error.
    static func permitsRetry(after error: any Error) -> Bool
}

extension DurableOperation {
    public static func permitsRetry(after error: any Error) -> Bool { true }
}

/// A reference to a stored operation.
public protocol DurableReference: Sendable {
    /// The identifier of the operation.
    var id: OperationID { get }
}

/// An error by which `run(_:)` ends an attempt without a failure.
public enum DurableControl: Error, Sendable, Hashable {
    /// The operation runs again after the delay. The attempt does not count as a failure.
    case snooze(Duration)
    /// The operation ends as discarded.
    case discard(String)
}
