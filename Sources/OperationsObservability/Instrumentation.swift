import Operations

/// What watches a queue on behalf of a logger, a metrics factory or a tracer, until it is removed or the queue goes.
public struct QueueInstrument: Sendable {
    private let end: @Sendable () -> Void

    init(_ end: @escaping @Sendable () -> Void) { self.end = end }

    /// Ends the watching. What was said of operations so far stays said; of those under way nothing more is. Any thread, any
    /// number of times.
    public func remove() { end() }
}

extension OperationQueue {
    func install(_ watcher: some QueueWatcher) -> QueueInstrument {
        addWatcher(watcher)
        return QueueInstrument { [weak self] in self?.removeWatcher(watcher) }
    }
}
