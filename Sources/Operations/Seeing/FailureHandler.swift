import SchedulerCore

/// A failure that nobody has looked at.
public struct UnseenFailure: Sendable, CustomStringConvertible {
    /// Type and name, or address, of the operation.
    public let operation: String
    /// The queue's name.
    public let queue: String
    /// What the operation failed with.
    public let error: any Error

    public var description: String { "\(operation) in '\(queue)' failed, and nobody looked: \(error)" }
}

extension OperationQueue {
    /// Called for each operation of this queue that has failed and been released without that anybody has asked for its
    /// outcome, value or result; nil for nobody. On the thread that released it.
    ///
    /// It counts for operations that finish from now on. A dependent with a failure policy, and the group of a child, have
    /// looked. A cancellation is no failure.
    public final var unseenFailureHandler: (@Sendable (UnseenFailure) -> Void)? {
        get { hooks.load()?.failureHandler }
        set {
            guard newValue != nil || hooks.isSet else { return }
            ownHooks.setFailureHandler(newValue)
        }
    }
}

/// Who is told of a failure, and how its operation is called: at that time the operation is gone.
struct FailureHandler {
    let operation: String
    let queue: String
    let handle: @Sendable (UnseenFailure) -> Void
}

extension Operation {
    /// Part of step 4: whoever lets go of the operation may be the last one.
    @inline(never)
    final func keepFailureHandler(of queue: OperationQueue) {
        guard let handle = queue.unseenFailureHandler else { return }
        let handler = FailureHandler(operation: label, queue: queue.readName() ?? "", handle: handle)
        attachments?.withLock { $0.extras?.failureHandler = handler }
    }
}

extension Attachments {
    /// `deinit` of the operation.
    @inline(never)
    final func tellUnseenFailure() {
        guard let extras = withLock({ $0.extras }), let failureHandler = extras.failureHandler, !extras.isFailureSeen,
            let failure = extras.failure, !(failure is CancellationError)
        else { return }
        HeldLocks.assertNone()
        failureHandler.handle(
            UnseenFailure(operation: failureHandler.operation, queue: failureHandler.queue, error: failure))
    }
}
