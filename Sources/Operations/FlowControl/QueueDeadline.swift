import SchedulerCore

extension OperationQueue {
    /// Sets an instant at which all operations of the queue have to be finished; nil removes it. See ``setDeadline(_:clock:)``.
    public final func setDeadline(_ deadline: ContinuousClock.Instant?) {
        setDeadline(deadline, clock: ContinuousClock())
    }

    /// Sets an instant at which all operations of the queue have to be finished; nil removes it.
    ///
    /// At that instant, each unfinished operation of the queue fails with ``OperationTimeout`` and is cancelled: those that wait, those
    /// that execute, and those that are added later. Running work is never stopped by force. A second call replaces the deadline,
    /// also for operations that were added before.
    ///
    /// For one operation or a group, use ``Operation/setDeadline(_:clock:)``.
    public final func setDeadline<C: Clock<Duration>>(_ deadline: C.Instant?, clock: C) {
        let policy = deadline.map { deadline in
            QueueDeadline(hasPassed: { clock.now >= deadline }, sleep: { try await clock.sleepFully(until: deadline) })
        }
        guard policy != nil || hooks.isSet else { return }
        let old = ownHooks.deadline.exchange(policy)
        old?.cancel()
        guard let policy else { return }
        policy.start(for: self)
    }

    fileprivate func deadlineIsOver(_ deadline: QueueDeadline) {
        guard hooks.load()?.deadline.withLock({ $0 }) === deadline else { return }
        for operation in listed() { operation.giveUp(OperationTimeout.deadline) }
    }
}

/// The deadline of a queue, and the task that waits for it.
final class QueueDeadline: Sendable {
    private enum State {
        case new
        case waits(Task<Void, Never>)
        case over
        /// Another deadline has replaced it.
        case replaced
    }

    /// Whether the time is over. The task that waits for it may run late.
    private let hasPassed: @Sendable () -> Bool
    private let sleep: @Sendable () async throws -> Void
    private let state = Locked(State.new)

    init(hasPassed: @escaping @Sendable () -> Bool, sleep: @escaping @Sendable () async throws -> Void) {
        (self.hasPassed, self.sleep) = (hasPassed, sleep)
    }

    func start(for queue: OperationQueue) {
        if hasPassed() {
            end()
            return queue.deadlineIsOver(self)
        }
        // Weak: the end of the queue ends the task.
        let timer = Task(executorPreference: queue.executorBeside) { [weak queue, weak self, sleep] in
            do { try await sleep() } catch { return }
            guard let self, let queue else { return }
            self.end()
            queue.deadlineIsOver(self)
        }
        let isNeeded = state.withLock { state in
            guard case .new = state else { return false }
            state = .waits(timer)
            return true
        }
        if !isNeeded { timer.cancel() }
    }

    private func end() { state.withLock { $0 = .over } }

    var isOver: Bool {
        switch state.withLock({ $0 }) {
        case .over: true
        case .replaced: false
        case .new, .waits: hasPassed()
        }
    }

    func cancel() {
        let timer: Task<Void, Never>? = state.withLock { state in
            defer { state = .replaced }
            return if case .waits(let timer) = state { timer } else { nil }
        }
        timer?.cancel()
    }

    deinit { cancel() }
}
