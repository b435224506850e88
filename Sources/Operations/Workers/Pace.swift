/// How fast one worker runs one queue's operations, looked at every so many of them.
///
/// When they take less than a microsecond, a second worker only gets in the way: handing the queue's lock from core to
/// core costs more than the work. Then one worker *sprints*. The others leave; it calls nobody before it runs an
/// operation, and who adds one need not call it; it promises to look after each. An operation that breaks the pattern,
/// because it blocks or takes long, makes the promise late, and the `Monitor` calls another worker after two of its
/// looks, some milliseconds.
struct Pace {
    private static let interval = 64
    /// Nanoseconds an operation, all included.
    private static let tiny: UInt64 = 1_000

    private var count = 0
    private var start = MonotonicClock.now
    /// A worker that loses its core for a moment seems slow once; two slow intervals in a row end the sprint.
    private var slowIntervals = 2
    /// The worker has promised to look after each operation, and the queue's `Signal` says so.
    var attends = false

    var isSprint: Bool { slowIntervals < 2 }

    /// The answer is of this moment.
    var isFresh: Bool { count == 0 }

    mutating func ranOne() {
        count += 1
        guard count == Self.interval else { return }
        let now = MonotonicClock.now
        slowIntervals = now - start < Self.tiny * UInt64(Self.interval) ? 0 : min(slowIntervals + 1, 2)
        start = now
        count = 0
    }
}
