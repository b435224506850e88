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
    /// Each use makes a stream of its own; what is not taken is kept. Of one operation the events come in the order added,
    /// ready, started, finished; each at most once, and `cancelled` at any place before the last. A queue that nobody
    /// follows pays nothing; one that is followed makes an observation of each operation.
    public final var events: AsyncStream<OperationEvent> {
        let (stream, continuation) = AsyncStream.makeStream(of: OperationEvent.self)
        let source = addEventHandler { continuation.yield($0) }
        continuation.onTermination = { [weak self] _ in self?.removeWatcher(source) }
        return stream
    }

    /// The same for a handler, called on the thread on which it happens, until the watcher that it answers is removed.
    package final func addEventHandler(_ handler: @escaping @Sendable (OperationEvent) -> Void) -> any QueueWatcher {
        let source = EventSource(queue: self, handler: handler)
        addWatcher(source)
        return source
    }
}

/// Makes events of what a watcher is told, and of what it observes.
final class EventSource: QueueWatcher {
    private struct Entry {
        let id: UInt64
        let added: ContinuousClock.Instant
        var started: ContinuousClock.Instant?
        var isReadyTold = false
        var tokens: [NSKeyValueObservation] = []
    }

    private struct State {
        var lastID: UInt64 = 0
        var entries: [ObjectIdentifier: Entry] = [:]
        var isClosed = false
    }

    private let state = Locked(State())
    private weak let queue: OperationQueue?
    private let handler: @Sendable (OperationEvent) -> Void

    init(queue: OperationQueue, handler: @escaping @Sendable (OperationEvent) -> Void) {
        self.queue = queue
        self.handler = handler
    }

    func operation(_ operation: Operation, did step: QueueStep) {
        switch step {
        case .wasAdded: begin(operation)
        case .starts: start(operation)
        case .hasFinished: finish(operation)
        }
    }

    func wasRemoved() {
        let entries = state.withLock { state in
            state.isClosed = true
            defer { state.entries = [:] }
            return state.entries
        }
        for entry in entries.values { for token in entry.tokens { token.invalidate() } }
    }

    func queueStalled(_ report: StallReport) { tell(.stalled(report), "", 0, .now) }

    private func begin(_ operation: Operation) {
        let now = ContinuousClock.now
        let id: UInt64? = state.withLock { state in
            guard !state.isClosed else { return nil }
            state.lastID += 1
            state.entries[ObjectIdentifier(operation)] = Entry(id: state.lastID, added: now)
            return state.lastID
        }
        guard let id else { return }
        tell(.added, operation.label, id, now)
        let tokens = [
            operation.observe(\.isCancelled) { [weak self] operation, _ in
                guard operation.isCancelled, let id = self?.id(of: operation) else { return }
                self?.tell(.cancelled, operation.label, id, .now)
            },
            operation.observe(\.isReady) { [weak self] operation, _ in
                if operation.isReady { self?.noteReady(operation) }
            },
        ]
        let isKept = state.withLock { state in
            state.entries[ObjectIdentifier(operation)]?.tokens = tokens
            return state.entries[ObjectIdentifier(operation)] != nil
        }
        guard isKept else { return tokens.forEach { $0.invalidate() } }
        if untracked({ operation.isReady }) { noteReady(operation) }
    }

    private func noteReady(_ operation: Operation) {
        let id: UInt64? = state.withLock { state in
            guard let entry = state.entries[ObjectIdentifier(operation)], !entry.isReadyTold else { return nil }
            state.entries[ObjectIdentifier(operation)]?.isReadyTold = true
            return entry.id
        }
        if let id { tell(.ready, operation.label, id, .now) }
    }

    private func start(_ operation: Operation) {
        noteReady(operation)
        let now = ContinuousClock.now
        let id: UInt64? = state.withLock { state in
            guard let entry = state.entries[ObjectIdentifier(operation)], entry.started == nil else { return nil }
            state.entries[ObjectIdentifier(operation)]?.started = now
            return entry.id
        }
        if let id { tell(.started, operation.label, id, now) }
    }

    private func finish(_ operation: Operation) {
        let now = ContinuousClock.now
        guard let entry = state.withLock({ $0.entries.removeValue(forKey: ObjectIdentifier(operation)) }) else {
            return
        }
        for token in entry.tokens { token.invalidate() }
        let finished = OperationEvent.Kind.finished(
            operation.unseenOutcome, waited: (entry.started ?? now) - entry.added,
            ran: entry.started.map { now - $0 })
        tell(finished, operation.label, entry.id, now)
    }

    private func id(of operation: Operation) -> UInt64? {
        state.withLock { $0.entries[ObjectIdentifier(operation)]?.id }
    }

    private func tell(_ kind: OperationEvent.Kind, _ label: String, _ id: UInt64, _ time: ContinuousClock.Instant) {
        HeldLocks.assertNone()
        handler(
            OperationEvent(kind: kind, queue: queue?.name ?? "", operation: label, operationID: id, time: time))
    }
}
