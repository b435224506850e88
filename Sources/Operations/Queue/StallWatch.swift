import SchedulerCore
import Synchronization

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

    /// A second more than its delay: nothing ran meanwhile, because the process was stopped, for example. The queue has the full delay
    /// again.
    fileprivate var isLate: Bool {
        let now = clock.now
        return now > deadline && now - deadline > 1_000_000_000
    }

    override func fire() { queue?.check(self) }
}

extension OperationQueue {
    /// Starts a timer, unless there is one. Called with the state locked, whenever the queue may have come to rest.
    func watchForStall(_ state: inout State, isSecondLook: Bool = false) {
        guard state.stallWatch == nil else { return noteRest(&state) }
        guard state.stallDelay > .zero, isAtRest(state), state.reportedAt != state.starts
        else { return }
        beginWatch(&state, isSecondLook: isSecondLook)
    }

    /// Records since when no operation has started or ended. The timer may be that of an earlier wait.
    private func noteRest(_ state: inout State) {
        guard isBlocked(state) else { return }
        let (starts, running) = (state.starts, state.machine.schedule.running)
        if let rest = state.rest, rest.starts == starts, rest.running == running { return }
        state.rest = (starts, running, MonotonicClock.now)
    }

    private func beginWatch(_ state: inout State, isSecondLook: Bool = false, after delay: Duration? = nil) {
        guard state.stallWatch == nil, state.stallDelay > .zero else { return }
        noteRest(&state)
        // The second look only has to miss the moment between an end and its announcement.
        let delay = delay ?? (isSecondLook ? min(state.stallDelay / 10, .seconds(1)) : state.stallDelay)
        let watch = StallWatch(self, starts: state.starts, isSecondLook: isSecondLook, after: delay)
        state.stallWatch = watch
        state.newWatch = watch
        isWatched.store(true, ordering: .sequentiallyConsistent)
    }

    private func endWatch(_ state: inout State) -> StallWatch? {
        isWatched.store(false, ordering: .sequentiallyConsistent)
        return state.stallWatch.take()
    }

    /// Starts a timer, unless there is one. Called when the code of an operation of the queue has begun to wait, and on the main
    /// queue when the main thread has.
    ///
    /// One timer serves all waits that begin before it fires. It reads the waits after it has cleared the flag, and each wait is
    /// recorded before the flag is read. The lock of the record orders the two, and for the main thread their sequential consistency.
    final func watchWaits() {
        guard !isWatched.load(ordering: .sequentiallyConsistent) else { return }
        withState { state in
            // The code that waits has continued after an earlier stall.
            state.reportedAt = nil
            beginWatch(&state)
        }
    }

    /// Whether the queue cannot start an operation, and no operation runs, except operations that have yet to announce
    /// their end.
    private func isAtRest(_ state: borrowing State) -> Bool {
        isBlocked(state) && (state.machine.schedule.running == 0 || state.expectsAnnouncement)
    }

    private func isBlocked(_ state: borrowing State) -> Bool {
        // Only a group suspends the queue of its children, and the survey reports that.
        if ownerReference.isSet, state.machine.schedule.isSuspended { return false }
        if state.machine.isBlocked { return true }
        if state.usesMainThread { return MainThread.isWaiting && !state.machine.schedule.isEmpty }
        // The running operations may have all threads of the dispatch queue: it may be a serial one. The survey follows them.
        return state.underlyingQueue != nil && state.machine.schedule.running > 0
    }

    /// Notes that the `start()` of an operation has returned, and that its end will be announced later, on any thread.
    final func expectAnnouncement() {
        withState { state in
            state.expectsAnnouncement = true
            watchForStall(&state)
        }
    }

    fileprivate func check(_ watch: StallWatch) {
        let found: (isBlocked: Bool, running: [Operation], restsSince: UInt64)? = withState { state in
            guard state.stallWatch === watch else { return nil }
            _ = endWatch(&state)
            noteRest(&state)
            let isBlocked = isBlocked(state) && state.starts == watch.starts
            return (isBlocked, state.runningOperations, state.rest?.since ?? 0)
        }
        guard let found else { return }
        if watch.isLate { return withState { beginWatch(&$0, isSecondLook: watch.isSecondLook) } }
        let running = RunningOperations(found.running, restingSince: found.restsSince)
        let mustWait = found.isBlocked ? running.mustWait(for: stallDelay, isSecondLook: watch.isSecondLook) : .forAny
        // Something outside the queue may still move, such as a dependency in another queue.
        guard case .no = mustWait, let report = stallReport() else {
            return withState { state in
                // Operations that have started since set their own timer.
                if !running.hasSilent, state.starts == watch.starts { state.expectsAnnouncement = false }
                let isSecondLook = if case .forAnnouncements = mustWait { state.starts == watch.starts } else { false }
                if case .forYoungRest(let rest) = mustWait {
                    if state.reportedAt != state.starts { beginWatch(&state, after: rest) }
                } else if running.hasWaits || state.usesMainThread && MainThread.isWaiting {
                    if state.reportedAt != state.starts { beginWatch(&state, isSecondLook: isSecondLook) }
                } else {
                    watchForStall(&state, isSecondLook: isSecondLook)
                }
            }
        }
        // The stall may be reported already, by the timer of a changed delay. The queue may also have started again, or
        // reports may have been switched off.
        let isFirst = withState { state in
            guard state.stallDelay > .zero else { return false }
            defer { state.reportedAt = watch.starts }
            return state.starts == watch.starts && state.reportedAt != watch.starts
        }
        guard isFirst else { return }
        let outermost = outermost.queue
        HeldLocks.assertNone()
        outermost.hooks.load()?.notify(report)
        if let handler = outermost.stallHandler { handler(report) } else { Log.warning(report.description) }
    }

