import Operations

/// An active logger, metrics emitter or tracer of a queue. It works until it is removed or the queue is deallocated.
public struct QueueInstrument: Sendable {
    private let end: @Sendable () -> Void

    init(_ end: @escaping @Sendable () -> Void) { self.end = end }

    /// Stops the recording of operations that are added from now on.
    ///
    /// A tracer and a metrics emitter still complete the operations that they have begun. A logger stops at once. The function
    /// may be called on any thread, any number of times.
    public func remove() { end() }
}

/// A watcher that keeps data of each operation until the operation ends.
protocol OperationInstrument: QueueWatcher {
    associatedtype Note: Sendable
    var active: ActiveOperations<Note> { get }
}

/// The times at which current operations were added and started, with further data of each operation until its end.
///
/// A closed active accepts no more operations. The caller that removes the last entry then removes the watcher.
final class ActiveOperations<Note: Sendable>: Sendable {
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

    /// Adds an operation. Returns false if the active is closed.
    func add(_ operation: Operation, _ note: Note) -> Bool {
        let entry = Entry(added: .now, started: nil, note: note)
        return state.withLock { state in
            guard !state.isClosed else { return false }
            state.entries[ObjectIdentifier(operation)] = entry
            return true
        }
    }

    /// Records the start of an operation. Returns the new entry; nil if the operation is unknown or has already started.
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

    /// Removes the entry of an operation; nil if the operation is unknown. `isLast` is true for the last entry of a closed
    /// active.
    func finish(_ operation: Operation) -> (entry: Entry, isLast: Bool)? {
        state.withLock { state in
            guard let entry = state.entries.removeValue(forKey: ObjectIdentifier(operation)) else { return nil }
            return (entry, state.isClosed && state.entries.isEmpty)
        }
    }

    subscript(operation: Operation) -> Entry? { state.withLock { $0.entries[ObjectIdentifier(operation)] } }

    var isClosed: Bool { state.withLock { $0.isClosed } }

    /// Closes the active. Returns true if it has no entries.
    func close() -> Bool {
        state.withLock { state in
            state.isClosed = true
            return state.entries.isEmpty
        }
    }
}

extension OperationQueue {
    func install(_ watcher: some OperationInstrument) -> QueueInstrument {
        addWatcher(watcher)
        return QueueInstrument { [weak self] in self?.dismiss(watcher) }
    }

    /// Ends the recording of new operations. The watcher still observes the end of the operations that it has begun.
    func dismiss(_ watcher: some OperationInstrument) { if watcher.active.close() { removeWatcher(watcher) } }
}
