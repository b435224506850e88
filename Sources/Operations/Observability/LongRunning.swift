import OperationsPrimitives
import SchedulerCore

extension OperationQueue {
    /// The time after which an operation that still executes is reported, once; zero for no report, which is the default.
    ///
    /// A queue cannot know whether an operation that runs will end, so it is part of no stall report. This report has the time since
    /// its start, the operation or queue that its code awaits, and the number of operations that wait for it. The time includes
    /// waits of the operation and pauses, and excludes the time that the machine sleeps. A group and a retry count as one operation.
    /// Barriers are reported as well.
    ///
    /// A queue with this setting pays about as much for each operation as a queue with a watcher of events. A queue of a manual
    /// executor reports nothing, because its time is not that of the system.
    public final var longRunningDelay: Duration {
        get { hooks.load()?.longRunning.withLock { $0.delay } ?? .zero }
        set {
            guard newValue > .zero || hooks.isSet else { return }
            let new = newValue > .zero && host == nil ? LongRunningWatch(self, delay: newValue.roundedUp) : nil
            let old = ownHooks.longRunning.withLock { setting in
                setting.delay = newValue
                return replace(&setting.watch, by: new)
            }
            if let old { removeWatcher(old) }
            guard let new else { return }
            addWatcher(new)
            new.addRunning(members().filter { !$0.word.lifecycle.isPartOfTask })
        }
    }

    /// A closure that receives each report of ``longRunningDelay``, in place of the log; nil for the log. It is called on a thread
    /// of the system.
    public final var longRunningHandler: (@Sendable (Explanation) -> Void)? {
        get { hooks.load()?.longRunning.withLock { $0.handler } }
        set {
            var handler = newValue
            ownHooks.longRunning.withLock { swap(&$0.handler, &handler) }
        }
    }

    final var longRunningWatch: LongRunningWatch? { hooks.load()?.longRunning.withLock { $0.watch } }

    fileprivate func report(longRunning operation: Operation) {
        let explanation = explain(operation)
        guard explanation.reasons.contains(.executing) else { return }
        HeldLocks.assertNone()
        if let handler = longRunningHandler { return handler(explanation) }
        Log.warning("queue \((readName() ?? "").inQuotes) has a long-running operation: \(explanation)")
    }
}

extension Lifecycle {
    fileprivate var isPartOfTask: Bool { contains(.unlisted) && !contains(.barrier) }
}

private func replace<Value>(_ value: inout Value, by new: Value) -> Value {
    var new = new
    swap(&value, &new)
    return new
}

/// The setting of a queue for reports of operations that run for long.
struct LongRunningSetting {
    var delay = Duration.zero
    var handler: (@Sendable (Explanation) -> Void)?
    var watch: LongRunningWatch?
}

/// The operations of a queue that have started and were not reported, in the order of their starts. All have the same delay, so the
/// first one is due first, and one timer is enough.
final class LongRunningWatch: QueueWatcher, @unchecked Sendable {
    // Sendable: the constants, and a lock.
    private weak let queue: OperationQueue?
    private let delay: UInt64
    private let state = Locked(State())

    private struct State {
        var running = KeyedList<Running>()
        var timer: CheckTimer?
        var isRemoved = false
    }

    private struct Running {
        let operation: Operation
        let start: UInt64
    }

    private final class CheckTimer: Timer, @unchecked Sendable {
        private weak let watch: LongRunningWatch?

        init(_ watch: LongRunningWatch, deadline: UInt64) {
            self.watch = watch
            super.init(.suspending, deadline: deadline)
        }

        override func fire() { watch?.check() }
    }

    init(_ queue: OperationQueue, delay: UInt64) {
        self.queue = queue
        self.delay = delay
    }

    deinit {
        if let timer = state.withLock({ $0.timer.take() }) { Monitor.shared.cancel(timer) }
    }

    func operation(_ operation: Operation, did step: QueueStep) {
        switch step {
        case .wasAdded: break
        case .starts: begin(operation)
        case .hasFinished: end(operation)
        }
    }

    /// Adds the operations that had started before the watch was added.
    func addRunning(_ operations: [Operation]) {
        let now = TimerClock.suspending.now
        let running = operations.compactMap { operation in
            operation.executionTime.map { Running(operation: operation, start: now - min(now, $0.roundedUp)) }
        }
        let (old, new): (CheckTimer?, CheckTimer?) = state.withLock { state in
            guard !state.isRemoved else { return (nil, nil) }
            let all = (running + state.running.elements).sorted { $0.start < $1.start }
            state.running = KeyedList()
            for each in all { _ = state.running.add(each, key: each.operation.scheduleID) }
            let old = state.timer.take()
            return (old, newTimer(&state))
        }
        if let old { Monitor.shared.cancel(old) }
        if let new { Monitor.shared.start(new) }
        // Their ends may have been announced before they were added here.
        for each in running where each.operation.word.lifecycle.hasClaimedEnd { end(each.operation) }
    }

    func wasRemoved() {
        let (running, timer) = state.withLock { state in
            state.isRemoved = true
            defer { state.running = KeyedList() }
            return (state.running, state.timer.take())
        }
        if let timer { Monitor.shared.cancel(timer) }
        withExtendedLifetime(running) {}
    }

    private func begin(_ operation: Operation) {
        let now = TimerClock.suspending.now
        let timer: CheckTimer? = state.withLock { state in
            guard !state.isRemoved else { return nil }
            _ = state.running.add(Running(operation: operation, start: now), key: operation.scheduleID)
            return newTimer(&state)
        }
        if let timer { Monitor.shared.start(timer) }
    }

    private func end(_ operation: Operation) {
        let removed = state.withLock { $0.running.remove(operation.scheduleID) }
        withExtendedLifetime(removed) {}
    }

    /// Makes a timer, which the caller starts without the lock. One timer serves all operations that start before it fires.
    private func newTimer(_ state: inout State) -> CheckTimer? {
        guard state.timer == nil, let first = state.running.first else { return nil }
        let timer = CheckTimer(self, deadline: first.start.addingSaturated(delay))
        state.timer = timer
        return timer
    }

    private func check() {
        let now = TimerClock.suspending.now
        let (due, timer): ([Operation], CheckTimer?) = state.withLock { state in
            state.timer = nil
            var due: [Operation] = []
            while let first = state.running.first, now >= first.start.addingSaturated(delay) {
                _ = state.running.remove(first.operation.scheduleID)
                if first.operation.word.lifecycle.phase == .enqueued {
                    // It is paused, or has released its slot. It is looked at again when it may have continued for long enough.
                    _ = state.running.add(
                        Running(operation: first.operation, start: now), key: first.operation.scheduleID)
                } else {
                    due.append(first.operation)
                }
            }
            return (due, newTimer(&state))
        }
        if let timer { Monitor.shared.start(timer) }
        guard let queue else { return }
        for operation in due { queue.report(longRunning: operation) }
    }
}

extension UInt64 {
    fileprivate func addingSaturated(_ other: UInt64) -> UInt64 {
        let (sum, isTooLarge) = addingReportingOverflow(other)
        return isTooLarge ? .max : sum
    }
}
