import KeyValueObserving

/// Something that happened to an operation of a queue, or to the queue; see `OperationQueue.events`.
public struct OperationEvent: Sendable, CustomStringConvertible {
    /// What happened.
    public enum Kind: Sendable {
        /// It was added.
        case added
        /// It is ready: nothing holds it back but the queue, and its conditions and requirements, which are looked at later.
        case ready
        /// The queue is about to start it.
        case started
        /// It has finished. `waited`: from adding to the start, or to the end if it never started; `ran`: from the start.
        case finished(OperationOutcome?, waited: Duration, ran: Duration?)
        /// It was cancelled.
        case cancelled
        /// The queue holds operations none of which can start (rule N3).
        case stalled(StallReport)
    }

    /// What happened.
    public let kind: Kind
    /// The queue's name.
    public let queue: String
    /// Type and name, or address, of the operation; empty for `stalled`.
    public let operation: String
    /// Tells operations of one name apart. 0 for `stalled`.
    public let operationID: UInt64
    /// When it happened.
    public let time: ContinuousClock.Instant

    public var description: String {
        switch kind {
        case .added: "\(operation) was added to '\(queue)'"
        case .ready: "\(operation) is ready"
        case .started: "\(operation) starts"
        case .finished(let outcome, let waited, let ran):
            "\(operation) \(outcome?.description ?? "has finished") after waiting \(waited)"
                + (ran.map { " and running \($0)" } ?? "")
        case .cancelled: "\(operation) was cancelled"
        case .stalled(let report): report.description
        }
    }
}

extension OperationQueue {
    /// What happens to the operations that are added from now on, as it happens.
    ///
    /// Each use makes a stream of its own, which keeps what is not taken and ends when the queue is gone. Of one operation the
    /// events come in the order added, ready, started, finished; each at most once, and `cancelled` at any place before the
    /// last. A queue that nobody follows pays nothing; one that is followed makes an observation of each operation.
    public final var events: AsyncStream<OperationEvent> { events(bufferingPolicy: .unbounded) }

    /// `events` for a reader that may be slow.
    ///
    /// - Parameter policy: What is kept of what is not taken yet. A policy with a limit drops events; an operation's events
    ///   are then incomplete.
    public final func events(
        bufferingPolicy policy: AsyncStream<OperationEvent>.Continuation.BufferingPolicy
    ) -> AsyncStream<OperationEvent> {
        let (stream, continuation) = AsyncStream.makeStream(of: OperationEvent.self, bufferingPolicy: policy)
        let source = addEventHandler {
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

    /// The same for a handler, until the watcher that it answers is removed. Called on the thread on which it happens, or on
    /// the one that is just telling of the same operation.
    ///
    /// - Parameter onEnd: Called when the queue is gone, or the watcher is removed and released.
    package final func addEventHandler(
        _ handler: @escaping @Sendable (OperationEvent) -> Void, onEnd: @escaping @Sendable () -> Void = {}
    ) -> any QueueWatcher {
        let source = EventSource(queue: self, handler: handler, onEnd: onEnd)
        addWatcher(source)
        return source
    }
}

/// Makes events of what a watcher is told, and of what it observes.
///
/// An operation may be found ready by one thread and started by another, which is not told last for that: what has happened
/// is noted in its order, and told by one thread at a time.
final class EventSource: QueueWatcher {
    /// What is known of an operation. Guarded by the lock of the source.
    private final class Entry: @unchecked Sendable {
        let id: UInt64
        let added = ContinuousClock.now
        var started: ContinuousClock.Instant?
        var isReady = false
        var tokens: [NSKeyValueObservation] = []
        /// What is still to be told, the earliest first.
        var untold: [(kind: OperationEvent.Kind, time: ContinuousClock.Instant)] = []
        var isBeingTold = false

        init(id: UInt64) { self.id = id }

        func takeTokens() -> [NSKeyValueObservation] {
            defer { tokens = [] }
            return tokens
        }

        func note(_ kind: OperationEvent.Kind, at time: ContinuousClock.Instant = .now) { untold.append((kind, time)) }

        func noteReady() {
            guard !isReady else { return }
            isReady = true
            note(.ready)
        }
    }

    private struct State {
        var lastID: UInt64 = 0
        var entries: [ObjectIdentifier: Entry] = [:]
        var isClosed = false
    }

    private let state = Locked(State())
    private weak let queue: OperationQueue?
    private let handler: @Sendable (OperationEvent) -> Void

    private let onEnd: @Sendable () -> Void

    init(
        queue: OperationQueue, handler: @escaping @Sendable (OperationEvent) -> Void,
        onEnd: @escaping @Sendable () -> Void
    ) {
        self.queue = queue
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

    func queueStalled(_ report: StallReport) { tell(.stalled(report), "", 0, .now) }

    private func begin(_ operation: Operation) {
        let entry: Entry? = state.withLock { state in
            guard !state.isClosed else { return nil }
            state.lastID += 1
            let entry = Entry(id: state.lastID)
            entry.note(.added, at: entry.added)
            state.entries[ObjectIdentifier(operation)] = entry
            return entry
        }
        guard let entry else { return }
        tellUntold(entry, operation)
        let tokens = [
            operation.observe(\.isCancelled) { [weak self] operation, _ in
                if operation.isCancelled { self?.note(operation) { $0.note(.cancelled) } }
            },
            operation.observe(\.isReady) { [weak self] operation, _ in
                if operation.isReady { self?.note(operation) { $0.noteReady() } }
            },
        ]
        let isKept = state.withLock { state in
            guard state.entries[ObjectIdentifier(operation)] === entry else { return false }
            entry.tokens = tokens
            return true
        }
        guard isKept else { return tokens.forEach { $0.invalidate() } }
        if untracked({ operation.isReady }) { note(operation) { $0.noteReady() } }
    }

    private func start(_ operation: Operation) {
        note(operation) { entry in
            guard entry.started == nil else { return }
            entry.noteReady()
            let now = ContinuousClock.now
            entry.started = now
            entry.note(.started, at: now)
        }
    }

    private func finish(_ operation: Operation) {
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
        tellUntold(entry, operation)
    }

    /// Notes, and tells of, something that has happened to an operation that has not finished.
    private func note(_ operation: Operation, _ note: (Entry) -> Void) {
        let entry = state.withLock { state in
            let entry = state.entries[ObjectIdentifier(operation)]
            if let entry { note(entry) }
            return entry
        }
        if let entry { tellUntold(entry, operation) }
    }

    /// Tells what was noted, unless another thread does, or this one further up: that one tells this as well.
    private func tellUntold(_ entry: Entry, _ operation: Operation) {
        var isMine = false
        while true {
            let next: (kind: OperationEvent.Kind, time: ContinuousClock.Instant)? = state.withLock { state in
                guard isMine || !entry.isBeingTold else { return nil }
                isMine = !state.isClosed && !entry.untold.isEmpty
                entry.isBeingTold = isMine
                return isMine ? entry.untold.removeFirst() : nil
            }
            guard let next else { return }
            tell(next.kind, operation.label, entry.id, next.time)
        }
    }

    private func tell(_ kind: OperationEvent.Kind, _ label: String, _ id: UInt64, _ time: ContinuousClock.Instant) {
        HeldLocks.assertNone()
        handler(
            OperationEvent(kind: kind, queue: queue?.name ?? "", operation: label, operationID: id, time: time))
    }
}
