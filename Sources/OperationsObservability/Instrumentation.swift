import Operations

/// What watches a queue on behalf of a logger, a metrics factory or a tracer, until it is removed or the queue goes.
public struct QueueInstrument: Sendable {
    private let end: @Sendable () -> Void

    init(_ end: @escaping @Sendable () -> Void) { self.end = end }

    /// Ends the watching of what is added from now on. What a tracer or metrics have begun is brought to its end; a logger
    /// hears no more. Any thread, any number of times.
    public func remove() { end() }
}

/// A watcher that keeps something of each operation until its end.
protocol QueueChronicler: QueueWatcher {
    associatedtype Note: Sendable
    var chronicle: Chronicle<Note> { get }
}

/// When the operations under way were added and started, and whatever else is kept of each until its end.
///
/// Once closed it takes in nothing more. Whoever takes out the last entry then removes the watcher.
final class Chronicle<Note: Sendable>: Sendable {
    struct Entry: Sendable {
        let added: ContinuousClock.Instant
        var started: ContinuousClock.Instant?
        var note: Note
    }

    private struct State {
        var entries: [ObjectIdentifier: Entry] = [:]
        var isClosed = false
    }

    private let state = Locked(State())

    /// False when it is closed.
    func add(_ operation: Operation, _ note: Note) -> Bool {
        let entry = Entry(added: .now, started: nil, note: note)
        return state.withLock { state in
            guard !state.isClosed else { return false }
            state.entries[ObjectIdentifier(operation)] = entry
            return true
        }
    }

    /// Answers the entry as it is now; nil when the operation is not known, or has started.
    func start(_ operation: Operation, _ body: (inout Entry) -> Void = { _ in }) -> Entry? {
        let now = ContinuousClock.now
        return state.withLock { state in
            guard var entry = state.entries[ObjectIdentifier(operation)], entry.started == nil else { return nil }
            entry.started = now
            body(&entry)
            state.entries[ObjectIdentifier(operation)] = entry
            return entry
        }
    }

    /// nil when the operation is not known. `isLast`: it was the last one of a closed chronicle.
    func finish(_ operation: Operation) -> (entry: Entry, isLast: Bool)? {
        state.withLock { state in
            guard let entry = state.entries.removeValue(forKey: ObjectIdentifier(operation)) else { return nil }
            return (entry, state.isClosed && state.entries.isEmpty)
        }
    }

    subscript(operation: Operation) -> Entry? { state.withLock { $0.entries[ObjectIdentifier(operation)] } }

    /// True when nothing is left to be taken out.
    func close() -> Bool {
        state.withLock { state in
            state.isClosed = true
            return state.entries.isEmpty
        }
    }
}

extension OperationQueue {
    func install(_ watcher: some QueueChronicler) -> QueueInstrument {
        addWatcher(watcher)
        return QueueInstrument { [weak self] in self?.dismiss(watcher) }
    }

    /// Lets the watcher see the end of what it has begun.
    func dismiss(_ watcher: some QueueChronicler) { if watcher.chronicle.close() { removeWatcher(watcher) } }
}
