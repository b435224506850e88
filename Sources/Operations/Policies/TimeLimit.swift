import SchedulerCore

extension Operation {
    /// Limits the time from the start of the operation to its end.
    ///
    /// When the limit is over, the operation fails with `OperationTimeout` and is cancelled. Running work is never
    /// stopped by force: work that ignores the cancellation continues and keeps its slot. The limit applies to operations
    /// that a queue starts. A limit of zero or less is over at the start.
    ///
    /// The call stops the process if the operation has started. ``trySetTimeout(_:clock:)`` throws an error instead.
    public final func setTimeout(_ limit: Duration, clock: some Clock<Duration> = ContinuousClock()) {
        stopOnMisuse { () throws(OperationError) in try trySetTimeout(limit, clock: clock) }
    }

    /// Limits the time from the start of the operation to its end, and throws an error if the operation has started.
    ///
    /// - Throws: `OperationError.lateGate`. The call has changed nothing then.
    public final func trySetTimeout(
        _ limit: Duration, clock: some Clock<Duration> = ContinuousClock()
    ) throws(OperationError) {
        let limit = TimeLimit(isFromStart: true, failure: .timeout(limit), hasPassed: { false }) {
            let start = clock.now
            return { try await clock.sleepFully(for: max(limit, .zero), since: start) }
        }
        try changeGate(orNew: TimeLimitGate()) { $0.limits.append(limit) }
    }

    /// Sets an instant at which the operation has to be finished.
    ///
    /// At that instant, an unfinished operation fails with `OperationTimeout` and is cancelled. A waiting operation ends
    /// without running. The deadline applies to operations that are in a queue or are added to a queue later.
    ///
    /// The call stops the process if the operation has started. ``trySetDeadline(_:clock:)`` throws an error instead.
    public final func setDeadline<C: Clock>(_ deadline: C.Instant, clock: C) {
        stopOnMisuse { () throws(OperationError) in try trySetDeadline(deadline, clock: clock) }
    }

    /// Sets an instant at which the operation has to be finished, and throws an error if the operation has started.
    ///
    /// - Throws: `OperationError.lateGate`. The call has changed nothing then.
    public final func trySetDeadline<C: Clock>(_ deadline: C.Instant, clock: C) throws(OperationError) {
        let limit = TimeLimit(isFromStart: false, failure: .deadline, hasPassed: { clock.now >= deadline }) {
            { try await clock.sleepFully(until: deadline) }
        }
        try changeGate(orNew: TimeLimitGate()) { $0.limits.append(limit) }
        // If another thread adds, evaluates or admits the operation, that thread notifies the gates after this change.
        let question = word.decide { $0.reconsidered() }
        guard case .ask = question else { return }
        let queue = queue?.takeUnretainedValue()
        unpin()
        if let queue { notifyGatesOfWait(in: queue) }
    }
}

/// The failure of an operation that exceeded its time limit or its deadline.
public enum OperationTimeout: Error, Equatable, Sendable, CustomStringConvertible {
    /// The operation had not finished this long after its start.
    case timeout(Duration)
    /// The operation had not finished at its deadline.
    case deadline

    public var description: String {
        switch self {
        case .timeout(let limit): "the operation had not finished \(limit) after its start"
        case .deadline: "the operation had not finished by its deadline"
        }
    }
}

/// A time limit of an operation.
private struct TimeLimit {
    /// Whether the limit begins when the operation starts. If false, the limit begins when the operation is added.
    let isFromStart: Bool
    let failure: OperationTimeout
    /// Whether the time is over before the start. The timer's task may run late, also for a deadline of the past.
    let hasPassed: @Sendable () -> Bool
    /// Reads the clock, and returns a closure that sleeps until the time is over. The timer's task may run late, so a
    /// limit that began with the task would be too long.
    let begin: @Sendable () -> Sleep
    var timer: Task<Void, Never>?

    typealias Sleep = @Sendable () async throws -> Void
}

private final class TimeLimitGate: OperationGate {
    static var rank: OperationGateRank { .timeLimits }

    @exclusivity(unchecked) var limits: [TimeLimit] = []

    /// The timer of a child runs on a thread of the queue that its group is placed in, which is not known before.
    func waits(_ operation: Operation, in queue: OperationQueue) {
        if queue.isPlaced { begin(all: false, operation, queue) }
    }

    func mayStart(_ operation: Operation) -> GateAnswer {
        let limits = operation.withGate(Self.self) { $0.limits } ?? []
        return limits.first { $0.hasPassed() }.map { .givesUp($0.failure) } ?? .passes
    }

    /// Begins also deadlines that were set while a thread admitted the operation.
    func willStart(_ operation: Operation, in queue: OperationQueue) { begin(all: true, operation, queue) }

    private func begin(all: Bool, _ operation: Operation, _ queue: OperationQueue) {
        let limits = operation.withGate(Self.self) { $0.limits } ?? []
        for (index, limit) in limits.enumerated() where limit.timer == nil && (all || !limit.isFromStart) {
            let sleep = limit.begin()
            // Weak, so that a limit does not keep its operation alive.
            let timer = Task(executorPreference: queue.executorBeside) { [weak operation] in
                do { try await sleep() } catch { return }
                operation?.giveUp(limit.failure)
            }
            let isKept = operation.withGate(Self.self) { gate in
                guard gate.limits.indices.contains(index), gate.limits[index].timer == nil else { return false }
                gate.limits[index].timer = timer
                return true
            }
            // Another thread has begun the limit, or the operation has finished.
            if isKept != true || operation.word.lifecycle.isFinished { timer.cancel() }
        }
    }

    func leaves(_ operation: Operation) {
        let limits = operation.withGate(Self.self) { gate in
            defer { gate.limits = [] }
            return gate.limits
        }
        for limit in limits ?? [] { limit.timer?.cancel() }
    }
}
