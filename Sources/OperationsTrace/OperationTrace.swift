public import Operations

/// Records when operations waited and ran, for a look at them in a trace viewer or a browser.
///
///     let trace = OperationTrace()
///     trace.record(queue)
///     …
///     try trace.chromeTrace().write(to: url)       // Perfetto, chrome://tracing
///     try trace.htmlTimeline().write(to: url, …)   // any browser, without anything else
///
/// It holds a few lines of each operation, of 100,000 at most unless told otherwise. Recording ends with ``stop()``, or when
/// the trace is released.
public final class OperationTrace: Sendable {
    /// What became of one operation. Times are since the trace was made.
    public struct Span: Sendable, Codable, Equatable {
        public var name: String
        public var queue: String
        public var added: Duration
        /// nil: it never started.
        public var started: Duration?
        /// nil: it had not finished.
        public var finished: Duration?
        /// How it ended, in words.
        public var outcome: String
        /// Whether it succeeded.
        public var isSuccess: Bool
    }

    /// An error that has words of its own for how the operation ended, in place of `failed: `.
    package protocol Ending: Error {
        var ending: String { get }
    }

    fileprivate struct Entry {
        var span: Span
        /// One that is recorded by itself, and may go without having finished.
        weak var operation: Operation?
        var isOfQueue: Bool
        var tokens: [NSKeyValueObservation] = []
    }

    fileprivate struct State {
        var entries: [Int: Entry] = [:]
        var ids: [ObjectIdentifier: Int] = [:]
        /// The lowest that may be in use.
        var firstID = 1
        var lastID = 0
        var dropped = 0
        var recordings: [Recording] = []
    }

    fileprivate struct Recording: Sendable {
        weak let queue: OperationQueue?
        let watcher: Watcher
    }

    private let state = Locked(State())
    private let begin = ContinuousClock.now
    /// The most operations that are kept.
    public let limit: Int

    /// - Parameter limit: The most operations that are kept. When there are more, the earliest are dropped; see
    ///   ``droppedSpanCount``.
    public init(limit: Int = 100_000) { self.limit = max(limit, 1) }

    deinit { stop() }

    /// Records the operations that are added to the queue from now on, until ``stop()`` or the release of the trace.
    ///
    /// Recording a queue again changes nothing.
    public func record(_ queue: OperationQueue) {
        let watcher = Watcher(self, queue: queue.name ?? "")
        let isNew = state.withLock { state in
            state.recordings.removeAll { $0.queue == nil }
            guard !state.recordings.contains(where: { $0.queue === queue }) else { return false }
            state.recordings.append(Recording(queue: queue, watcher: watcher))
            return true
        }
        guard isNew else { return }
        queue.addWatcher(watcher)
        // `stop()` by another thread may have come before the watcher.
        let isStopped = state.withLock { state in !state.recordings.contains { $0.watcher === watcher } }
        if isStopped { queue.removeWatcher(watcher) }
    }

    /// Records one operation that no recorded queue has, under the name of a queue of its own. It may have started, or
    /// finished, before.
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

    /// Records nothing more. What was recorded stays; what has not finished stays so.
    public func stop() {
        let (recordings, tokens) = state.withLock { state in
            let tokens = state.entries.values.flatMap(\.tokens)
            for id in state.ids.values { state.entries[id]?.tokens = [] }
            let recordings = state.recordings
            state.recordings = []
            state.ids = [:]
            return (recordings, tokens)
        }
        for recording in recordings { recording.queue?.removeWatcher(recording.watcher) }
        for token in tokens { token.invalidate() }
    }

    /// What was recorded so far, in the order added.
    public var spans: [Span] {
        // Sorted without the lock.
        state.withLock { $0.entries.map { (id: $0.key, span: $0.value.span) } }.sorted { $0.id < $1.id }.map(\.span)
    }

    /// How many operations were recorded and dropped since, because there were more than ``limit``.
    public var droppedSpanCount: Int { state.withLock { $0.dropped } }

    // MARK: - Recording

    private var now: Duration { ContinuousClock.now - begin }

    /// nil: it is being recorded already.
    @discardableResult
    fileprivate func begin(_ operation: Operation, _ queue: String, isOfQueue: Bool) -> Int? {
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

    /// Keeps the observations until the operation has finished. It may have done so by now, or recording has been stopped.
    private func keep(_ tokens: [NSKeyValueObservation], of operation: Operation, _ id: Int) {
        let isOver = state.withLock { state in
            guard state.ids[ObjectIdentifier(operation)] == id, state.entries[id] != nil else { return true }
            state.entries[id]?.tokens = tokens
            return false
        }
        if isOver { for token in tokens { token.invalidate() } }
    }

    fileprivate func start(_ operation: Operation) {
        let now = now
        change(operation) { if $0.started == nil { $0.started = now } }
    }

    fileprivate func finish(_ operation: Operation) {
        let now = now
        let outcome = operation.unseenOutcome
        change(operation) { span in
            span.finished = now
            span.outcome = outcome?.description ?? "finished"
            if case .failed(let error as any Ending) = outcome { span.outcome = error.ending }
            if case .succeeded = outcome { span.isSuccess = true }
        }
        // The next operation may have the address of this one.
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

    fileprivate final class Watcher: QueueWatcher {
        // Weak: who has let go of the trace cannot read it any more.
        private weak let trace: OperationTrace?
        private let queue: String

        init(_ trace: OperationTrace, queue: String) {
            self.trace = trace
            self.queue = queue
        }

        func operation(_ operation: Operation, did step: QueueStep) {
            guard let trace else { return }
            switch step {
            case .wasAdded: trace.begin(operation, queue, isOfQueue: true)
            case .starts: trace.start(operation)
            case .hasFinished: trace.finish(operation)
            }
        }
    }
}

extension OperationTrace.State {
    /// The earliest. O(1) in the mean: each number is passed once.
    fileprivate mutating func dropFirst() -> OperationTrace.Entry? {
        while firstID < lastID {
            firstID += 1
            guard let entry = entries.removeValue(forKey: firstID - 1) else { continue }
            dropped += 1
            return entry
        }
        return nil
    }
}
