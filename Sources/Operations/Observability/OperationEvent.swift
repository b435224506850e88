/// An event of an operation of a queue, or of the queue. See `OperationQueue.events`.
public struct OperationEvent: Sendable, CustomStringConvertible {
    /// The kind of an event.
    public enum Kind: Sendable, CustomStringConvertible {
        /// The operation was added.
        case added
        /// The operation is ready. Its conditions and requirements are tested later.
        case ready
        /// The queue is about to start the operation. An operation that was cancelled while it waited has this event too, although its
        /// work does not run.
        case started
        /// The operation has finished.
        ///
        /// `waited` is the time from the addition to the start, or to the end if the operation never started. `ran` is
        /// the time since the start.
        case finished(OperationOutcome?, waited: Duration, ran: Duration?)
        /// The operation was cancelled.
        case cancelled
        /// The queue holds operations and cannot start any of them.
        case stalled(StallReport)

        /// The kind in a few words, without times: the outcome of an operation that has finished.
        public var description: String {
            switch self {
            case .added: "added"
            case .ready: "ready"
            case .started: "starts"
            case .finished(let outcome, _, _): outcome?.description ?? "finished"
            case .cancelled: "cancelled"
            case .stalled: "stalled"
            }
        }
    }

    /// The kind of the event.
    public let kind: Kind
    /// The queue's name.
    public let queue: String
    /// A number that identifies the operation in all events of the process; 0 for `stalled`.
    public let operationID: UInt64
    /// The time of the event.
    public let time: ContinuousClock.Instant
    private let label: OperationLabel?

    /// Creates an event. Called without a lock, because it reads the operation's name.
    init(
        _ kind: Kind, of operation: Operation?, _ operationID: UInt64, in queue: OperationQueue?,
        at time: ContinuousClock.Instant
    ) {
        self.kind = kind
        self.queue = queue?.name ?? ""
        self.operationID = operationID
        self.time = time
        label = operation.map { OperationLabel(of: $0) }
    }

    /// The type of the operation, and its name or address; empty for `stalled`.
    public var operation: String { label?.description ?? "" }

    /// The operation's name; nil for an operation without a name, and for `stalled`.
    public var name: String? { label?.name }

    /// The operation's name, or its type if it has no name; empty for `stalled`.
    ///
    /// Unlike ``operation``, the text has no address, so it is the same in each run.
    public var shortName: String { label?.shortName ?? "" }

    public var description: String {
        switch kind {
        case .added: "\(operation) was added to '\(queue.onOneLine)'"
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

extension OperationEvent {
    /// A set of kinds of events, for a handler that needs only some of them.
    package struct Kinds: OptionSet, Sendable {
        package let rawValue: UInt8

        package init(rawValue: UInt8) { self.rawValue = rawValue }

        package static let added = Kinds(rawValue: 1 << 0)
        /// A source of these events observes `isReady` of each operation.
        package static let ready = Kinds(rawValue: 1 << 1)
        package static let started = Kinds(rawValue: 1 << 2)
        package static let finished = Kinds(rawValue: 1 << 3)
        /// A source of these events observes `isCancelled` of each operation.
        package static let cancelled = Kinds(rawValue: 1 << 4)
        package static let stalled = Kinds(rawValue: 1 << 5)

        /// The steps of each operation through its queue. A source of these events observes no operation.
        package static let steps: Kinds = [.added, .started, .finished]
        package static let all: Kinds = [.steps, .ready, .cancelled, .stalled]
    }
}

extension OperationEvent.Kind {
    /// The set of this kind alone.
    var alone: OperationEvent.Kinds {
        switch self {
        case .added: .added
        case .ready: .ready
        case .started: .started
        case .finished: .finished
        case .cancelled: .cancelled
        case .stalled: .stalled
        }
    }
}
