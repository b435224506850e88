import SchedulerCore

/// A failure that no code has read.
public struct UnhandledFailure: Sendable, CustomStringConvertible {
    /// The type of the operation, and its name or address.
    public let operation: String
    /// The queue's name.
    public let queue: String
    /// The error of the operation.
    public let error: any Error

    public var description: String {
        "\(operation) in \(queue.inQuotes) failed, and its error was never read: \(error)"
    }
}

extension OperationQueue {
    /// A closure that receives the failures that no code has read; nil for none.
    ///
    /// The queue calls the closure when a failed operation is released before any code has read its outcome, value or
    /// result. The call happens on the thread that releases the operation.
    ///
    /// The handler applies to operations that finish after it is set. A dependent with a failure policy reads the
    /// failure, and so does the group of a child. A cancellation is not a failure.
    public final var unhandledFailureHandler: (@Sendable (UnhandledFailure) -> Void)? {
        get { hooks.load()?.failureHandler.withLock { $0 } }
        set {
            guard newValue != nil || hooks.isSet else { return }
            ownHooks.failureHandler.exchange(newValue)
        }
    }
}

/// A handler for an unread failure, with the names of operation and queue. When it is called, the operation is released.
struct FailureHandler {
    let operation: String
    let queue: String
    let handle: @Sendable (UnhandledFailure) -> Void
}

extension Operation {
    /// Keeps the handler with the attachments, because the next release of the operation may be the last one. Part of
    /// step 4.
    @inline(never)
    final func keepFailureHandler(of queue: OperationQueue) {
        guard let handle = queue.unhandledFailureHandler else { return }
        let handler = FailureHandler(operation: label, queue: queue.readName() ?? "", handle: handle)
        attachments?.withLock { $0.extras?.failureHandler = handler }
    }
}

extension Attachments {
    /// Reports an unread failure. Called by `deinit` of the operation.
    @inline(never)
    final func reportUnhandledFailure() {
        guard let extras = withLock({ $0.extras }), let failureHandler = extras.failureHandler, !extras.isFailureSeen,
            let failure = extras.failure, !(failure is CancellationError)
        else { return }
        HeldLocks.assertNone()
        failureHandler.handle(
            UnhandledFailure(operation: failureHandler.operation, queue: failureHandler.queue, error: failure))
    }
}
