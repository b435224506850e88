import Synchronization

/// The speed at which one worker runs the operations of one queue, measured at intervals. See `SprintPlan`.
///
/// A worker that *sprints* attends its queue. It calls no other worker before it runs an operation, and looks for work after
/// each operation. So adding threads need not call a worker. An operation that blocks or takes long breaks the pattern. Then
/// the `Monitor` calls another worker after two of its looks, some milliseconds.
struct Pace {
    private static let interval = 64
    /// The longest time that is measured, in nanoseconds. A clock may jump.
    private static let longestTime: UInt64 = 1_000_000_000_000

    private var count = 0
    private var start = MonotonicClock.now
    /// The nanoseconds of the interval in which the worker waited for operations.
    private var waited: UInt64 = 0
    private var plan = SprintPlan()

    /// Counts an operation. True: the interval is over, and the caller ends it.
    @inline(__always)
    mutating func ranOne() -> Bool {
        count += 1
        return count == Self.interval
    }

    mutating func addWait(since start: UInt64) { waited += MonotonicClock.elapsed(since: start) }

    /// Ends an interval. True: one worker is enough for the queue.
    ///
    /// - Parameter sharedUntil: The value of the queue. If two workers write at once, one result is lost, which a later interval
    ///   finds out.
    mutating func endInterval(_ sharedUntil: borrowing Atomic<UInt64>, workers: Int, attends: Bool) -> Bool {
        let now = MonotonicClock.now
        let time = now > start ? min(now - start, Self.longestTime) : 0
        let interval = SprintPlan.Interval(
            time: time / UInt64(Self.interval), busy: (time - min(waited, time)) / UInt64(Self.interval), end: now,
            attends: attends, workers: workers)
        (count, start, waited) = (0, now, 0)
        let old = sharedUntil.load(ordering: .relaxed)
        var new = old
        let sprints = plan.sprints(after: interval, sharedUntil: &new)
        if new != old { sharedUntil.store(new, ordering: .relaxed) }
        return sprints
    }
}
