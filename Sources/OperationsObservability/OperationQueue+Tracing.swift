#if Tracing
    public import Operations
    import Synchronization
    public import Tracing

    extension OperationQueue {
        /// Makes a span of each operation that is added from now on, from its start to its end.
        ///
        /// Its parent is the context of whoever added the operation, and its context the current one while the work runs: spans
        /// that the work makes are its children, in an async operation also those of its child tasks. Work that an override of
        /// `start()` does, and blocks of one operation that run beside the first, have no context.
        ///
        /// The span has the operation's name, or type, and the attributes `operation.queue`, `operation.outcome` and
        /// `operation.waited` in seconds. A failure is recorded and sets the status. An operation that never starts has no span.
        ///
        /// - Parameter tracer: What makes the spans; nil for the one of the process (`InstrumentationSystem`). A queue has one
        ///   tracer: another one takes the place of the first for what is added from then on.
        @discardableResult
        public final func trace(with tracer: (any Tracer)? = nil) -> QueueInstrument {
            let watcher = TracingWatcher(queue: self, tracer: tracer ?? InstrumentationSystem.tracer)
            let old = setInterceptor(watcher) as? TracingWatcher
            if let old { removeWatcher(old) }
            addWatcher(watcher)
            return QueueInstrument { [weak self] in
                self?.removeWatcher(watcher)
                self?.removeInterceptor(watcher)
            }
        }
    }

    private final class TracingWatcher: QueueWatcher, QueueInterceptor {
        private struct Note: Sendable {
            let parent: ServiceContext
            var span: (any Span)?
        }

        private weak let queue: OperationQueue?
        private let tracer: any Tracer
        private let times = Mutex(OperationTimes<Note>())

        init(queue: OperationQueue, tracer: any Tracer) {
            self.queue = queue
            self.tracer = tracer
        }

        func operation(_ operation: Operation, did step: QueueStep) {
            switch step {
            case .wasAdded:
                let parent = ServiceContext.current ?? .topLevel
                times.withLock { $0.add(operation, Note(parent: parent, span: nil)) }
            case .starts: start(operation)
            case .hasFinished: finish(operation)
            }
        }

        private func start(_ operation: Operation) {
            guard let parent = times.withLock({ $0[operation] })?.note.parent else { return }
            let span = tracer.startAnySpan(
                operation.name ?? "\(type(of: operation))", context: parent, ofKind: .internal)
            let entry = times.withLock { $0.start(operation) { $0.note.span = span } }
            span.attributes["operation.queue"] = queue?.name ?? ""
            if let entry, let started = entry.started {
                span.attributes["operation.waited"] = (started - entry.added) / .seconds(1)
            }
        }

        private func finish(_ operation: Operation) {
            guard let span = times.withLock({ $0.finish(operation) })?.note.span else { return }
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
            times.withLock { $0[operation] }?.note.span?.context
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
