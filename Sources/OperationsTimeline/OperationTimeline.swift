public import Operations

/// A record of the times at which operations waited and ran, for a trace viewer or a browser.
///
/// ```swift
/// let timeline = OperationTimeline()
/// timeline.record(queue)
/// …
/// try timeline.chromeTrace().write(to: trace)   // for Perfetto and chrome://tracing
/// try timeline.htmlTimeline().write(to: page, atomically: true, encoding: .utf8)   // for any browser
/// ```
///
/// A timeline stores a few values for each operation, for at most 100,000 operations by default. Recording ends with ``stop()``,
/// or when the timeline is released.
public final class OperationTimeline: Sendable {
    /// The times and the outcome of one operation. Times are relative to the creation of the timeline.
    public struct Span: Sendable, Codable, Equatable {
        /// The operation's name, or its type if it has no name.
        public var name: String
        /// The name of the queue when the operation was added; empty if the queue had no name.
        public var queue: String
        /// The time at which the operation was added to its queue, or at which its recording began.
        public var added: Duration
        /// The start; nil if the operation has not started.
        public var started: Duration?
        /// The end; nil if the operation has not finished.
        public var finished: Duration?
        /// A description of the outcome.
        public var outcome: String
        /// Whether the operation succeeded.
        public var isSuccess: Bool
    }

    /// An error with its own description of the end of an operation. A span has the description in place of "failed: …".
    public protocol Ending: Error {
        /// The end of the operation, such as "skipped: no input".
        var ending: String { get }
    }

    fileprivate struct Entry {
        let id: UInt64
        var span: Span
        /// The observations of an operation that is recorded without its queue, until its end.
        var tokens: [NSKeyValueObservation] = []
    }

    fileprivate struct State {
        /// The latest entries. When there are as many as the limit, each new entry replaces the earliest one.
        var entries: [Entry] = []
        /// The places of the entries, by the numbers of their operations. ``OperationTimeline/stop()`` removes all.
        var places: [UInt64: Int] = [:]
        /// The number of operations that were recorded, dropped ones included.
        var count = 0
    }

    private let state = Locked(State())
    private let queues = RecordedQueues()
    private let epoch = ContinuousClock.now
    /// The maximum number of operations that the timeline keeps.
    public let limit: Int

    /// Creates a timeline.
    ///
    /// - Parameter limit: The maximum number of operations that the timeline keeps. When there are more, the timeline drops the
    ///   earliest ones; see ``droppedSpanCount``.
    public init(limit: Int = 100_000) { self.limit = max(limit, 1) }

    deinit { stop() }

    /// Records the operations that are added to the queue from now on, until ``stop()`` or the release of the timeline.
    ///
    /// Recording the same queue again has no effect.
    public func record(_ queue: OperationQueue) {
        // Weak: a timeline without references cannot be read any more.
        queues.record(queue, for: .steps) { [weak self] in self?.record($0) }
    }

    /// Records one operation that is not in a recorded queue, under the given name of a queue.
    ///
    /// The operation may already have started or finished. Recording the same operation again has no effect.
    public func record(_ operation: Operation, asIn queue: String) {
        let id = operation.eventID
        guard begin(id, operation.shortName, queue, at: .now) else { return }
        let tokens = [
            operation.observe(\.isExecuting) { [weak self] operation, _ in
                if operation.isExecuting { self?.start(id) }
            },
            operation.observe(\.isFinished) { [weak self] operation, _ in
                if operation.isFinished { self?.finish(id, operation.unseenOutcome) }
            },
        ]
        keep(tokens, id)
        if operation.isExecuting { start(id) }
        if operation.isFinished { finish(id, operation.unseenOutcome) }
    }

    /// Stops the recording. The timeline keeps its spans, and a span that has not finished stays unfinished.
    public func stop() {
        queues.stop()
        let tokens = state.withLock { state in
            let tokens = state.entries.flatMap(\.tokens)
            for place in state.places.values { state.entries[place].tokens = [] }
            state.places = [:]
            return tokens
        }
        for token in tokens { token.invalidate() }
    }

