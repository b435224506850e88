#if Metrics
public import CoreMetrics
public import Operations

extension OperationQueue {
    /// Counts and times the operations that are added from now on.
    ///
    /// | label | kind | dimensions besides `queue` |
    /// |---|---|---|
    /// | `operations_added` | counter | |
    /// | `operations_finished` | counter | `outcome`: `succeeded`, `failed`, `cancelled` |
    /// | `operations_stalls` | counter | |
    /// | `operations_waiting` | meter: the number of waiting operations | |
    /// | `operations_executing` | meter: the number of operations that have started and not ended | |
    /// | `operations_waited` | timer: from adding to the start, or to the end of an operation that never starts | |
    /// | `operations_ran` | timer: from the start to the end | `outcome` |
    ///
    /// - Parameters:
    ///   - name: The value of the dimension `queue`; nil for the queue's name at this moment, or `unnamed`. The default name of
    ///     a queue contains its address, and each new value of a dimension adds time series to the store of the metrics.
    ///   - factory: The factory that makes the metrics; nil for the factory of the process (`MetricsSystem`).
    /// - Returns: An object that stops the counting.
    @discardableResult
    public final func emitMetrics(
        named name: String? = nil, to factory: (any MetricsFactory)? = nil
    ) -> QueueInstrument {
        let name = name ?? givenName ?? "unnamed"
        return install(MetricsWatcher(named: name, of: self, factory: factory ?? MetricsSystem.factory))
    }
}

private final class MetricsWatcher: OperationInstrument {
    let active = ActiveOperations<Void>()
    private weak let queue: OperationQueue?
    private let added: Counter
    private let stalls: Counter
    private let waiting: Meter
    private let executing: Meter
    private let waited: CoreMetrics.Timer
    private let succeeded: ByOutcome
    private let failed: ByOutcome
    private let cancelled: ByOutcome

    private struct ByOutcome: Sendable {
        let count: Counter
        let ran: CoreMetrics.Timer

        init(_ outcome: String, _ queue: String, _ factory: any MetricsFactory) {
            let dimensions = [("queue", queue), ("outcome", outcome)]
            count = Counter(label: "operations_finished", dimensions: dimensions, factory: factory)
            ran = CoreMetrics.Timer(label: "operations_ran", dimensions: dimensions, factory: factory)
        }
    }

    init(named name: String, of queue: OperationQueue, factory: any MetricsFactory) {
        self.queue = queue
        let dimensions = [("queue", name)]
        added = Counter(label: "operations_added", dimensions: dimensions, factory: factory)
        stalls = Counter(label: "operations_stalls", dimensions: dimensions, factory: factory)
        waiting = Meter(label: "operations_waiting", dimensions: dimensions, factory: factory)
        executing = Meter(label: "operations_executing", dimensions: dimensions, factory: factory)
        waited = CoreMetrics.Timer(label: "operations_waited", dimensions: dimensions, factory: factory)
        succeeded = ByOutcome("succeeded", name, factory)
        failed = ByOutcome("failed", name, factory)
        cancelled = ByOutcome("cancelled", name, factory)
    }

    func operation(_ operation: Operation, did step: QueueStep) {
        switch step {
        case .wasAdded:
            guard active.add(operation, ()) else { return }
            added.increment()
            waiting.increment()
        case .starts:
            guard let entry = active.start(operation), let started = entry.started else { return }
            waited.recordNanoseconds((started - entry.added).wholeNanoseconds)
            waiting.decrement()
            executing.increment()
        case .hasFinished:
            guard let (entry, isLast) = active.finish(operation) else { return }
            finish(entry, byOutcome(of: operation))
            if isLast { queue?.removeWatcher(self) }
        }
    }

    func queueStalled(_ report: StallReport) { if !active.isClosed { stalls.increment() } }

    private func finish(_ entry: ActiveOperations<Void>.Entry, _ metrics: ByOutcome) {
        let now = ContinuousClock.now
        if let started = entry.started {
            metrics.ran.recordNanoseconds((now - started).wholeNanoseconds)
            executing.decrement()
        } else {
            waited.recordNanoseconds((now - entry.added).wholeNanoseconds)
            waiting.decrement()
        }
        metrics.count.increment()
    }

    private func byOutcome(of operation: Operation) -> ByOutcome {
        switch operation.unseenOutcome {
        case .failed: failed
        case .cancelled: cancelled
        case .succeeded, nil: succeeded
        }
    }
}
#endif
