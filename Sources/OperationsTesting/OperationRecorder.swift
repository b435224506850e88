public import Operations

/// A recorder of the events of queues' operations, with their times.
///
///     let recorder = OperationRecorder(clock)
///     recorder.record(queue)
///     …
///     print(recorder.timeline)
///
///     0s          fetch   added
///     0s          fetch   starts
///     1.5s        fetch   succeeded
public final class OperationRecorder: Sendable {
    /// One event of an operation.
    public struct Event: Sendable, CustomStringConvertible {
        /// The kinds of event.
        public enum Kind: Sendable {
            case added, started
            case finished(OperationOutcome?)
        }

        /// The time of the event on the recorder's clock.
        public let time: Duration
        /// The operation's name, or its type if it has no name.
        public let operation: String
        /// The kind of the event.
        public let kind: Kind

        /// The kind of the event, in a word.
        public var what: String {
            switch kind {
            case .added: "added"
            case .started: "starts"
            case .finished(let outcome): outcome?.description ?? "finished"
            }
        }

        public var description: String { "\(operation) \(what)" }
    }

    private let recorded = Locked<[Event]>([])
    private let queues = RecordedQueues()
    private let time: @Sendable () -> Duration

    /// Creates a recorder with the time of a clock.
    ///
    /// - Parameter clock: The clock.
    public convenience init(_ clock: VirtualClock) {
        self.init { clock.now.offset }
    }

    /// Creates a recorder with a function that returns the time.
    ///
    /// - Parameter time: Returns the time since the start of the recording.
    public init(time: @escaping @Sendable () -> Duration) { self.time = time }

    /// Records the events of operations that are added to a queue from now on, until ``stop()``.
    ///
    /// Recording the same queue again has no effect. The queue does not keep the recorder alive.
    public func record(_ queue: OperationQueue) {
        queues.record(queue) { [weak self] operation, step in self?.add(operation, step) }
    }

    /// Stops the recording of all queues.
    public func stop() { queues.stop() }

    /// All events, in order.
    public var events: [Event] { recorded.withLock { $0 } }

    /// The events as text, with one line for each event: the time, the operation and the kind.
    public var timeline: String {
        let events = events
        let times = events.map { "\($0.time.formattedSeconds)s" }
        let timeWidth = (times.map(\.count).max() ?? 0) + 2
        let nameWidth = (events.map(\.operation.count).max() ?? 0) + 2
        return zip(times, events).map { time, event in
            time.padded(to: timeWidth) + event.operation.padded(to: nameWidth) + event.what
        }.joined(separator: "\n")
    }

    private func add(_ operation: Operation, _ step: QueueStep) {
        let kind: Event.Kind =
            switch step {
            case .wasAdded: .added
            case .starts: .started
            case .hasFinished: .finished(operation.unseenOutcome)
            }
        let event = Event(time: time(), operation: operation.name ?? "\(type(of: operation))", kind: kind)
        recorded.withLock { $0.append(event) }
    }
}

extension String {
    fileprivate func padded(to width: Int) -> String { self + String(repeating: " ", count: max(0, width - count)) }
}

extension Duration {
    /// The seconds with as many decimals as necessary, at most nine.
    var formattedSeconds: String {
        let (seconds, attoseconds) = components
        let nanoseconds = attoseconds / 1_000_000_000
        guard nanoseconds != 0 else { return "\(seconds)" }
        var decimals = String(nanoseconds.magnitude)
        decimals = String(repeating: "0", count: 9 - decimals.count) + decimals
        while decimals.last == "0" { decimals.removeLast() }
        return "\(seconds).\(decimals)"
    }
}
