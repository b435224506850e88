public import Operations

/// A recorder of the events of queues' operations, with their times.
///
/// ```swift
/// let recorder = OperationRecorder(clock)
/// recorder.record(queue)
/// …
/// print(recorder.timeline)
/// ```
///
/// ```text
/// 0s          fetch   added
/// 0s          fetch   starts
/// 1.5s        fetch   succeeded
/// ```
public final class OperationRecorder: Sendable {
    private let recorded = Locked<[(time: Duration, event: OperationEvent)]>([])
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

    /// Records the events `added`, `started` and `finished` of operations that are added to a queue from now on, until
    /// ``stop()``.
    ///
    /// Recording the same queue again has no effect. The queue does not keep the recorder alive.
    public func record(_ queue: OperationQueue) {
        queues.record(queue, for: .steps) { [weak self] in self?.add($0) }
    }

    /// Stops the recording of all queues.
    public func stop() { queues.stop() }

    /// All events in order, each with its time on the recorder's clock. The times in an event itself are real times.
    public var events: [(time: Duration, event: OperationEvent)] { recorded.withLock { $0 } }

    /// The events as text, with one line for each event: the time, the operation and the kind.
    public var timeline: String {
        let events = events
        let times = events.map { "\($0.time.formattedSeconds)s" }
        let names = events.map(\.event.shortName)
        let timeWidth = (times.map(\.count).max() ?? 0) + 2
        let nameWidth = (names.map(\.count).max() ?? 0) + 2
        return events.indices.map { index in
            times[index].padded(to: timeWidth) + names[index].padded(to: nameWidth) + "\(events[index].event.kind)"
        }.joined(separator: "\n")
    }

    private func add(_ event: OperationEvent) {
        let time = time()
        recorded.withLock { $0.append((time, event)) }
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
