/// What a programmer did wrong, as the throwing twins of the Foundation-shaped members report it.
///
/// Where Apple's systems raise `NSInvalidArgumentException`, the plain member stops the process with this error's
/// `description`; its twin, whose name begins with `try`, throws it and leaves everything unchanged.
public enum OperationError: Error, Equatable, Sendable, CustomStringConvertible {
    /// Rule M1: started while it executes.
    case startedWhileExecuting(operation: String)
    /// Rule M1: started by hand while it is in a queue.
    case startedWhileInQueue(operation: String)
    /// Rule M1: started by hand while a dependency is unfinished, or an overridden `isReady` is false.
    case startedWhileNotReady(operation: String)
    /// Rule M2: added while it is in a queue, or twice in one batch.
    case alreadyInQueue(operation: String)
    /// Rule M3: added while it executes.
    case addedWhileExecuting(operation: String)
    /// Rule M3: added after it has finished.
    case addedAfterFinish(operation: String)
    /// Rule M4: `underlyingQueue` set while the queue holds operations.
    case underlyingQueueWhileNotEmpty(queue: String)
    /// Rule M5: an execution block added to a block operation that executes or has finished.
    case lateExecutionBlock(operation: String)
    /// Rule M6: a negative width other than `defaultMaxConcurrentOperationCount`.
    case negativeWidth(queue: String, width: Int)
    /// Rule M7: an operation that depends on itself.
    case dependsOnItself(operation: String)
    /// Rule M8: an operation that waits for itself.
    case waitsForItself(operation: String)
    /// Rule M8: an operation of a serial queue that waits for another of the same queue, which cannot start before it.
    case waitsInsideSerialQueue(operation: String, queue: String)

    /// Rule M9: a condition or requirement added to an operation that has started.
    case lateGate(operation: String)
    /// Rule M9: an operation that would need more units of a resource than there are.
    case exceedsCapacity(operation: String, resource: String, units: Int, capacity: Int)
    /// Rule M10: a group as a child of its own.
    case groupContainsItself(group: String)
    /// Rule M10: a child added to a group that has finished.
    case addedToFinishedGroup(operation: String, group: String)
    /// Rule M11: a limit below 1.
    case limitNotPositive(queue: String, limit: Int)
    /// Rule M12: added to a bounded queue that is full.
    case queueFull(queue: String, capacity: Int)

    public var description: String {
        switch self {
        case .startedWhileExecuting(let operation):
            "\(operation) was started while it executes (M1). An operation runs once; make a new one to run again."
        case .startedWhileInQueue(let operation):
            "\(operation) was started by hand while it is in a queue (M1). Leave starting it to the queue."
        case .startedWhileNotReady(let operation):
            """
            \(operation) was started while it is not ready (M1). Wait for its dependencies, or add it to a queue, \
            which does.
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
            maxConcurrentOperationCount of \(queue) was set to \(width) (M6). Use a width from 0, or \
            OperationQueue.defaultMaxConcurrentOperationCount.
            """
        case .dependsOnItself(let operation):
            "\(operation) was made to depend on itself (M7). It could never become ready."
        case .exceedsCapacity(let operation, let resource, let units, let capacity):
            """
            \(operation) was made to need \(units) units of '\(resource)', of which there are \(capacity) (M9). It could \
            never start. Need less, or raise the capacity first.
            """
        case .groupContainsItself(let group):
            "\(group) was added to itself (M10). It could never finish."
        case .addedToFinishedGroup(let operation, let group):
            "\(operation) was added to \(group), which has finished (M10). Add it before, or from inside a child."
        case .limitNotPositive(let queue, let limit):
            "\(queue) was to have at most \(limit) operations of a batch at a time (M11). Use a limit from 1."
        case .queueFull(let queue, let capacity):
            """
            an operation was added to \(queue), which is full: \(capacity) are in it (M12). Use tryAddOperation, \
            addOperationWhenRoom, or a bound that sheds.
            """
        case .lateGate(let operation):
            "a condition or requirement was added to \(operation), which has started (M9). Add it before."
        case .waitsForItself(let operation):
            "\(operation) waits for itself from inside (M8). It could never finish."
        case .waitsInsideSerialQueue(let operation, let queue):
            """
            an operation of \(queue) waits for \(operation) of the same queue, whose only slot it holds (M8). Use a \
            dependency, a wider queue or another one.
            """
        }
    }
}

extension OperationError {
    /// Stops the process. `fatalError`, because messages of `precondition` vanish in release builds.
    func stop() -> Never { fatalError("OperationError: \(description)") }
}

/// The plain member's body over its throwing twin.
@inline(__always)
func stopOnMisuse<Result>(_ body: () throws(OperationError) -> Result) -> Result {
    do { return try body() } catch { error.stop() }
}