    /// The recorded spans, in the order in which the operations were added.
    public var spans: [Span] {
        let (entries, count) = state.withLock { ($0.entries, $0.count) }
        guard !entries.isEmpty else { return [] }
        let first = count % entries.count
        return (entries[first...] + entries[..<first]).map(\.span)
    }

    /// The number of operations that the timeline has dropped, because there were more than ``limit``.
    public var droppedSpanCount: Int { state.withLock { $0.count - $0.entries.count } }

    // MARK: - Recording

    private func record(_ event: OperationEvent) {
        switch event.kind {
        case .added: begin(event.operationID, event.shortName, event.queue, at: event.time)
        case .started: start(event.operationID, at: event.time)
        case .finished(let outcome, _, _): finish(event.operationID, outcome, at: event.time)
        case .ready, .cancelled, .stalled: break
        }
    }

    /// Begins a span. Returns false if the operation already has a span.
    @discardableResult
    private func begin(_ id: UInt64, _ name: String, _ queue: String, at time: ContinuousClock.Instant) -> Bool {
        let span = Span(
            name: name, queue: queue, added: time - epoch, outcome: "has not finished", isSuccess: false)
        let (isNew, dropped): (Bool, Entry?) = state.withLock { state in
            guard state.places[id] == nil else { return (false, nil) }
            return (true, state.append(Entry(id: id, span: span), limit: limit))
        }
        for token in dropped?.tokens ?? [] { token.invalidate() }
        return isNew
    }

    /// Keeps the observations until the operation has finished. If it has already finished, or the recording was stopped, the
    /// function ends the observations.
    private func keep(_ tokens: [NSKeyValueObservation], _ id: UInt64) {
        let isKept = state.withLock { state in
            guard let place = state.places[id], state.entries[place].span.finished == nil else { return false }
            state.entries[place].tokens = tokens
            return true
        }
        if !isKept { for token in tokens { token.invalidate() } }
    }

    private func start(_ id: UInt64, at time: ContinuousClock.Instant = .now) {
        state.withLock { state in
            // The operation may have ended on another thread since this one saw it execute.
            guard let place = state.places[id], state.entries[place].span.started == nil,
                state.entries[place].span.finished == nil
            else { return }
            state.entries[place].span.started = time - epoch
        }
    }

    private func finish(_ id: UInt64, _ outcome: OperationOutcome?, at time: ContinuousClock.Instant = .now) {
        // Without the lock, because errors have descriptions of their own.
        let ending = (outcome?.failure as? any Ending)?.ending ?? outcome?.description ?? "finished"
        let tokens: [NSKeyValueObservation] = state.withLock { state in
            guard let place = state.places[id], state.entries[place].span.finished == nil else { return [] }
            state.entries[place].span.finished = time - epoch
            state.entries[place].span.outcome = ending
            state.entries[place].span.isSuccess = outcome?.isSucceeded ?? false
            defer { state.entries[place].tokens = [] }
            return state.entries[place].tokens
        }
        for token in tokens { token.invalidate() }
    }
}

extension OperationTimeline.State {
    /// Adds an entry. Returns the entry that it replaces: the earliest one, if there are as many as the limit. O(1).
    fileprivate mutating func append(_ entry: OperationTimeline.Entry, limit: Int) -> OperationTimeline.Entry? {
        let place = count % limit
        count += 1
        var dropped: OperationTimeline.Entry?
        if entries.count < limit {
            entries.append(entry)
        } else {
            dropped = entries[place]
            entries[place] = entry
        }
        // If the recording was stopped meanwhile, the operation of the dropped entry may have a later entry too.
        if let id = dropped?.id, places[id] == place { places[id] = nil }
        places[entry.id] = place
        return dropped
    }
}
