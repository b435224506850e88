import Operations
import Synchronization

/// When the operations under way were added and started, and whatever else is kept of each until its end.
struct OperationTimes<Note: Sendable>: Sendable {
    struct Entry: Sendable {
        let added: ContinuousClock.Instant
        var started: ContinuousClock.Instant?
        var note: Note
    }

    private var entries: [ObjectIdentifier: Entry] = [:]

    mutating func add(_ operation: Operation, _ note: Note) {
        entries[ObjectIdentifier(operation)] = Entry(added: .now, started: nil, note: note)
    }

    /// Answers the entry as it is now; nil when the operation was added before, or has started.
    mutating func start(_ operation: Operation, _ body: (inout Entry) -> Void = { _ in }) -> Entry? {
        guard var entry = entries[ObjectIdentifier(operation)], entry.started == nil else { return nil }
        entry.started = .now
        body(&entry)
        entries[ObjectIdentifier(operation)] = entry
        return entry
    }

    /// nil when the operation was added before.
    mutating func finish(_ operation: Operation) -> Entry? { entries.removeValue(forKey: ObjectIdentifier(operation)) }

    subscript(operation: Operation) -> Entry? { entries[ObjectIdentifier(operation)] }
}
