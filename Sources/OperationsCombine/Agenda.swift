#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif
import Operations
import SchedulerCore

// Files without `#if Combine` are the machinery, which needs no OpenCombine.

/// What is to be done at which date. What is due is done by one thread at a time, in the order of the dates, and of
/// those of one date in the order entered.
///
/// It sleeps in one task at most, until the earliest date. So ten thousand entries are ten thousand small objects.
final class Agenda: Sendable {
    /// Something to be done at a date.
    final class Entry: @unchecked Sendable {
        // Sendable: the variables are guarded by the agenda's lock.
        /// Nil when it has been taken up, or crossed out.
        fileprivate var work: (@Sendable () -> Void)?
        fileprivate var isEntered = false

        init(_ work: @escaping @Sendable () -> Void) { self.work = work }
    }

    /// The sleep until a deadline.
    fileprivate final class Alarm: @unchecked Sendable {
        // Sendable: the variable is guarded by the agenda's lock.
        let deadline: UInt64
        var task: Task<Void, Never>?

        init(at deadline: UInt64) { self.deadline = deadline }
    }

    fileprivate struct State {
        var entries = DeadlineHeap<Entry>()
        /// How many of them are crossed out.
        var crossedOut = 0
        /// The one that sleeps, for the earliest entry. None while one rings.
        var alarm: Alarm?
        /// A thread does what is due, and sets the alarm afterwards.
        var isRinging = false
    }

    let timeline: Timeline
    private let executor: any TaskExecutor
    private let state = Locked(State())

    /// The one of all queues, for the dates of the system's clock.
    ///
    /// Its alarm rings on a thread of the pools, never in a queue, which may be suspended.
    static let realTime = Agenda(
        Timeline(of: ContinuousClock()) { Date() }, executor: Operations.OperationQueue().executorBeside)

    /// - Parameter executor: Where the entries' work is done.
    init(_ timeline: Timeline, executor: any TaskExecutor) {
        self.timeline = timeline
        self.executor = executor
    }

    // MARK: - Entering and crossing out

    /// Has the entry's work done at a date, in seconds since the reference date; soon when that has passed. O(log n).
    ///
    /// An entry is entered once; one that has been crossed out before is not.
    func enter(_ entry: Entry, at date: TimeInterval) {
        let deadline = timeline.deadline(of: date)
        change { state in
            guard entry.work != nil else { return }
            entry.isEntered = true
            state.entries.insert(entry, at: deadline)
        }
    }

    /// From here on the entry's work is not taken up any more. O(log n) in the mean.
    func crossOut(_ entry: Entry) {
        var work: (@Sendable () -> Void)?
        change { state in
            work = entry.work.take()
            guard work != nil, entry.isEntered else { return }
            state.crossedOut += 1
            if state.crossedOut > 32 + state.entries.count / 2 { state.tidy() }
        }
        // It is let go only now: what it holds is the user's, and its end may call anything.
        withExtendedLifetime(work) {}
    }

    /// Changes the state, and sets the alarm for the entry that is the earliest then.
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
        // Detached: it serves many, so nothing of the one who happens to set it goes along.
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

    /// Does what is due, and what becomes due meanwhile. Who comes while another one does that leaves it to him.
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

    /// Nil when nothing is due: then the ringing is over, and the alarm is set.
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

    /// Drops all that is crossed out. O(n), after as many were crossed out as there are entries left.
    fileprivate mutating func tidy() {
        entries.removeAll { $0.work == nil }
        crossedOut = 0
    }

    /// Makes the alarm fit the earliest entry. Answers the sleep to be cancelled, and the alarm to be set.
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
