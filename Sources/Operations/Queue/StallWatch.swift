import SchedulerCore

/// A timer that checks whether a queue that came to rest with operations in it is still at rest.
final class StallWatch: Timer, @unchecked Sendable {
    // Sendable: all fields are set before the timer starts, and never again.
    /// The number of operations that the queue had started when the watch was set.
    let starts: Int
    /// Whether an earlier check has found that all started operations have finished, and that none of them announced it.
    let isSecondLook: Bool
    private weak var queue: OperationQueue?

    init(_ queue: OperationQueue, starts: Int, isSecondLook: Bool, after delay: Duration) {
        self.queue = queue
        self.starts = starts
        self.isSecondLook = isSecondLook
        super.init(.suspending, deadline: TimerClock.suspending.deadline(after: delay.roundedUp))
    }

    override func fire() { queue?.check(self) }
}

extension OperationQueue {
    /// Starts a timer, unless there is one. Called with the state locked, whenever the queue may have come to rest.
    func watchForStall(_ state: inout State, isSecondLook: Bool = false) {
        guard state.stallWatch == nil, state.stallDelay > .zero, isAtRest(&state), state.reportedAt != state.starts
        else { return }
        let watch = StallWatch(self, starts: state.starts, isSecondLook: isSecondLook, after: state.stallDelay)
        state.stallWatch = watch
        Monitor.shared.start(watch)
    }

    /// Whether the queue cannot start an operation, and no operation runs, except operations that have yet to announce
    /// their end.
    private func isAtRest(_ state: inout State) -> Bool {
        guard state.machine.isBlocked else { return false }
        // Only a group suspends the queue of its children, and the survey reports that.
        if ownerReference.isSet, state.machine.schedule.isSuspended { return false }
        return state.machine.schedule.running == 0 || state.expectsAnnouncement
    }

    /// Notes that the `start()` of an operation has returned, and that its end will be announced later, on any thread.
    final func expectAnnouncement() {
        withState { state in
            state.expectsAnnouncement = true
            watchForStall(&state)
        }
    }

    fileprivate func check(_ watch: StallWatch) {
        let running: [Operation]? = withState { state in
            guard state.stallWatch === watch else { return nil }
            state.stallWatch = nil
            guard isAtRest(&state) else { return nil }
            guard state.starts == watch.starts else {
                watchForStall(&state)
                return nil
            }
            return state.machine.schedule.running > 0 ? state.runningOperations : []
        }
        guard let running, running.isEmpty || haveAllEndedSilently(running, watch) else { return }
        guard let report = stallReport() else {
            // Something outside the queue still moves, such as a dependency in another queue. Check again later.
            return withState { watchForStall(&$0) }
        }
        // The stall may be reported already, by the timer of a changed delay. The queue may also have started again, or
        // reports may have been switched off.
        let (isFirst, handler): (Bool, (@Sendable (StallReport) -> Void)?) = withState { state in
            guard state.stallDelay > .zero else { return (false, nil) }
            defer { state.reportedAt = watch.starts }
            return (state.starts == watch.starts && state.reportedAt != watch.starts, state.stallHandler)
        }
        guard isFirst else { return }
        HeldLocks.assertNone()
        hooks.load()?.notify(report)
        if let handler { handler(report) } else { Log.warning(report.description) }
    }

    /// Whether all running operations have finished without announcing it. If not, another timer is started as long as
    /// some of them may still do so.
    ///
    /// The check may come between the end of an operation and its announcement, so a second check is needed.
    private func haveAllEndedSilently(_ running: [Operation], _ watch: StallWatch) -> Bool {
        let open = running.filter { $0.awaitsAnnouncement }
        let areAllOver =
            open.count == running.count && open.allSatisfy { operation in untracked { operation.isFinished } }
        if areAllOver, watch.isSecondLook { return true }
        withState { state in
            // Operations that have started since set their own timer.
            if open.isEmpty, state.starts == watch.starts { state.expectsAnnouncement = false }
            watchForStall(&state, isSecondLook: areAllOver && state.starts == watch.starts)
        }
        return false
    }

    /// Ends the timer. Called by `deinit`.
    final func abandonStallWatch() {
        if let watch = state.withLock({ $0.stallWatch.take() }) { Monitor.shared.cancel(watch) }
    }

    // MARK: - For users

    /// A closure that receives each stall report, in place of the log; nil for the log.
    ///
    /// The closure is called once for each stall, on a thread of the system. See `StallReport`.
    public final var stallHandler: (@Sendable (StallReport) -> Void)? {
        get { state.withLock { $0.stallHandler } }
        set {
            var handler = newValue
            state.withLock { swap(&$0.stallHandler, &handler) }
        }
    }

    /// The time that a queue has to be at rest with operations in it before a stall is reported. Zero means no reports.
    /// The default is 10 s.
    public final var stallDelay: Duration {
        get { state.withLock { $0.stallDelay } }
        set {
            let old = withState { state in
                let old = state.stallWatch.take()
                state.stallDelay = newValue
                watchForStall(&state)
                return old
            }
            if let old { Monitor.shared.cancel(old) }
        }
    }

    /// Returns the reasons for which no operation of the queue can start; nil when an operation runs or can start.
    /// O(operations and their dependencies).
    public final func stallReport() -> StallReport? {
        let survey = StallSurvey(of: listed())
        guard survey.isStalled else { return nil }
        let name = owner.map { "children of \($0.label)" } ?? readName() ?? ""
        return StallReport(queue: name, blocked: survey.explanations())
    }

    /// Returns the reasons for which an operation, of this queue or not, waits at this moment.
    public final func explain(_ operation: Operation) -> Explanation {
        StallSurvey(of: [operation]).explanations()[0]
    }
}

extension Operation {
    /// A queue has started it, its `start()` may have returned, and its end has to be announced by the program.
    final var awaitsAnnouncement: Bool {
        let lifecycle = word.lifecycle
        return lifecycle.phase == .starting && !lifecycle.contains(.admitting)
    }
}
