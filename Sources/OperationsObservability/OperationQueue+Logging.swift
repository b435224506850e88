#if Logging
public import Logging
public import Operations

extension OperationQueue {
    /// Logs the events of the operations that are added from now on.
    ///
    /// The events “added”, “ready”, “started” and “finished” use `level`. A cancellation uses the level `info`, a failure
    /// `error`, and a stalled queue `warning`. The warning has the number of operations, and the reasons of the first ones. Each
    /// entry has the queue and the operation as metadata. The
    /// entry of an end also has the seconds that the operation waited and ran, and the error.
    ///
    /// The logger is called on the thread of the event, or on a thread that is already reporting events of the same operation.
    /// A level that the logger filters out costs almost nothing, but the queue's operations are observed.
    ///
    /// - Parameters:
    ///   - logger: The logger that receives the entries.
    ///   - level: The level of events that are not a problem.
    /// - Returns: An object that stops the logging.
    @discardableResult
    public final func log(to logger: Logger, level: Logger.Level = .debug) -> QueueInstrument {
        let source = addEventHandler { event in
            logger.log(level: event.level ?? level, "\(event.message)", metadata: event.metadata)
        }
        return QueueInstrument { [weak self] in self?.removeWatcher(source) }
    }

    /// Sends the system's own messages to a logger instead of standard error, for all queues of the process.
    ///
    /// The messages are warnings of errors in ported code, and stall reports. If `logger` is nil, standard error is used again.
    public static func logDiagnostics(to logger: Logger?) {
        guard let logger else { return Log.redirect(to: nil) }
        Log.redirect { logger.warning("\($0)") }
    }
}

extension OperationEvent {
    /// The fixed level of an event; nil for an event that is not a problem.
    fileprivate var level: Logger.Level? {
        switch kind {
        case .added, .ready, .started, .finished(.succeeded?, _, _), .finished(nil, _, _): nil
        case .cancelled, .finished(.cancelled?, _, _): .info
        case .finished(.failed?, _, _): .error
        case .stalled: .warning
        }
    }

    /// The message, without the values in the metadata, so that entries of one kind can be counted.
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
            metadata["blocked"] = "\(report.blocked.count)"
            metadata["reasons"] = .array(report.blocked.prefix(StallReport.describedOperations).map { "\($0)" })
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
