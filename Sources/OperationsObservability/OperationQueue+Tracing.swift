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
        let watcher = TracingWatcher(queue: self, tracer: tracer ?? InstrumentationSystem.tracer)
        addWatcher(watcher)
        if let old = setInterceptor(watcher) as? TracingWatcher {
            watcher.follow(old)
            dismiss(old)
        }
        return QueueInstrument { [weak self] in self?.dismiss(watcher) }
    }
}

private final class TracingWatcher: OperationInstrument, QueueInterceptor {
    struct Note: Sendable {
        let parent: ServiceContext
        var span: (any Span)?
    }

    let active = ActiveOperations<Note>()
    private weak let queue: OperationQueue?
    private let tracer: any Tracer
    /// The replaced watcher, which may still have running operations.
    private let former = Locked<TracingWatcher?>(nil)

    init(queue: OperationQueue, tracer: any Tracer) {
        self.queue = queue
        self.tracer = tracer
    }

    func follow(_ other: TracingWatcher) { former.withLock { $0 = other } }

    func operation(_ operation: Operation, did step: QueueStep) {
        switch step {
        case .wasAdded:
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

    // MARK: - Context of the work

    private func context(of operation: Operation) -> ServiceContext? {
        if let entry = active[operation] { return entry.note.span?.context }
        return former.withLock { $0 }?.context(of: operation)
    }

    func perform(_ operation: Operation, _ work: () -> Void) {
        guard let context = context(of: operation) else { return work() }
        ServiceContext.withValue(context, operation: work)
    }

    nonisolated(nonsending)
        func perform(_ operation: Operation, _ work: nonisolated(nonsending) () async throws -> Void) async throws
    {
        guard let context = context(of: operation) else { return try await work() }
        try await ServiceContext.$current.withValue(context, operation: work)
    }
}
#endif
