import SchedulerCore

/// The appointment to look whether a queue that came to rest with operations in it is still at rest.
final class StallWatch: Appointment, @unchecked Sendable {
    // Sendable: all fields are set before the appointment is made, and never again.
    /// What the queue had started when the watch was set.
    let starts: Int
    /// An earlier look has found that all operations that started have finished, and that none announced it.
    let isSecondLook: Bool
    private weak var queue: OperationQueue?

    init(_ queue: OperationQueue, starts: Int, isSecondLook: Bool, after delay: Duration) {
        self.queue = queue
        self.starts = starts
        self.isSecondLook = isSecondLook
        super.init(after: delay)
    }

    override func keep() { queue?.keep(self) }
}

extension OperationQueue {
    /// Called with the state locked, whenever the queue may have come to rest: makes an appointment, unless there is one.
    func watchForStall(_ state: inout State, isSecondLook: Bool = false) {
        guard state.stallWatch == nil, state.stallDelay > .zero, isAtRest(&state), state.reportedAt != state.starts
        else { return }
        let watch = StallWatch(self, starts: state.starts, isSecondLook: isSecondLook, after: state.stallDelay)
        state.stallWatch = watch
        Monitor.shared.make(watch)
    }

    /// Nothing starts by the queue's own means, and nothing runs, or only what has yet to announce its end.
    private func isAtRest(_ state: inout State) -> Bool {
        if state.schedule.isEmpty || state.schedule.hasStartable { return false }
        // A group alone suspends the queue of its children, and knows why.
        if state.hasOwner, state.schedule.isSuspended { return false }
        return state.schedule.running == 0 || state.expectsAnnouncement
    }

    /// The `start()` of an operation has returned, and its end is announced later, on any thread.
    final func expectAnnouncement() {
        withState { state in
            state.expectsAnnouncement = true
            watchForStall(&state)
        }
    }

    fileprivate func keep(_ watch: StallWatch) {
        let running: [Operation]? = withState { state in
            guard state.stallWatch === watch else { return nil }
            state.stallWatch = nil
            guard isAtRest(&state) else { return nil }
            guard state.starts == watch.starts else {
                watchForStall(&state)
                return nil
            }
            return state.schedule.running > 0 ? state.schedule.runningIDs.map(Self.operation) : []
        }
        guard let running, running.isEmpty || haveAllEndedSilently(running, watch) else { return }
        guard let report = stallReport() else {
            // Something outside the queue still moves, such as a dependency in another queue: look again later.
            return withState { watchForStall(&$0) }
        }
        // Reported already, by the appointment that a change of the delay made in the meantime, or started again, or not
        // wanted any more.
        let (isFirst, handler): (Bool, (@Sendable (StallReport) -> Void)?) = withState { state in
            guard state.stallDelay > .zero else { return (false, nil) }
            defer { state.reportedAt = watch.starts }
            return (state.starts == watch.starts && state.reportedAt != watch.starts, state.stallHandler)
        }
        guard isFirst else { return }
        HeldLocks.assertNone()
        hooks.load()?.tell(report)
        if let handler { handler(report) } else { Log.warning(report.description) }
    }

    /// Whether all operations that run have finished without announcing it. If not, another appointment is made as long as
    /// some of them may do so.
    ///
    /// An operation may be looked at just between the two, so it takes a second look to be sure.
    private func haveAllEndedSilently(_ running: [Operation], _ watch: StallWatch) -> Bool {
        let open = running.filter { $0.awaitsAnnouncement }
        let areAllOver =
            open.count == running.count && open.allSatisfy { operation in untracked { operation.isFinished } }
        if areAllOver, watch.isSecondLook { return true }
        withState { state in
            // What has started since looks after itself.
            if open.isEmpty, state.starts == watch.starts { state.expectsAnnouncement = false }
            watchForStall(&state, isSecondLook: areAllOver && state.starts == watch.starts)
        }
        return false
    }

    // MARK: - For users

    /// Called once for each stall, on a thread of the system's own, in place of the log; see `StallReport`.
    public final var stallHandler: (@Sendable (StallReport) -> Void)? {
        get { state.withLock { $0.stallHandler } }
        set {
            let old = state.withLock { state in
                let old = state.stallHandler
                state.stallHandler = newValue
                return old
            }
            withExtendedLifetime(old) {}
        }
    }

    /// How long a queue has to be at rest with operations in it before a stall is reported; zero: never. Default 10 s.
    public final var stallDelay: Duration {
        get { state.withLock { $0.stallDelay } }
        set {
            withState { state in
                state.stallDelay = newValue
                state.stallWatch = nil
                watchForStall(&state)
            }
        }
    }

    /// Why none of the queue's operations can start, or nil when one runs or can. O(operations and their dependencies).
    public final func stallReport() -> StallReport? {
        let survey = StallSurvey(of: listed())
        guard survey.isStalled else { return nil }
        let name = owner.map { "children of \($0.label)" } ?? readName() ?? ""
        return StallReport(queue: name, blocked: survey.explanations())
    }

    /// What the operation, of this queue or not, waits for at this moment (rule N3).
    public final func explain(_ operation: Operation) -> Explanation {
        StallSurvey(of: [operation]).explanations()[0]
    }
}

extension Operation {
    /// A queue has started it, its `start()` may have returned, and its end has to be announced by the program.
    final var awaitsAnnouncement: Bool {
        word.lifecycle.phase == .starting
    }
}