    /// Ends the timer. Called by `deinit`.
    final func abandonStallWatch() {
        if let watch = state.withLock({ endWatch(&$0) }) { Monitor.shared.cancel(watch) }
    }

    // MARK: - For users

    /// A closure that receives each stall report, in place of the log; nil for the log.
    ///
    /// The closure is called once for each stall, on a thread of the system. It also receives the stalls of the groups and retries
    /// in the queue. See `StallReport`.
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
            setStallDelay(newValue)
            // The groups and retries in the queue have the delay of the queue. A loop, because they may be nested deep.
            var outer = [self]
            while let queue = outer.popLast() {
                let inner = queue.listed().compactMap { ($0 as? AsyncOperation)?.innerQueue }
                for queue in inner { queue.setStallDelay(newValue) }
                outer += inner
            }
        }
    }

    final func setStallDelay(_ delay: Duration) {
        let old = withState { state in
            let old = endWatch(&state)
            state.stallDelay = delay
            watchForStall(&state)
            // The operations may wait since before the change.
            if old != nil || state.machine.schedule.running > 0 { beginWatch(&state) }
            return old
        }
        if let old { Monitor.shared.cancel(old) }
    }

    /// Returns the reasons for which no operation of the queue can start; nil when an operation runs or can start.
    /// O(operations and their dependencies).
    public final func stallReport() -> StallReport? {
        let survey = StallSurvey(of: listed())
        guard survey.isStalled else { return nil }
        let (outermost, path) = outermost
        return StallReport(
            queue: outermost === self && !path.isEmpty ? "" : outermost.readName() ?? "", path: path,
            blocked: survey.explanations(), causes: survey.causes(), root: survey.root())
    }

    /// The queue that the user has made: the one around the groups and retries that own this queue, and the labels of these
    /// operations, outermost first. The queue itself, if the outermost of the operations is in no queue.
    final var outermost: (queue: OperationQueue, path: [String]) {
        var (queue, path): (OperationQueue, [String]) = (self, [])
        while let owner = queue.queueOwner, let operation = owner.operation {
            path.append(operation.label)
            guard let outer = owner.outerQueue else { return (self, path.reversed()) }
            queue = outer
        }
        return (queue, path.reversed())
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

/// The running operations of a queue at one moment, as the watch sees them.
private struct RunningOperations {
    private var moving = 0
    /// Whether an operation may still announce its end.
    private(set) var hasSilent = false
    /// Whether an operation has ended, and has not announced its end.
    private var hasEndedSilently = false
    private(set) var hasWaits = false
    /// The time at which the last wait began, or the last operation started or ended.
    private var lastChange: UInt64

    enum Wait {
        case no
        /// Operations have ended, and may be about to announce it. The check may come between the two.
        case forAnnouncements
        /// The delay is not over.
        case forYoungRest(rest: Duration)
        /// An operation moves.
        case forAny
    }

    /// Whether all are groups or retries that wait for their parts. The inner queues report stalls of these.
    private let isOfParts: Bool

    init(_ operations: [Operation], restingSince since: UInt64) {
        lastChange = since
        isOfParts = !operations.isEmpty && operations.allSatisfy(\.waitsForPartsOnly)
        for operation in operations {
            let waits = operation.waitsOfAllCode
            if let last = waits.map(\.since).max() {
                hasWaits = true
                lastChange = max(lastChange, last)
            } else if (operation as? AsyncOperation)?.innerQueue != nil {
                // The inner queue watches the parts, and the survey follows them.
                continue
            } else if operation.awaitsAnnouncement {
                hasSilent = true
                if untracked({ operation.isFinished }) { hasEndedSilently = true } else { moving += 1 }
            } else {
                moving += 1
            }
        }
    }

    func mustWait(for delay: Duration, isSecondLook: Bool) -> Wait {
        if moving > 0 || isOfParts { return .forAny }
        if hasEndedSilently, !isSecondLook { return .forAnnouncements }
        let age = MonotonicClock.elapsed(since: lastChange)
        if age < delay.wholeNanoseconds { return .forYoungRest(rest: delay - .nanoseconds(age)) }
        return .no
    }
}
