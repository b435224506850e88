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
        try changeGates { gates in
            gates.timeLimits.append(
                TimeLimit(isFromStart: true, failure: .timeout(limit)) {
                    let start = clock.now
                    return { try await clock.sleepFully(for: max(limit, .zero), since: start) }
                })
            return nil
        }
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
        let limit = TimeLimit(isFromStart: false, failure: .deadline("\(deadline)")) {
            { try await clock.sleepFully(until: deadline) }
        }
        try changeGates { gates in
            gates.timeLimits.append(limit)
            return nil
        }
        if word.lifecycle.isInQueue, let queue = queueWhileWaiting() {
            beginTimeLimits(on: queue.executorBeside, fromStart: false)
        }
    }
}

/// The failure of an operation that exceeded its time limit or its deadline.
public enum OperationTimeout: Error, Equatable, Sendable, CustomStringConvertible {
    /// The operation had not finished this long after its start.
    case timeout(Duration)
    /// The operation had not finished at this instant.
    case deadline(String)

    public var description: String {
        switch self {
        case .timeout(let limit): "the operation had not finished \(limit) after its start"
        case .deadline(let instant): "the operation had not finished by \(instant)"
        }
    }
}

/// A time limit of an operation. Part of its `Gates`.
struct TimeLimit {
    /// Whether the limit begins when the operation starts. If false, the limit begins when the operation is added.
    let isFromStart: Bool
    let failure: OperationTimeout
    /// Reads the clock, and returns a closure that sleeps until the time is over. The timer's task may run late, so a
    /// limit that began with the task would be too long.
    let begin: @Sendable () -> Sleep
    var timer: Task<Void, Never>?

    typealias Sleep = @Sendable () async throws -> Void

    init(isFromStart: Bool, failure: OperationTimeout, begin: @escaping @Sendable () -> Sleep) {
        self.isFromStart = isFromStart
        self.failure = failure
        self.begin = begin
    }
}

extension Operation {
    /// Begins the deadlines. Called by the thread that adds the operation to a queue and holds both.
    final func beginDeadlines() {
        guard let queue = queue?.takeUnretainedValue() else { return }
        beginTimeLimits(on: queue.executorBeside, fromStart: false)
    }

    final func beginTimeLimits(on executor: any TaskExecutor, fromStart: Bool) {
        guard let limits = gates?.timeLimits, !limits.isEmpty else { return }
        for index in limits.indices where limits[index].isFromStart == fromStart && limits[index].timer == nil {
            let failure = limits[index].failure
            let sleep = limits[index].begin()
            // Weak, so that a limit does not keep its operation alive.
            let timer = Task(executorPreference: executor) { [weak self] in
                do { try await sleep() } catch { return }
                self?.giveUp(failure)
            }
            let isKept = attachments?.withLock { state in
                guard let own = state.extras?.gates?.timeLimits, own.indices.contains(index), own[index].timer == nil
                else {
                    return false
                }
                state.extras?.gates?.timeLimits[index].timer = timer
                return true
            }
            // Another thread has begun the limit, or the operation has finished.
            if isKept != true || word.lifecycle.isFinished { timer.cancel() }
        }
    }

    final func endTimeLimits() {
        let limits = attachments?.withLock { state in
            defer { state.extras?.gates?.timeLimits = [] }
            return state.extras?.gates?.timeLimits ?? []
        }
        for limit in limits ?? [] { limit.timer?.cancel() }
    }
}
