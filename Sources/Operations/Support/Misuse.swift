/// A programming error in the use of an operation or a queue.
///
/// Where Apple's systems raise `NSInvalidArgumentException`, a plain member stops the process with the `description` of
/// this error. The variant whose name begins with `try` throws the error and changes nothing.
public enum OperationError: Error, Equatable, Sendable, CustomStringConvertible {
    /// Rule M1: an operation was started while it executes.
    case startedWhileExecuting(operation: String)
    /// Rule M1: an operation was started by hand while it is in a queue.
    case startedWhileInQueue(operation: String)
    /// Rule M1: an operation was started by hand while a dependency is unfinished, or an overridden `isReady` is false.
    case startedWhileNotReady(operation: String)
    /// Rule M2: an operation was added while it is in a queue, or twice in one batch.
    case alreadyInQueue(operation: String)
    /// Rule M3: an operation was added while it executes.
    case addedWhileExecuting(operation: String)
    /// Rule M3: an operation was added after it has finished.
    case addedAfterFinish(operation: String)
    /// Rule M4: `underlyingQueue` was set while the queue holds operations.
    case underlyingQueueWhileNotEmpty(queue: String)
    /// Rule M5: an execution block was added to a block operation that executes or has finished.
    case lateExecutionBlock(operation: String)
    /// Rule M6: a concurrency limit was negative and not `defaultMaxConcurrentOperationCount`.
    case negativeWidth(queue: String, width: Int)
    /// Rule M7: an operation depends on itself.
    case dependsOnItself(operation: String)
    /// Rule M8: an operation waits for itself.
    case waitsForItself(operation: String)
    /// Rule M8: an operation waits for another operation of its serial queue. The other operation cannot start first.
    case waitsInsideSerialQueue(operation: String, queue: String)

    /// Rule M9: a condition or requirement was added to an operation that has started.
    case lateGate(operation: String)
    /// Rule M9: an operation needs more units of a resource than the capacity.
    case exceedsCapacity(operation: String, resource: String, units: Int, capacity: Int)
    /// Rule M10: a group was added to itself, or to a group inside itself.
    case groupContainsItself(group: String)
    /// Rule M10: a child was added to a group that has finished.
    case addedToFinishedGroup(operation: String, group: String)
    /// Rule M11: a limit was below 1.
    case limitNotPositive(queue: String, limit: Int)
    /// Rule M12: an operation was added to a queue with a capacity that is full.
    case queueFull(queue: String, capacity: Int)

    public var description: String {
        switch self {
        case .startedWhileExecuting(let operation):
            "\(operation) was started while it executes (M1). An operation runs once; make a new one to run again."
        case .startedWhileInQueue(let operation):
            "\(operation) was started by hand while it is in a queue (M1). The queue starts it."
        case .startedWhileNotReady(let operation):
            """
            \(operation) was started while it is not ready (M1). Wait for its dependencies, or add it to a queue, \
            which waits for them.
            """
        case .alreadyInQueue(let operation):
            "\(operation) was added while it is in a queue (M2). Add it once; make a new one to run again."
        case .addedWhileExecuting(let operation):
            "\(operation) was added to a queue while it executes (M3). Add it before it starts."
        case .addedAfterFinish(let operation):
            "\(operation) was added to a queue after it had finished (M3). Make a new one to run again."
        case .underlyingQueueWhileNotEmpty(let queue):
            "underlyingQueue of \(queue) was set while it holds operations (M4). Set it before adding the first."
        case .lateExecutionBlock(let operation):
            "a block was added to \(operation), which executes or has finished (M5). Add blocks before it starts."
        case .negativeWidth(let queue, let width):
            """
            maxConcurrentOperationCount of \(queue) was set to \(width) (M6). Use 0 or more, or \
            OperationQueue.defaultMaxConcurrentOperationCount.
            """
        case .dependsOnItself(let operation):
            "\(operation) was made to depend on itself (M7). It could never become ready."
        case .exceedsCapacity(let operation, let resource, let units, let capacity):
            """
            \(operation) was made to need \(units) units of '\(resource)', but the capacity is \(capacity) (M9). It could \
            never start. Require fewer units, or raise the capacity first.
            """
        case .groupContainsItself(let group):
            "\(group) was added to itself (M10). It could never finish."
        case .addedToFinishedGroup(let operation, let group):
            "\(operation) was added to \(group), which has finished (M10). Add it earlier, or from inside a child."
        case .limitNotPositive(let queue, let limit):
            "the limit for a batch of \(queue) was \(limit) operations at a time (M11). Use 1 or more."
        case .queueFull(let queue, let capacity):
            """
            an operation was added to \(queue), which is full with \(capacity) operations (M12). Use tryAddOperation, \
            addOperationWhenRoom, or the overflow policy shedOldest or shedLowest.
            """
        case .lateGate(let operation):
            "a condition or requirement was added to \(operation), which has started (M9). Add it before the start."
        case .waitsForItself(let operation):
            "\(operation) waits for itself from inside (M8). It could never finish."
        case .waitsInsideSerialQueue(let operation, let queue):
            """
            an operation of \(queue) waits for \(operation) of the same queue, whose only slot it holds (M8). Use a \
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
