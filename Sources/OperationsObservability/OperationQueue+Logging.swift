#if Logging
public import Logging
public import Operations

extension OperationQueue {
    /// Writes to a logger what happens to the operations that are added from now on.
    ///
    /// Added, ready, started and finished are of `level`; cancelled is `info`, a failure `error`, a stalled queue `warning`,
    /// with the reasons. Each entry has the queue and the operation as metadata, that of an end also the seconds it waited
    /// and ran, and the error. Called on the thread on which it happens, or on the one that is just telling of the same
    /// operation; a level that the logger leaves out costs next to nothing, but the queue's operations are observed.
    ///
    /// - Parameters:
    ///   - logger: Where it is written to.
    ///   - level: The level of what is in order.
    @discardableResult
    public final func log(to logger: Logger, level: Logger.Level = .debug) -> QueueInstrument {
        let source = addEventHandler { event in
            logger.log(level: event.level ?? level, "\(event.message)", metadata: event.metadata)
        }
        return QueueInstrument { [weak self] in self?.removeWatcher(source) }
    }

    /// Sends what the system itself has to say, warnings of bugs in ported code and stall reports, to a logger instead of
    /// standard error, for all queues of the process; nil restores standard error.
    public static func logDiagnostics(to logger: Logger?) {
        guard let logger else { return Log.redirect(to: nil) }
        Log.redirect { logger.warning("\($0)") }
    }
}

extension OperationEvent {
    /// nil for what is in order.
    fileprivate var level: Logger.Level? {
        switch kind {
        case .added, .ready, .started, .finished(.succeeded?, _, _), .finished(nil, _, _): nil
        case .cancelled, .finished(.cancelled?, _, _): .info
        case .finished(.failed?, _, _): .error
        case .stalled: .warning
        }
    }

    /// Without what stands in the metadata, so that entries of one kind can be counted.
    fileprivate var message: String {
        switch kind {
        case .added: "operation added"
        case .ready: "operation ready"
        case .started: "operation started"
        case .finished(let outcome, _, _): outcome.map { "operation \($0.word)" } ?? "operation finished"
        case .cancelled: "operation cancellation requested"
        case .stalled: "queue stalled"
        }
    }

    fileprivate var metadata: Logger.Metadata {
        var metadata: Logger.Metadata = ["queue": "\(queue)"]
        if case .stalled(let report) = kind {
            metadata["reasons"] = .array(report.blocked.map { "\($0)" })
            return metadata
        }
        metadata["operation"] = "\(operation)"
        metadata["operation-id"] = "\(operationID)"
        guard case .finished(let outcome, let waited, let ran) = kind else { return metadata }
        metadata["waited"] = "\(waited / .seconds(1))"
        if let ran { metadata["ran"] = "\(ran / .seconds(1))" }
        if case .failed(let error)? = outcome { metadata["error"] = "\(error)" }
        return metadata
    }
}
#endif
