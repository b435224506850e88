/// A programming error in the use of an operation or a queue.
///
/// Where Apple's systems raise `NSInvalidArgumentException`, a plain member stops the process with the `description` of
/// this error. The variant whose name begins with `try` throws the error and changes nothing. The codes are those of the rules
/// in `Documentation/Conformance.md`, for example M1.
public enum OperationError: Error, Equatable, Sendable, CustomStringConvertible {
    /// An operation was started while it executes (M1).
    case startedWhileExecuting(operation: String)
    /// An operation was started by hand while it is in a queue (M1).
    case startedWhileInQueue(operation: String)
    /// An operation was started by hand while a dependency is unfinished, or an overridden `isReady` is false (M1).
    case startedWhileNotReady(operation: String)
    /// An operation was added while it is in a queue, or twice in one batch (M2).
    case alreadyInQueue(operation: String)
    /// An operation was added while it executes (M3).
    case addedWhileExecuting(operation: String)
    /// An operation was added after it has finished (M3).
    case addedAfterFinish(operation: String)
    /// `underlyingQueue` was set while the queue holds operations (M4).
    case underlyingQueueWhileNotEmpty(queue: String)
    /// An execution block was added to a block operation that executes or has finished (M5).
    case lateExecutionBlock(operation: String)
    /// A concurrency limit was negative and not `defaultMaxConcurrentOperationCount` (M6).
    case negativeConcurrencyLimit(queue: String, limit: Int)
    /// An operation depends on itself (M7).
    case dependsOnItself(operation: String)
    /// An operation waits for itself (M8).
    case waitsForItself(operation: String)
    /// An operation waits for another operation of its serial queue (M8). The other operation cannot start first.
    case waitsInsideSerialQueue(operation: String, queue: String)
    /// The main thread waits for an operation of the main queue (M8). Only the main thread could start the operation.
    case waitsForMainQueue(operation: String)

    /// A condition, a requirement or a time limit was added to an operation that has started (M9).
    case lateGate(operation: String)
    /// An operation needs more units of a resource than the capacity (M9).
    case exceedsCapacity(operation: String, resource: String, units: Int, capacity: Int)
    /// A group was added to itself, or to a group inside itself (M10).
    case groupContainsItself(group: String)
    /// A child was added to a group that has finished (M10).
    case addedToFinishedGroup(operation: String, group: String)
    /// A limit was below 1 (M11).
    case limitNotPositive(queue: String, limit: Int)
    /// An operation was added to a queue with a capacity that is full (M12). Load, not misuse: no call stops the process for it.
    case queueFull(queue: String, capacity: Int)
    /// An operation was added to a queue that was shut down (M12). No call stops the process for it.
    case queueShutDown(queue: String)

    public var description: String {
        switch self {
        case .startedWhileExecuting(let operation):
            "\(operation) was started while it executes. An operation runs once; make a new one to run again."
        case .startedWhileInQueue(let operation):
            "\(operation) was started by hand while it is in a queue. The queue starts it."
        case .startedWhileNotReady(let operation):
            """
            \(operation) was started while it is not ready. Wait for its dependencies, or add it to a queue, \
            which waits for them.
            """
        case .alreadyInQueue(let operation):
            "\(operation) was added while it is in a queue. Add it once; make a new one to run again."
        case .addedWhileExecuting(let operation):
            "\(operation) was added to a queue while it executes. Add it before it starts."
        case .addedAfterFinish(let operation):
            "\(operation) was added to a queue after it had finished. Make a new one to run again."
        case .underlyingQueueWhileNotEmpty(let queue):
            "underlyingQueue of \(queue) was set while it holds operations. Set it before adding the first."
        case .lateExecutionBlock(let operation):
            "a block was added to \(operation), which executes or has finished. Add blocks before it starts."
        case .negativeConcurrencyLimit(let queue, let limit):
            """
            maxConcurrentOperationCount of \(queue) was set to \(limit). Use 0 or more, or \
            OperationQueue.defaultMaxConcurrentOperationCount.
            """
        case .dependsOnItself(let operation):
            "\(operation) was made to depend on itself. It could never become ready."
        case .exceedsCapacity(let operation, let resource, let units, let capacity):
            """
            \(operation) was made to need \(units) units of \(resource.inQuotes), but the capacity was never more than \
            \(capacity). It could never start. Require fewer units, or raise the capacity first.
            """
        case .groupContainsItself(let group):
            "\(group) was added to itself. It could never finish."
        case .addedToFinishedGroup(let operation, let group):
            "\(operation) was added to \(group), which has finished. Add it earlier, or from inside a child."
        case .limitNotPositive(let queue, let limit):
            "the limit for a batch of \(queue) was \(limit) operations at a time. Use 1 or more."
        case .queueFull(let queue, let capacity):
            """
            \(queue) refuses operations, because it is full with \(capacity). Use addTaskWaitingForCapacity, \
            addOperationWaitingForCapacity, or the overflow policies dropOldest or dropLowest.
            """
        case .queueShutDown(let queue):
            "\(queue) refuses operations, because it was shut down."
        case .lateGate(let operation):
            "a condition, requirement or time limit was added to \(operation), which has started. Add it before the start."
        case .waitsForItself(let operation):
            "\(operation) waits for itself from inside. It could never finish."
        case .waitsForMainQueue(let operation):
            """
            the main thread waits for \(operation) of the main queue, which only the main thread runs. Wait on another \
            thread, await it in a task, or use a dependency.
            """
        case .waitsInsideSerialQueue(let operation, let queue):
            """
            an operation of \(queue) waits for \(operation) of the same queue, whose only slot it holds. Use a \
            dependency, a higher concurrency limit or another queue.
            """
        }
    }
}

extension OperationError {
    /// Stops the process. Uses `fatalError`, because messages of `precondition` are missing in release builds.
    func stop() -> Never { fatalError("OperationError: \(description)") }
}

/// Runs the throwing variant of a plain member, and stops the process when the variant throws.
@inline(__always)
func stopOnMisuse<Result>(_ body: () throws(OperationError) -> Result) -> Result {
    do { return try body() } catch { error.stop() }
}
