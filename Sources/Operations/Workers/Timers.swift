import SchedulerCore
import Synchronization

/// All timers that have not ended. Any thread starts and cancels timers, without a lock. The monitor alone waits for them.
///
/// A thread pushes a new timer on a stack, and the monitor moves it into a heap when it looks. The monitor sleeps until the
/// earliest timer of the heaps, so a thread wakes it only for a timer that is earlier. A cancelled timer stays where it
/// is. The monitor removes the cancelled timers when they are a third of all.
final class Timers: Sendable {
    private let added = Atomic<UInt>(0)
    /// The time of the suspending clock at which the monitor looks in any case; 0 while it is going to look.
    private let nextLook = Atomic<UInt64>(.max)
    /// The numbers of timers on the stack and in the heaps.
    private let count = Atomic<Int>(0)
    private let cancelled = Atomic<Int>(0)
    private let mustSweep = Atomic(false)

    private static let mostCancelled = 64
    /// One minute.
    private static let longestDelay: UInt64 = 60_000_000_000

    /// Adds a timer. True: the monitor would look too late, and has to be woken.
    func add(_ timer: Timer) -> Bool {
        count.wrappingAdd(1, ordering: .relaxed)
        // Read before the push: the monitor may release the timer.
        let look =
            timer.clock == .suspending
            ? timer.deadline : TimerClock.suspending.deadline(after: timer.clock.delay(until: timer.deadline))
        let new = UInt(bitPattern: Unmanaged.passRetained(timer).toOpaque())
        var old = added.load(ordering: .relaxed)
        while true {
            timer.next = .at(old)
            let (done, seen) = added.weakCompareExchange(
                expected: old, desired: new, successOrdering: .sequentiallyConsistent, failureOrdering: .relaxed)
            if done { break }
            old = seen
        }
        // Sequentially consistent with `beginWait`, which stores the time and then reads the stack. So this thread sees the
        // time, or the monitor sees the timer.
        return look < nextLook.load(ordering: .sequentiallyConsistent)
    }

    /// Cancels a timer, before or after it was added.
    ///
    /// - Returns: Whether this call ended the timer, and whether the monitor has to be woken to sweep.
    func cancel(_ timer: Timer) -> (isCancelled: Bool, wakes: Bool) {
        guard timer.end() else { return (false, false) }
        let new = cancelled.wrappingAdd(1, ordering: .relaxed).newValue
        guard new > Self.mostCancelled, new > count.load(ordering: .relaxed) / 3 else { return (true, false) }
        return (true, !mustSweep.exchange(true, ordering: .sequentiallyConsistent))
    }

    // MARK: - For the monitor

    /// The timers that the monitor has taken.
    struct Taken {
        fileprivate var suspending = DeadlineHeap<Timer>()
        fileprivate var continuous = DeadlineHeap<Timer>()
        private var lateSuspending = CatchUp<Timer>()
        private var lateContinuous = CatchUp<Timer>()

        /// The time of the suspending clock at which the monitor has to look; the largest time without timers.
        fileprivate var nextLook: UInt64 {
            if lateSuspending.isUnderWay { return lateSuspending.nextTurn }
            if lateContinuous.isUnderWay {
                return TimerClock.suspending.deadline(
                    after: TimerClock.continuous.delay(until: lateContinuous.nextTurn))
            }
            let first = suspending.earliest ?? .max
            guard let other = continuous.earliest else { return first }
            // A thread cannot sleep on this clock. So after the machine has slept, a timer is late by this time at most.
            let delay = min(TimerClock.continuous.delay(until: other), Timers.longestDelay)
            return min(first, TimerClock.suspending.deadline(after: delay))
        }

        fileprivate mutating func insert(_ timer: Timer) {
            switch timer.clock {
            case .suspending: suspending.insert(timer, at: timer.deadline)
            case .continuous: continuous.insert(timer, at: timer.deadline)
            }
        }

        /// Returns the timers that fire now.
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

        fileprivate mutating func removeEnded() -> Int {
            let before = suspending.count + continuous.count
            suspending.removeAll(where: \.hasEnded)
            continuous.removeAll(where: \.hasEnded)
            return before - suspending.count - continuous.count
        }
    }

    /// Takes all new timers, and calls the body with each timer that is due.
    func takeDue(_ taken: inout Taken, _ body: (Timer) -> Void) {
        var node = Unmanaged<Timer>.at(
            added.load(ordering: .relaxed) == 0 ? 0 : added.exchange(0, ordering: .acquiring))
        while let current = node {
            let timer = current.takeRetainedValue()
            node = timer.next
            timer.next = nil
            if timer.hasEnded { left(1, cancelled: true) } else { taken.insert(timer) }
        }
        if mustSweep.exchange(false, ordering: .sequentiallyConsistent) { left(taken.removeEnded(), cancelled: true) }
        for timer in taken.removeDue() {
            let fires = timer.end()
            left(1, cancelled: !fires)
            if fires { body(timer) }
        }
    }

    private func left(_ number: Int, cancelled areCancelled: Bool) {
        count.wrappingSubtract(number, ordering: .relaxed)
        if areCancelled { cancelled.wrappingSubtract(number, ordering: .relaxed) }
    }

    /// Returns the time in nanoseconds that the monitor may sleep. nil: it must look at once.
    ///
    /// - Parameter limit: The longest sleep.
    func beginWait(_ taken: Taken, atMost limit: UInt64 = .max) -> UInt64? {
        let look = min(taken.nextLook, limit == .max ? .max : TimerClock.suspending.deadline(after: limit))
        nextLook.store(look, ordering: .sequentiallyConsistent)
        if added.load(ordering: .sequentiallyConsistent) == 0 {
            return look == .max ? .max : TimerClock.suspending.delay(until: look)
        }
        endWait()
        return nil
    }

    func endWait() { nextLook.store(0, ordering: .relaxed) }

    /// The number of timers that are in memory, for tests.
    var countInMemory: Int { count.load(ordering: .relaxed) }
}
