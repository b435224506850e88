#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif
import Operations
import OperationsPrimitives

// The files without `#if Combine` do not need OpenCombine.

/// A schedule of work for given dates. One thread at a time runs the work that is due, in the order of the dates. Work for the
/// same date runs in the order of the entries.
///
/// At most one task sleeps, until the earliest date. Ten thousand entries are therefore ten thousand small objects.
final class Agenda: Sendable {
    /// Work to run at a date.
    final class Entry: @unchecked Sendable {
        // Sendable: the agenda's lock guards the variables.
        /// The work; nil after it was taken to run, or cancelled.
        fileprivate var work: (@Sendable () -> Void)?
        fileprivate var isEntered = false

        init(_ work: @escaping @Sendable () -> Void) { self.work = work }
    }

    /// The sleep until a deadline.
    fileprivate final class Alarm: @unchecked Sendable {
        // Sendable: the agenda's lock guards the variable.
        let deadline: UInt64
        var task: Task<Void, Never>?

        init(at deadline: UInt64) { self.deadline = deadline }
    }

    fileprivate struct State {
        var entries = DeadlineHeap<Entry>()
        /// The number of cancelled entries that are still in `entries`.
        var crossedOut = 0
        /// The alarm for the earliest entry; nil while a thread runs due work.
        var alarm: Alarm?
        /// Whether a thread is running due work. The thread sets the alarm afterwards.
        var isRinging = false
    }

    let timeline: Timeline
    /// The operations that due work adds to queues.
    let additions = AdditionLine()
    private let executor: any TaskExecutor
    private let state = Locked(State())

    /// The shared agenda of all queues, for dates of the system's clock.
    ///
    /// Its alarm runs on a thread of the pools, never in a queue, because a queue may be suspended.
    static let realTime = Agenda(
        Timeline(of: ContinuousClock()) { Date() }, executor: Operations.OperationQueue().executorBeside)

    /// Creates an agenda.
    ///
    /// - Parameters:
    ///   - timeline: The source of dates.
    ///   - executor: The executor that runs the entries' work.
    init(_ timeline: Timeline, executor: any TaskExecutor) {
        self.timeline = timeline
        self.executor = executor
    }

    // MARK: - Adding and cancelling entries

    /// Schedules the entry's work for a date, in seconds since the reference date; at once if the date has passed. O(log n).
    ///
    /// An entry can be added once. An entry that was cancelled before is not added.
    func enter(_ entry: Entry, at date: TimeInterval) {
        let deadline = timeline.deadline(of: date)
        change { state in
            guard entry.work != nil else { return }
            entry.isEntered = true
            state.entries.insert(entry, at: deadline)
        }
    }

    /// Cancels the entry. Its work does not start after this call. Amortized O(log n).
    func crossOut(_ entry: Entry) {
        var work: (@Sendable () -> Void)?
        change { state in
            work = entry.work.take()
            guard work != nil, entry.isEntered else { return }
            state.crossedOut += 1
            if state.crossedOut > 32 + state.entries.count / 2 { state.tidy() }
        }
        // The work is released after the lock, because it holds user objects whose `deinit` may call anything.
        withExtendedLifetime(work) {}
    }

    /// Changes the state, and sets the alarm for the earliest entry.
    private func change(_ body: (inout State) -> Void) {
        let (old, new) = state.withLock { state in
            body(&state)
            return state.resetAlarm()
        }
        old?.cancel()
        if let new { set(new) }
    }

    // MARK: - The alarm

    private func set(_ alarm: Alarm) {
        // A detached task, because the alarm serves many callers and must not inherit the task-local values of one of them.
        let task = Task.detached(executorPreference: executor, priority: .high) { [self] in
            do { try await timeline.sleep(alarm.deadline) } catch { return }
            ring(alarm)
        }
        let isKept = state.withLock { state in
            guard state.alarm === alarm else { return false }
            alarm.task = task
            return true
        }
        if !isKept { task.cancel() }
    }

    /// Runs due work, and work that becomes due meanwhile. If another thread is already doing this, the function returns at
    /// once.
    private func ring(_ alarm: Alarm) {
        let isFirst = state.withLock { state in
            if state.alarm === alarm { state.alarm = nil }
            defer { state.isRinging = true }
            return !state.isRinging
        }
        guard isFirst else { return }
        while let due = takeDue(by: timeline.position) {
            HeldLocks.assertNone()
            for work in due { work() }
        }
    }

    /// Removes due work from the agenda. If none is due, the function ends the run, sets the alarm and returns nil.
    private func takeDue(by position: UInt64) -> [@Sendable () -> Void]? {
        var due: [@Sendable () -> Void] = []
        change { state in
            due = state.takeDue(by: position)
            if due.isEmpty { state.isRinging = false }
        }
        return due.isEmpty ? nil : due
    }
}

extension Agenda.State {
    fileprivate mutating func takeDue(by position: UInt64) -> [@Sendable () -> Void] {
        var due: [@Sendable () -> Void] = []
        while let entry = entries.removeFirst(dueBy: position) {
            if let work = entry.work.take() { due.append(work) } else { crossedOut -= 1 }
        }
        return due
    }

    /// Removes all cancelled entries. O(n), but only after as many cancellations as entries remain.
    fileprivate mutating func tidy() {
        entries.removeAll { $0.work == nil }
        crossedOut = 0
    }

    /// Updates the alarm for the earliest entry. Returns the sleep to cancel, and the alarm to set.
    fileprivate mutating func resetAlarm() -> (old: Task<Void, Never>?, new: Agenda.Alarm?) {
        while let first = entries.first, first.element.work == nil {
            entries.popFirst()
            crossedOut -= 1
        }
        let deadline = isRinging ? nil : entries.earliest
        guard deadline != alarm?.deadline else { return (nil, nil) }
        let old = alarm?.task
        alarm = deadline.map(Agenda.Alarm.init)
        return (old, alarm)
    }
}
