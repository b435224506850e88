import KeyValueObserving
import SchedulerCore
import Synchronization

/// A source of events: the only place that makes events. It uses the calls of a queue and, for `ready` and `cancelled`,
/// observations.
///
/// One thread may find an operation ready while another thread starts it. So events are recorded in their order, and one
/// thread at a time reports them.
final class EventSource: QueueWatcher {
    /// The record of an operation. Guarded by the lock of the source, except the constants.
    private final class Entry: @unchecked Sendable {
        let id: UInt64
        let kinds: OperationEvent.Kinds
        let added: ContinuousClock.Instant
        var started: ContinuousClock.Instant?
        var isReady = false
        var isCancelled = false
        var tokens: [NSKeyValueObservation] = []
        /// The events that are not yet reported, the earliest first.
        var pending: [(kind: OperationEvent.Kind, time: ContinuousClock.Instant)] = []
        var isReporting = false

        init(
            id: UInt64, kinds: OperationEvent.Kinds, added: ContinuousClock.Instant = .now,
            started: ContinuousClock.Instant? = nil
        ) {
            self.started = started
            self.id = id
            self.kinds = kinds
            self.added = added
        }

        func takeTokens() -> [NSKeyValueObservation] {
            defer { tokens = [] }
            return tokens
        }

        func note(_ kind: OperationEvent.Kind, at time: ContinuousClock.Instant = .now) {
            if kinds.contains(kind.alone) { pending.append((kind, time)) }
        }

        func noteReady() {
            guard !isReady else { return }
            isReady = true
            note(.ready)
        }

        func noteCancelled() {
            guard !isCancelled else { return }
            isCancelled = true
            note(.cancelled)
        }
    }

    private struct State {
        var entries: [ObjectIdentifier: Entry] = [:]
        var isClosed = false
    }

    private let state = Locked(State())
    private weak let queue: OperationQueue?
    private let kinds: OperationEvent.Kinds
    /// The time from which operations count as added that the queue held before this source; nil to ignore them.
    private let presentSince: ContinuousClock.Instant?
    private let handler: @Sendable (OperationEvent) -> Void
    private let onEnd: @Sendable () -> Void

    init(
        queue: OperationQueue, kinds: OperationEvent.Kinds, includesPresent: Bool = false,
        handler: @escaping @Sendable (OperationEvent) -> Void, onEnd: @escaping @Sendable () -> Void = {}
    ) {
        self.queue = queue
        self.kinds = kinds
        presentSince = includesPresent ? .now : nil
        self.handler = handler
        self.onEnd = onEnd
    }

    deinit { onEnd() }

    func operation(_ operation: Operation, did step: QueueStep) {
        switch step {
        case .wasAdded: begin(operation)
        case .starts: start(operation)
        case .hasFinished: finish(operation)
        }
    }

    func wasRemoved() {
        let tokens = state.withLock { state in
            state.isClosed = true
            defer { state.entries = [:] }
            return state.entries.values.flatMap { $0.takeTokens() }
        }
        for token in tokens { token.invalidate() }
    }

    func queueStalled(_ report: StallReport) {
        if kinds.contains(.stalled) { notify(.stalled(report), of: nil, 0, at: .now) }
    }

    private func begin(_ operation: Operation) {
        let entry = Entry(id: operation.eventID, kinds: kinds)
        let isOpen = state.withLock { state in
            guard !state.isClosed else { return false }
            entry.note(.added, at: entry.added)
            state.entries[ObjectIdentifier(operation)] = entry
            return true
        }
        guard isOpen else { return }
        reportPending(entry, operation)
        observe(operation, entry)
    }

    /// Observes the properties whose changes are events of the requested kinds.
    private func observe(_ operation: Operation, _ entry: Entry) {
        var tokens: [NSKeyValueObservation] = []
        if kinds.contains(.cancelled) {
            tokens.append(
                operation.observe(\.isCancelled) { [weak self] operation, _ in
                    if operation.isCancelled { self?.note(operation) { $0.noteCancelled() } }
                })
        }
        if kinds.contains(.ready) {
            tokens.append(
                operation.observe(\.isReady) { [weak self] operation, _ in
                    if operation.isReady { self?.note(operation) { $0.noteReady() } }
                })
        }
        guard !tokens.isEmpty else { return }
        let isKept = state.withLock { state in
            guard state.entries[ObjectIdentifier(operation)] === entry else { return false }
            entry.tokens = tokens
            return true
        }
        guard isKept else { return tokens.forEach { $0.invalidate() } }
        // The values may have changed before the observations began.
        if kinds.contains(.ready), untracked({ operation.isReady }) { note(operation) { $0.noteReady() } }
        if kinds.contains(.cancelled), untracked({ operation.isCancelled }) { note(operation) { $0.noteCancelled() } }
    }

