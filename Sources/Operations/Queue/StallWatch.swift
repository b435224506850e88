import SchedulerCore

/// The appointment to look whether a queue that came to rest with operations in it is still at rest.
final class StallWatch: Appointment, @unchecked Sendable {
    // Sendable: both fields are set before the appointment is made, and never again.
    /// What the queue had started when the watch was set.
    let starts: Int
    private weak var queue: OperationQueue?

    init(_ queue: OperationQueue, starts: Int, after delay: Duration) {
        self.queue = queue
        self.starts = starts
        super.init(after: delay)
    }

    override func keep() { queue?.keep(self) }
}

extension OperationQueue {
    /// Called with the state locked, whenever the queue may have come to rest: makes an appointment, unless there is one.
    func watchForStall(_ state: inout State) {
        guard state.stallWatch == nil, state.stallDelay > .zero, isAtRest(&state), state.reportedAt != state.starts
        else { return }
        let watch = StallWatch(self, starts: state.starts, after: state.stallDelay)
        state.stallWatch = watch
        Monitor.shared.make(watch)
    }

    private func isAtRest(_ state: inout State) -> Bool {
        !state.schedule.isEmpty && state.schedule.running == 0 && !state.schedule.hasStartable
    }

    fileprivate func keep(_ watch: StallWatch) {
        let isStill = withState { state in
            guard state.stallWatch === watch else { return false }
            state.stallWatch = nil
            guard isAtRest(&state) else { return false }
            if state.starts != watch.starts { watchForStall(&state) }
            return state.starts == watch.starts
        }
        guard isStill else { return }
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
        return StallReport(queue: readName() ?? "", blocked: survey.members.map { survey.explanation(of: $0) })
    }

    /// What the operation, of this queue or not, waits for at this moment (rule N3).
    public final func explain(_ operation: Operation) -> Explanation {
        StallSurvey(of: [operation]).explanation(of: 0)
    }
}
