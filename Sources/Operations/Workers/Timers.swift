import OperationsPrimitives
import SchedulerCore

/// All timers that have not ended. Any thread starts and cancels timers, and the monitor alone waits for them.
///
/// The monitor sleeps until the earliest timer, so a thread wakes it only for a timer that is earlier. A cancelled timer stays in
/// its heap, because a search for it would be slow. The cancelled timers are removed when they are a third of all.
final class Timers: Sendable {
    private let state = Locked(State())

    private static let mostCancelled = 64
    /// One minute.
    private static let longestDelay: UInt64 = 60_000_000_000

    fileprivate struct State {
        var suspending = DeadlineHeap<Timer>()
        var continuous = DeadlineHeap<Timer>()
        var lateSuspending = CatchUp<Timer>()
        var lateContinuous = CatchUp<Timer>()
        /// The number of cancelled timers in the heaps.
        var cancelled = 0
        /// The time of the suspending clock at which the monitor looks in any case; 0 while it is going to look.
        var nextLook = UInt64.max

        var count: Int { suspending.count + continuous.count }
    }

    /// Adds a timer, unless it was cancelled before. True: the monitor would look too late, and has to be woken. O(log n).
    func add(_ timer: Timer) -> Bool {
        state.withLock { state in
            guard timer.phase == .new else { return false }
            timer.phase = .waiting
            switch timer.clock {
            case .suspending:
                state.suspending.insert(timer, at: timer.deadline)
                return timer.deadline < state.nextLook
            case .continuous:
                state.continuous.insert(timer, at: timer.deadline)
                let delay = timer.clock.delay(until: timer.deadline)
                return TimerClock.suspending.deadline(after: delay) < state.nextLook
            }
        }
    }

    /// Cancels a timer, before or after it was added. O(1) on average.
    ///
    /// - Returns: Whether this call ended the timer.
    func cancel(_ timer: Timer) -> Bool {
        let (isCancelled, removed): (Bool, [Timer]) = state.withLock { state in
            guard timer.phase != .over else { return (false, []) }
            if timer.phase == .waiting { state.cancelled += 1 }
            timer.phase = .over
            let isSweep = state.cancelled > Self.mostCancelled && state.cancelled > state.count / 3
            return (true, isSweep ? state.removeCancelled() : [])
        }
        // Without the lock: a timer may be the last to refer to objects of the user.
        withExtendedLifetime(removed) {}
        return isCancelled
    }

    // MARK: - For the monitor

    /// Removes the timers that are due, and calls the body with each that was not cancelled.
    func takeDue(_ body: (Timer) -> Void) {
        let due: [(timer: Timer, fires: Bool)] = state.withLock { state in
            state.removeDue().map { timer in
                let fires = timer.phase == .waiting
                timer.phase = .over
                if !fires { state.cancelled -= 1 }
                return (timer, fires)
            }
        }
        for (timer, fires) in due where fires { body(timer) }
    }

    /// Returns the time in nanoseconds that the monitor may sleep; the largest number if there is no timer.
    ///
    /// - Parameter limit: The longest sleep.
    func beginWait(atMost limit: UInt64 = .max) -> UInt64 {
        let end = limit == .max ? .max : TimerClock.suspending.deadline(after: limit)
        let look = state.withLock { state in
            state.nextLook = min(state.earliest, end)
            return state.nextLook
        }
        return look == .max ? .max : TimerClock.suspending.delay(until: look)
    }

    func endWait() { state.withLock { $0.nextLook = 0 } }

    /// The number of timers that are in memory, for tests.
    var countInMemory: Int { state.withLock { $0.count } }
}

extension Timers.State {
    /// The time of the suspending clock at which the monitor has to look; the largest time without timers.
    fileprivate var earliest: UInt64 {
        if lateSuspending.isUnderWay { return lateSuspending.nextTurn }
        if lateContinuous.isUnderWay {
            return TimerClock.suspending.deadline(after: TimerClock.continuous.delay(until: lateContinuous.nextTurn))
        }
        let first = suspending.earliest ?? .max
        guard let other = continuous.earliest else { return first }
        // A thread cannot sleep on this clock. So after the machine has slept, a timer is late by this time at most.
        let delay = min(TimerClock.continuous.delay(until: other), Timers.longestDelay)
        return min(first, TimerClock.suspending.deadline(after: delay))
    }

    /// Removes the timers whose time has come.
    fileprivate mutating func removeDue() -> [Timer] {
        Self.removeDue(from: &suspending, &lateSuspending, of: .suspending)
            + Self.removeDue(from: &continuous, &lateContinuous, of: .continuous)
    }

    private static func removeDue(
        from heap: inout DeadlineHeap<Timer>, _ late: inout CatchUp<Timer>, of clock: TimerClock
    ) -> [Timer] {
        guard late.isUnderWay || heap.count > 0 else { return [] }
        let now = clock.now
        if late.isUnderWay { return late.takeTurn(at: now) }
        var due: [(UInt64, Timer)] = []
        while let timer = heap.removeFirst(dueBy: now) { due.append((timer.deadline, timer)) }
        return late.begin(with: due, at: now)
    }

    /// Removes the cancelled timers. O(n).
    fileprivate mutating func removeCancelled() -> [Timer] {
        var removed: [Timer] = []
        let isToGo = { (timer: Timer) in
            if timer.phase == .over { removed.append(timer) }
            return timer.phase == .over
        }
        suspending.removeAll(where: isToGo)
        continuous.removeAll(where: isToGo)
        cancelled -= removed.count
        return removed
    }
}
