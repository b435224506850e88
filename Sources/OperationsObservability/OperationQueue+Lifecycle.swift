#if Lifecycle
public import Operations
public import ServiceLifecycle

/// A queue as a service of swift-service-lifecycle: a graceful shutdown of the group shuts the queue down.
///
/// ```
/// let group = ServiceGroup(
///     services: [server, OperationQueueService(queue, grace: .seconds(20))],
///     gracefulShutdownSignals: [.sigterm], logger: logger)
/// try await group.run()
/// ```
///
/// A group shuts its services down in the reverse order. So a queue that stands before the service that adds operations is shut down
/// after that service.
public struct OperationQueueService: Service {
    private let queue: OperationQueue
    private let grace: Duration
    private let cancellationGrace: Duration
    private let onEnd: @Sendable (ShutdownReport) -> Void

    /// Creates a service.
    ///
    /// - Parameters:
    ///   - queue: The queue.
    ///   - grace: The time that the operations have to finish after the begin of the shutdown.
    ///   - cancellationGrace: The time that cancelled operations have to end.
    ///   - onEnd: Receives the operations that were left.
    public init(
        _ queue: OperationQueue, grace: Duration, cancellationGrace: Duration = .seconds(1),
        onEnd: @escaping @Sendable (ShutdownReport) -> Void = { _ in }
    ) {
        (self.queue, self.grace, self.cancellationGrace, self.onEnd) = (queue, grace, cancellationGrace, onEnd)
    }

    /// Waits for the graceful shutdown, or for the cancellation of the task, and then shuts the queue down. A cancellation ends the
    /// grace.
    public func run() async {
        try? await gracefulShutdown()
        onEnd(await queue.shutDown(grace: grace, cancellationGrace: cancellationGrace))
    }
}
#endif
