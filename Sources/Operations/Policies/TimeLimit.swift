import SchedulerCore

extension Operation {
    /// Cancels the operation, and makes it fail with `OperationTimeout`, when it has not finished so long after its start.
    ///
    /// Nothing is stopped by force (rule C1): work that does not look whether it is cancelled goes on, and keeps its slot.
    /// It takes effect for operations that a queue starts.
    ///
    /// - Throws: `PolicyError` when the limit is not above zero, or the operation has started.
    public final func setTimeout(
        _ limit: Duration, clock: some Clock<Duration> = ContinuousClock()
    ) throws(PolicyError) {
        guard limit > .zero else { throw .limitNotPositive(limit) }
        do {
            try changeGates { gates in
                gates.timeLimits.append(
                    TimeLimit(isFromStart: true, failure: .timeout(limit)) {
                        let start = clock.now
                        return { try await clock.sleepFully(for: limit, since: start) }
                    })
                return nil
            }
        } catch { throw .tooLate(operation: label) }
    }

    /// Cancels the operation, and makes it fail with `OperationTimeout`, when it has not finished at this instant. One
    /// that waits ends then without having run.
    ///
    /// It takes effect when the operation is in a queue, or added to one later.
    ///
    /// - Throws: `PolicyError` when the operation has started.
    public final func setDeadline<C: Clock>(_ deadline: C.Instant, clock: C) throws(PolicyError) {
        let limit = TimeLimit(isFromStart: false, failure: .deadline("\(deadline)")) {
            { try await clock.sleepFully(until: deadline) }
        }
        do {
            try changeGates { gates in
                gates.timeLimits.append(limit)
                return nil
            }
        } catch { throw .tooLate(operation: label) }
        if word.lifecycle.isInQueue, let queue = queueWhileWaiting() {
            beginTimeLimits(on: queue.executorBeside, fromStart: false)
        }
    }
}

/// Why an operation failed that took too long.
public enum OperationTimeout: Error, Equatable, Sendable, CustomStringConvertible {
    /// It had not finished so long after its start.
    case timeout(Duration)
    /// It had not finished at this instant.
    case deadline(String)

    public var description: String {
        switch self {
        case .timeout(let limit): "had not finished \(limit) after its start"
        case .deadline(let instant): "had not finished by \(instant)"
        }
    }
}

/// A time that an operation is given. Part of its `Gates`.
struct TimeLimit {
    /// It begins when the operation starts, not when it is added.
    let isFromStart: Bool
    let failure: OperationTimeout
    /// Reads the clock, and returns what sleeps until the time is over. The timer's task may run late: a limit that began
    /// with the task would be longer than the operation's.
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
    /// Called by the thread that adds the operation to a queue, which holds both.
    final func beginDeadlines() {
        guard let queue = queue?.takeUnretainedValue() else { return }
        beginTimeLimits(on: queue.executorBeside, fromStart: false)
    }

    final func beginTimeLimits(on executor: any TaskExecutor, fromStart: Bool) {
        guard let limits = gates?.timeLimits, !limits.isEmpty else { return }
        for index in limits.indices where limits[index].isFromStart == fromStart && limits[index].timer == nil {
            let failure = limits[index].failure
            let sleep = limits[index].begin()
            // Weak: a limit does not keep its operation.
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
            // Somebody else has begun it, or it is all over.
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