    private func start(_ operation: Operation) {
        adopt(operation)
        note(operation) { entry in
            guard entry.started == nil else { return }
            entry.noteReady()
            let now = ContinuousClock.now
            entry.started = now
            entry.note(.started, at: now)
        }
    }

    /// Makes an entry for an operation that was in the queue before this source. It is made at the operation's next step, so
    /// operations that only wait cost nothing.
    private func adopt(_ operation: Operation) {
        guard let presentSince else { return }
        let key = ObjectIdentifier(operation)
        guard state.withLock({ !$0.isClosed && $0.entries[key] == nil }) else { return }
        let entry = Entry(id: operation.eventID, kinds: kinds, added: presentSince)
        state.withLock { state in
            if !state.isClosed, state.entries[key] == nil { state.entries[key] = entry }
        }
    }

    /// Makes entries for operations that execute already, with the times of their starts. Called after the source was added.
    func adoptExecuting(_ operations: [Operation]) {
        for operation in operations {
            let started = ContinuousClock.now - (operation.executionTime ?? .zero)
            let entry = Entry(id: operation.eventID, kinds: kinds, added: started, started: started)
            state.withLock { state in
                // The watchers are called after the end is claimed. So the entry of an operation that has not claimed its end is
                // removed later, and another one's might stay forever.
                guard !state.isClosed, !operation.word.lifecycle.hasClaimedEnd else { return }
                let key = ObjectIdentifier(operation)
                if state.entries[key] == nil { state.entries[key] = entry }
            }
        }
    }

    private func finish(_ operation: Operation) {
        adopt(operation)
        let outcome = operation.unseenOutcome
        let finished: (entry: Entry, tokens: [NSKeyValueObservation])? = state.withLock { state in
            guard let entry = state.entries.removeValue(forKey: ObjectIdentifier(operation)) else { return nil }
            let now = ContinuousClock.now
            let waited = (entry.started ?? now) - entry.added
            entry.note(.finished(outcome, waited: waited, ran: entry.started.map { now - $0 }), at: now)
            return (entry, entry.takeTokens())
        }
        guard let (entry, tokens) = finished else { return }
        for token in tokens { token.invalidate() }
        reportPending(entry, operation)
    }

    /// Records and reports an event of an operation that has not finished.
    private func note(_ operation: Operation, _ note: (Entry) -> Void) {
        let entry = state.withLock { state in
            let entry = state.entries[ObjectIdentifier(operation)]
            if let entry { note(entry) }
            return entry
        }
        if let entry { reportPending(entry, operation) }
    }

    /// Reports the recorded events, unless another thread or an outer call of this thread does. That thread then reports
    /// these events too.
    private func reportPending(_ entry: Entry, _ operation: Operation) {
        var isMine = false
        while true {
            let next: (kind: OperationEvent.Kind, time: ContinuousClock.Instant)? = state.withLock { state in
                guard isMine || !entry.isReporting else { return nil }
                isMine = !state.isClosed && !entry.pending.isEmpty
                entry.isReporting = isMine
                return isMine ? entry.pending.removeFirst() : nil
            }
            guard let next else { return }
            notify(next.kind, of: operation, entry.id, at: next.time)
        }
    }

    private func notify(
        _ kind: OperationEvent.Kind, of operation: Operation?, _ id: UInt64, at time: ContinuousClock.Instant
    ) {
        HeldLocks.assertNone()
        handler(OperationEvent(kind, of: operation, id, in: queue, at: time))
    }
}

extension Operation {
    /// The number of the operation in events: ``OperationEvent/operationID``. No other operation of the process has this number.
    ///
    /// The first event of the operation, or the first use of this property, determines it.
    public final var eventID: UInt64 {
        ownAttachments.withExtras { extras in
            if extras.eventID == 0 { extras.eventID = EventNumbers.next() }
            return extras.eventID
        }
    }
}

/// The numbers of operations in events. A number is used once in a process, unlike the address of an operation.
private enum EventNumbers {
    private static let last = Atomic<UInt64>(0)

    static func next() -> UInt64 { last.wrappingAdd(1, ordering: .relaxed).newValue }
}
