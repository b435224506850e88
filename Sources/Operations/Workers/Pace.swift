/// The speed at which one worker runs the operations of one queue, measured at intervals.
///
/// If operations take less than a microsecond, a second worker only disturbs: passing the queue's lock between cores
/// costs more than the work. Then one worker *sprints*. The other workers leave. The sprinting worker calls no other
/// worker before it runs an operation, and looks for work after each operation. So adding threads need not call a worker.
/// An operation that blocks or takes long breaks the pattern. Then the `Monitor` calls another worker after two of its
/// looks, some milliseconds.
struct Pace {
    private static let interval = 64
    /// The time of a tiny operation in nanoseconds, overhead included.
    private static let tiny: UInt64 = 1_000

    private var count = 0
    private var start = MonotonicClock.now
    /// The number of consecutive slow intervals. A worker that loses its core for a moment is slow once. Two slow
    /// intervals end the sprint.
    private var slowIntervals = 2
    /// Whether the worker looks for work after each operation, and the queue's `Signal` has that flag.
    var attends = false

    var isSprint: Bool { slowIntervals < 2 }

    /// Whether the value of `isSprint` was computed at this moment.
    var isFresh: Bool { count == 0 }

    @inline(__always)
    mutating func ranOne() {
        count += 1
        if count == Self.interval { measure() }
    }

    @inline(never)
    private mutating func measure() {
        let now = MonotonicClock.now
        slowIntervals = now - start < Self.tiny * UInt64(Self.interval) ? 0 : min(slowIntervals + 1, 2)
        start = now
        count = 0
    }
}
