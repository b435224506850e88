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
        let policy = deadline.map { deadline in QueueDeadline { try await clock.sleepFully(until: deadline) } }
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

    /// Ends an operation that was added after the deadline. Called when the queue lists the operation: either this thread sees that
    /// the time is over, or the end of the time finds the operation.
    @inline(never)
    final func endIfOverdue(_ operation: Operation) {
        guard hooks.load()?.deadline.withLock({ $0 })?.isOver == true else { return }
        if !operation.word.lifecycle.contains(.unlisted) { operation.giveUp(OperationTimeout.deadline) }
    }
}

/// The deadline of a queue, and the task that waits for it.
final class QueueDeadline: Sendable {
    private struct State {
        var timer: Task<Void, Never>?
        var isOver = false
    }

    private let sleep: @Sendable () async throws -> Void
    private let state = Locked(State())

    init(_ sleep: @escaping @Sendable () async throws -> Void) { self.sleep = sleep }

    func start(for queue: OperationQueue) {
        let timer = Task(executorPreference: queue.executorBeside) { [weak queue, self] in
            do { try await sleep() } catch { return }
            state.withLock { $0.isOver = true }
            queue?.deadlineIsOver(self)
        }
        let isOver = state.withLock { state in
            state.timer = timer
            return state.isOver
        }
        if isOver { timer.cancel() }
    }

    var isOver: Bool { state.withLock { $0.isOver } }

    func cancel() { state.withLock { $0.timer.take() }?.cancel() }

    deinit { cancel() }
}
