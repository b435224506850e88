extension OperationQueue {
    /// The events of the operations that are added from now on.
    ///
    /// Each use creates a new stream, which keeps unread events and ends when the queue is released. The events of one
    /// operation arrive in the order added, ready, started, finished. Each of them arrives at most once. `cancelled` may
    /// arrive at any place before the last event. A queue without streams has no cost. A queue with a stream observes
    /// each operation.
    public final var events: AsyncStream<OperationEvent> { events(bufferingPolicy: .unbounded) }

    /// Returns a stream of events with a limited buffer, for a slow reader.
    ///
    /// - Parameters:
    ///   - policy: The rule for unread events. A policy with a limit drops events, so that the events of an operation may be
    ///     incomplete.
    ///   - includesPresent: Whether the stream also reports operations that are in the queue now, from their start on. The time
    ///     that they waited is counted from now, and is zero for those that execute now.
    public final func events(
        bufferingPolicy policy: AsyncStream<OperationEvent>.Continuation.BufferingPolicy, includesPresent: Bool = false
    ) -> AsyncStream<OperationEvent> {
        let (stream, continuation) = AsyncStream.makeStream(of: OperationEvent.self, bufferingPolicy: policy)
        let source = addEventHandler(includesPresent: includesPresent) {
            continuation.yield($0)
        } onEnd: {
            continuation.finish()
        }
        // Weak: the source holds the continuation.
        continuation.onTermination = { [weak self, weak source] _ in
            if let source { self?.removeWatcher(source) }
        }
        return stream
    }

    /// Calls a handler for each event, until the returned watcher is removed. The call happens on the thread of the
    /// event, or on the thread that is just reporting events of the same operation.
    ///
    /// - Parameters:
    ///   - kinds: The kinds of events that the handler receives. The operations are observed only if a kind needs it.
    ///   - includesPresent: Whether the handler also receives the events of operations that are in the queue now, from their
    ///     start on.
    ///   - onEnd: Called when the queue is released, or when the watcher is removed and released.
    package final func addEventHandler(
        for kinds: OperationEvent.Kinds = .all, includesPresent: Bool = false,
        _ handler: @escaping @Sendable (OperationEvent) -> Void, onEnd: @escaping @Sendable () -> Void = {}
    ) -> any QueueWatcher {
        let source = EventSource(
            queue: self, kinds: kinds, includesPresent: includesPresent, handler: handler, onEnd: onEnd)
        addWatcher(source)
        if includesPresent { source.adoptExecuting(withState { $0.runningOperations }) }
        return source
    }
}
