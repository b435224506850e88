#if Tracing
public import Operations
public import Tracing

extension OperationQueue {
    /// Makes a span for each operation that is added from now on, from its start to its end.
    ///
    /// The parent of the span is the context of the code that added the operation. The context of the span is current while the
    /// work runs. Spans that the work makes are therefore its children, and so are spans in child tasks of an async operation.
    /// The context is missing in work that an override of `start()` does, and in the additional blocks of an operation that run
    /// in parallel.
    ///
    /// The span has the operation's name, or its type. The span has the attributes `operation.queue`, `operation.outcome`, and
    /// `operation.waited` in seconds. A failure is recorded and sets the status. An operation that was cancelled before its
    /// start has a short span. An operation whose end was announced before its start has no span.
    ///
    /// - Parameter tracer: The tracer that makes the spans; nil for the tracer of the process (`InstrumentationSystem`). A
    ///   queue has one tracer. A new tracer replaces the old one for operations that are added from then on.
    /// - Returns: An object that stops the tracing.
    @discardableResult
    public final func trace(with tracer: (any Tracer)? = nil) -> QueueInstrument {
        let tracers = installInterceptor(Tracers()) as? Tracers
        let watcher = TracingWatcher(queue: self, tracers: tracers, tracer: tracer ?? InstrumentationSystem.tracer)
        let others = tracers?.add(watcher) ?? []
        addWatcher(watcher)
        // Another thread may have replaced this watcher before it was added.
        if watcher.active.isClosed { dismiss(watcher) }
        for other in others { dismiss(other) }
        return QueueInstrument { [weak self] in self?.dismiss(watcher) }
    }
}

/// The tracer of a queue, and replaced or removed tracers that still have operations.
private final class Tracers: QueueInterceptor {
    private let watchers = Locked<[TracingWatcher]>([])

    /// Adds a watcher, and returns the others.
    func add(_ watcher: TracingWatcher) -> [TracingWatcher] {
        watchers.withLock { watchers in
            defer { watchers.append(watcher) }
            return watchers
        }
    }

    func remove(_ watcher: TracingWatcher) {
        // The caller holds the watcher, so no `deinit` runs under the lock.
        watchers.withLock { $0.removeAll { $0 === watcher } }
    }

    /// The data of an operation; nil if no tracer knows it.
    func note(of operation: Operation) -> TracingWatcher.Note? {
        for watcher in watchers.withLock({ $0 }) {
            if let entry = watcher.active[operation] { return entry.note }
        }
        return nil
    }

    func perform(_ operation: Operation, _ work: () -> Void) {
        guard let context = note(of: operation)?.span?.context else { return work() }
        ServiceContext.withValue(context, operation: work)
    }

    nonisolated(nonsending)
        func perform(_ operation: Operation, _ work: nonisolated(nonsending) () async throws -> Void) async throws
    {
        guard let context = note(of: operation)?.span?.context else { return try await work() }
        try await ServiceContext.$current.withValue(context, operation: work)
    }
}

private final class TracingWatcher: OperationInstrument {
    struct Note: Sendable {
        let parent: ServiceContext
        var span: (any Span)?
    }

    let active = ActiveOperations<Note>()
    private weak let queue: OperationQueue?
    /// Weak: the tracers hold this watcher.
    private weak let tracers: Tracers?
    private let tracer: any Tracer

    init(queue: OperationQueue, tracers: Tracers?, tracer: any Tracer) {
        self.queue = queue
        self.tracers = tracers
        self.tracer = tracer
    }

    func wasRemoved() { tracers?.remove(self) }

    func operation(_ operation: Operation, did step: QueueStep) {
        switch step {
        case .wasAdded:
            // The tracer that this one is replacing may know it.
            guard tracers?.note(of: operation) == nil else { return }
            _ = active.add(operation, Note(parent: ServiceContext.current ?? .topLevel, span: nil))
        case .starts: start(operation)
        case .hasFinished: finish(operation)
        }
    }

    private func start(_ operation: Operation) {
        guard let parent = active[operation]?.note.parent else { return }
        let span = tracer.startAnySpan(operation.shortName, context: parent, ofKind: .internal)
        span.attributes["operation.queue"] = queue?.name ?? ""
        let waited = active.start(operation) { $0.note.span = span }.flatMap { entry in
            entry.started.map { $0 - entry.added }
        }
        // The operation may have ended meanwhile, by an announcement.
        guard let waited else { return end(span, of: operation) }
        span.attributes["operation.waited"] = waited / .seconds(1)
    }

    private func finish(_ operation: Operation) {
        guard let (entry, isLast) = active.finish(operation) else { return }
        if let span = entry.note.span { end(span, of: operation) }
        if isLast { queue?.removeWatcher(self) }
    }

    private func end(_ span: any Span, of operation: Operation) {
        if let outcome = operation.unseenOutcome {
            span.attributes["operation.outcome"] = outcome.word
            if case .failed(let error) = outcome {
                span.recordError(error)
                span.setStatus(SpanStatus(code: .error, message: "\(error)"))
            }
        }
        span.end()
    }
}
#endif
