public import Operations

/// Records when operations waited and ran, for a look at them in a trace viewer or a browser.
///
///     let trace = OperationTrace()
///     trace.record(queue)
///     …
///     try trace.chromeTrace().write(to: url)       // Perfetto, chrome://tracing
///     try trace.htmlTimeline().write(to: url, …)   // any browser, without anything else
///
/// It observes the operations recorded, and holds a few lines of each.
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

    private struct Entry {
        var span: Span
        var tokens: [NSKeyValueObservation] = []
    }

    private struct State {
        var entries: [Int: Entry] = [:]
        var ids: [ObjectIdentifier: Int] = [:]
        var lastID = 0
        var observations: [Task<Void, Never>] = []
    }

    private let state = Locked(State())
    private let begin = ContinuousClock.now

    public init() {}

    /// Records the operations that are added to the queue from now on.
    public func record(_ queue: OperationQueue) {
        queue.addWatcher(Watcher(self, queue: queue.name ?? ""))
    }

    /// Records one operation that no recorded queue has, under the name of a queue of its own.
    public func record(_ operation: Operation, asIn queue: String) {
        begin(operation, queue)
        let tokens = [
            operation.observe(\.isExecuting) { [weak self] operation, _ in
                if operation.isExecuting { self?.start(operation) }
            },
            operation.observe(\.isFinished) { [weak self] operation, _ in
                if operation.isFinished { self?.finish(operation) }
            },
        ]
        state.withLock { state in
            if let id = state.ids[ObjectIdentifier(operation)] { state.entries[id]?.tokens = tokens }
        }
    }

    /// What was recorded so far, in the order added.
    public var spans: [Span] {
        state.withLock { state in state.entries.sorted { $0.key < $1.key }.map(\.value.span) }
    }

    // MARK: - Recording

    private var now: Duration { ContinuousClock.now - begin }

    fileprivate func begin(_ operation: Operation, _ queue: String) {
        let span = Span(
            name: operation.name ?? "\(type(of: operation))", queue: queue, added: now, outcome: "has not finished",
            isSuccess: false)
        state.withLock { state in
            state.lastID += 1
            state.ids[ObjectIdentifier(operation)] = state.lastID
            state.entries[state.lastID] = Entry(span: span)
        }
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

    private final class Watcher: QueueWatcher {
        private let trace: OperationTrace
        private let queue: String

        init(_ trace: OperationTrace, queue: String) {
            self.trace = trace
            self.queue = queue
        }

        func operation(_ operation: Operation, did step: QueueStep) {
            switch step {
            case .wasAdded: trace.begin(operation, queue)
            case .starts: trace.start(operation)
            case .hasFinished: trace.finish(operation)
            }
        }
    }
}
