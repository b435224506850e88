public import DurableCore

/// One change of the state of an operation.
public struct DurableEvent: Sendable, Hashable {
    /// The position among the events of the store. A later call of `events(after:)` continues behind the number.
    public let number: Int64
    /// The operation.
    public let operation: OperationID
    /// The name of the operation.
    public let name: String
    /// The queue of the operation.
    public let queue: String
    /// The new state.
    public let state: DurableState
    /// The number of leases of the operation so far.
    public let attempt: Int
    /// The instant of the change, by the database's clock.
    public let instant: DurableInstant
    /// The text of the last error.
    public let reason: String?
}

extension DurableStore {
    /// Returns the changes of all operations, on all machines, in the order of the database.
    ///
    /// The sequence contains each change that is committed after the return. It has no end. The store records changes only
    /// while a sequence exists in any process, and keeps them for `DurableLimits.eventRetention`.
    ///
    /// - Parameter number: The number of an event. The sequence then begins behind that event.
    /// - Throws: `DurableError.eventsMissed`, also from the sequence, if an event after the number is missing. The caller takes
    ///   a new snapshot and begins again.
    public func events(after number: Int64? = nil) async throws -> DurableEvents {
        let last = try await commit { try $0.observeEvents() }
        let start = number ?? last
        _ = try await read { try $0.events(after: start, limit: 1) }
        return DurableEvents(store: self, start: start)
    }
}

/// The changes of the operations of a store. Each iterator returns all changes.
///
/// While the database is away, the sequence waits. A cancellation of the task ends an iteration with `CancellationError`.
public struct DurableEvents: AsyncSequence, Sendable {
    public typealias Element = DurableEvent

    private let recording: Recording
    private let start: Int64

    init(store: any DurableStore, start: Int64) { (recording, self.start) = (Recording(store), start) }

    public func makeAsyncIterator() -> Iterator { Iterator(recording, after: start) }

    /// An iterator over the changes.
    public struct Iterator: AsyncIteratorProtocol {
        private let recording: Recording
        private let listener: Listener
        private var last: Int64
        private var buffer: ArraySlice<DurableEvent> = []

        fileprivate init(_ recording: Recording, after number: Int64) {
            (self.recording, last) = (recording, number)
            listener = Listener(recording.store.notices)
        }

        /// Returns the next change.
        ///
        /// - Throws: `DurableError.eventsMissed`, or `CancellationError`.
        public mutating func next() async throws -> DurableEvent? {
            var backoff = Backoff()
            while buffer.isEmpty {
                try Task.checkCancellation()
                do {
                    buffer = try await recording.events(after: last)[...]
                    if buffer.isEmpty { await listener.wakeup.wait() }
                } catch DurableError.unavailable { try await Task.sleep(for: backoff.next()) }
            }
            let event = buffer.removeFirst()
            last = event.number
            return event
        }
    }
}

/// The recording of events, which continues while the object exists.
private final class Recording: Sendable {
    let store: any DurableStore
    private let renewal: Task<Void, Never>

    init(_ store: any DurableStore) {
        self.store = store
        renewal = Task {
            while !Task.isCancelled {
                try? await Task.sleep(for: DurableMachine.observation / 30)
                // A failure is no error here: the next read reports events that were not recorded.
                _ = try? await store.commit { try $0.observeEvents() }
            }
        }
    }

    deinit { renewal.cancel() }

    func events(after number: Int64) async throws -> [DurableEvent] {
        try await store.read { machine in
            try machine.events(after: number, limit: 256).map { row in
                DurableEvent(
                    number: row.number, operation: row.operation, name: try machine.rows.name(of: row.kind),
                    queue: try machine.rows.queue(row.queue).name, state: row.state, attempt: Int(row.fence),
                    instant: row.at, reason: row.reason)
            }
        }
    }
}

/// A registration for the notices of a store.
private final class Listener: Sendable {
    let wakeup = Wakeup()
    private let notices: StoreNotices
    private let token: Int

    init(_ notices: StoreNotices) {
        self.notices = notices
        token = notices.addListener { [wakeup] _ in wakeup.set() }
    }

    deinit { notices.removeListener(token) }
}
