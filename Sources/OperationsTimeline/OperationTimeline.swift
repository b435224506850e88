public import Operations

/// A record of the times at which operations waited and ran, for a trace viewer or a browser.
///
/// ```swift
/// let timeline = OperationTimeline()
/// timeline.record(queue)
/// …
/// try timeline.chromeTrace().write(to: url)       // Perfetto, chrome://tracing
/// try timeline.htmlTimeline().write(to: url, …)   // any browser, without anything else
/// ```
///
/// A timeline stores a few values for each operation, for at most 100,000 operations by default. Recording ends with ``stop()``,
/// or when the timeline is released.
public final class OperationTimeline: Sendable {
    /// The times and the outcome of one operation. Times are relative to the creation of the timeline.
    public struct Span: Sendable, Codable, Equatable {
        /// The operation's name, or its type if it has no name.
        public var name: String
        /// The name of the queue; empty if the queue has no name.
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
        var span: Span
        /// An operation that is recorded without its queue. It may be deallocated without having finished.
        weak var operation: Operation?
        var isOfQueue: Bool
        var tokens: [NSKeyValueObservation] = []
    }

    fileprivate struct State {
        var entries: [Int: Entry] = [:]
        var ids: [ObjectIdentifier: Int] = [:]
        /// The lowest identifier that may be in use.
        var firstID = 1
        var lastID = 0
        var dropped = 0
    }

    private let state = Locked(State())
    private let queues = RecordedQueues()
    private let begin = ContinuousClock.now
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
        let name = queue.name ?? ""
        // Weak: a timeline without references cannot be read any more.
        queues.record(queue) { [weak self] operation, step in self?.record(step, of: operation, inQueue: name) }
    }

    /// Records one operation that is not in a recorded queue, under the given name of a queue.
    ///
    /// The operation may already have started or finished.
    public func record(_ operation: Operation, asIn queue: String) {
        guard let id = begin(operation, queue, isOfQueue: false) else { return }
        let tokens = [
            operation.observe(\.isExecuting) { [weak self] operation, _ in
                if operation.isExecuting { self?.start(operation) }
            },
            operation.observe(\.isFinished) { [weak self] operation, _ in
                if operation.isFinished { self?.finish(operation) }
            },
        ]
        keep(tokens, of: operation, id)
        if operation.isExecuting { start(operation) }
        if operation.isFinished { finish(operation) }
    }

    /// Stops the recording. The timeline keeps its spans, and a span that has not finished stays unfinished.
    public func stop() {
        queues.stop()
        let tokens = state.withLock { state in
            let tokens = state.entries.values.flatMap(\.tokens)
            for id in state.ids.values { state.entries[id]?.tokens = [] }
            state.ids = [:]
            return tokens
        }
        for token in tokens { token.invalidate() }
    }

    /// The recorded spans, in the order in which the operations were added.
    public var spans: [Span] {
        // Sort without the lock.
        state.withLock { $0.entries.map { (id: $0.key, span: $0.value.span) } }.sorted { $0.id < $1.id }.map(\.span)
    }

    /// The number of operations that the timeline has dropped, because there were more than ``limit``.
    public var droppedSpanCount: Int { state.withLock { $0.dropped } }

    // MARK: - Recording

    private var now: Duration { ContinuousClock.now - begin }

    private func record(_ step: QueueStep, of operation: Operation, inQueue queue: String) {
        switch step {
        case .wasAdded: begin(operation, queue, isOfQueue: true)
        case .starts: start(operation)
        case .hasFinished: finish(operation)
        }
    }

    /// Begins a span; returns nil if the operation already has one.
    @discardableResult
    private func begin(_ operation: Operation, _ queue: String, isOfQueue: Bool) -> Int? {
        let span = Span(
            name: operation.name ?? "\(type(of: operation))", queue: queue, added: now, outcome: "has not finished",
            isSuccess: false)
        let limit = limit
        let (id, dropped): (Int?, Entry?) = state.withLock { state in
            if let known = state.ids[ObjectIdentifier(operation)].flatMap({ state.entries[$0] }),
                known.isOfQueue || known.operation === operation
            {
                return (nil, nil)
            }
            state.lastID += 1
            state.ids[ObjectIdentifier(operation)] = state.lastID
            state.entries[state.lastID] = Entry(
                span: span, operation: isOfQueue ? nil : operation, isOfQueue: isOfQueue)
            return (state.lastID, state.entries.count > limit ? state.dropFirst() : nil)
        }
        for token in dropped?.tokens ?? [] { token.invalidate() }
        return id
    }

    /// Keeps the observations until the operation has finished. If it has already finished, or the recording was stopped, the
    /// function ends the observations.
    private func keep(_ tokens: [NSKeyValueObservation], of operation: Operation, _ id: Int) {
        let isOver = state.withLock { state in
            guard state.ids[ObjectIdentifier(operation)] == id, state.entries[id] != nil else { return true }
            state.entries[id]?.tokens = tokens
            return false
        }
        if isOver { for token in tokens { token.invalidate() } }
    }

    private func start(_ operation: Operation) {
        let now = now
        change(operation) { if $0.started == nil { $0.started = now } }
    }

    private func finish(_ operation: Operation) {
        let now = now
        let outcome = operation.unseenOutcome
        change(operation) { span in
            span.finished = now
            span.outcome = outcome?.description ?? "finished"
            if case .failed(let error as any Ending) = outcome { span.outcome = error.ending }
            if case .succeeded = outcome { span.isSuccess = true }
        }
        // The next operation may have the address of this operation.
        let entry = state.withLock { state in
            let id = state.ids.removeValue(forKey: ObjectIdentifier(operation))
            defer { if let id { state.entries[id]?.tokens = [] } }
            return id.flatMap { state.entries[$0] }
        }
        for token in entry?.tokens ?? [] { token.invalidate() }
    }

    private func change(_ operation: Operation, _ change: (inout Span) -> Void) {
        state.withLock { state in
            guard let id = state.ids[ObjectIdentifier(operation)], var span = state.entries[id]?.span else { return }
            change(&span)
            state.entries[id]?.span = span
        }
    }
}

extension OperationTimeline.State {
    /// Removes the earliest entry. Amortized O(1), because the search passes each number once.
    fileprivate mutating func dropFirst() -> OperationTimeline.Entry? {
        while firstID < lastID {
            firstID += 1
            guard let entry = entries.removeValue(forKey: firstID - 1) else { continue }
            dropped += 1
            return entry
        }
        return nil
    }
}
