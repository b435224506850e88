#if Tracing
public import Operations
public import Tracing

extension OperationQueue {
    /// Makes a span of each operation that is added from now on, from its start to its end.
    ///
    /// Its parent is the context of whoever added the operation, and its context the current one while the work runs: spans
    /// that the work makes are its children, in an async operation also those of its child tasks. Work that an override of
    /// `start()` does, and blocks of one operation that run beside the first, have no context.
    ///
    /// The span has the operation's name, or type, and the attributes `operation.queue`, `operation.outcome` and
    /// `operation.waited` in seconds. A failure is recorded and sets the status. One that was cancelled before its start has a
    /// short span; one whose end was announced before its start has none.
    ///
    /// - Parameter tracer: What makes the spans; nil for the one of the process (`InstrumentationSystem`). A queue has one
    ///   tracer: another one takes the place of the first for what is added from then on.
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

private final class TracingWatcher: QueueChronicler, QueueInterceptor {
    struct Note: Sendable {
        let parent: ServiceContext
        var span: (any Span)?
    }

    let chronicle = Chronicle<Note>()
    private weak let queue: OperationQueue?
    private let tracer: any Tracer
    /// Whose place it has taken, and who still has operations under way.
    private let former = Locked<TracingWatcher?>(nil)

    init(queue: OperationQueue, tracer: any Tracer) {
        self.queue = queue
        self.tracer = tracer
    }

    func follow(_ other: TracingWatcher) { former.withLock { $0 = other } }

    func operation(_ operation: Operation, did step: QueueStep) {
        switch step {
        case .wasAdded:
            _ = chronicle.add(operation, Note(parent: ServiceContext.current ?? .topLevel, span: nil))
        case .starts: start(operation)
        case .hasFinished: finish(operation)
        }
    }

    private func start(_ operation: Operation) {
        guard let parent = chronicle[operation]?.note.parent else { return }
        let span = tracer.startAnySpan(
            operation.name ?? "\(type(of: operation))", context: parent, ofKind: .internal)
        span.attributes["operation.queue"] = queue?.name ?? ""
        let waited = chronicle.start(operation) { $0.note.span = span }.flatMap { entry in
            entry.started.map { $0 - entry.added }
        }
        // It may have ended meanwhile, by an announcement.
        guard let waited else { return end(span, of: operation) }
        span.attributes["operation.waited"] = waited / .seconds(1)
    }

    private func finish(_ operation: Operation) {
        guard let (entry, isLast) = chronicle.finish(operation) else { return }
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

    // MARK: - Around the work

    private func context(of operation: Operation) -> ServiceContext? {
        if let entry = chronicle[operation] { return entry.note.span?.context }
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
