/// The speed at which one worker runs the operations of one queue, measured at intervals.
///
/// If operations take less than a microsecond, a second worker only disturbs: passing the queue's lock between cores
/// costs more than the work. Then one worker *sprints*. The other workers leave. The sprinting worker calls no other
/// worker before it runs an operation, and looks for work after each operation. So adding threads need not call a worker.
/// An operation that blocks or takes long breaks the pattern. Then the `Monitor` calls another worker after two of its
/// looks, some milliseconds.
///
/// Two workers that disturb each other find even empty operations to take some microseconds each. So a worker that finds
/// its operations to be slow, but not too slow for that, sprints for two intervals to try (`Trials`).
struct Pace {
    static let interval = 64
    /// The time of a tiny operation in nanoseconds, overhead included.
    static let tiny: UInt64 = 1_000
    /// The time of a tiny operation in nanoseconds when workers disturb each other. The longest mean that was seen is 5,000.
    static let disturbed: UInt64 = 8_000

    private var count = 0
    /// The start of the interval. The time in which the worker waited for work is added.
    private var start: UInt64
    /// The number of consecutive slow intervals. A worker that loses its core for a moment is slow once. Two slow
    /// intervals end the sprint.
    private var slowIntervals = 2
    private var trials = Trials()
    /// Whether the worker looks for work after each operation, and the queue's `Signal` has that flag.
    var attends = false

    init(at now: UInt64 = MonotonicClock.now) { start = now }

    var isSprint: Bool { slowIntervals < 2 }

    /// Whether the value of `isSprint` was computed at this moment.
    var isFresh: Bool { count == 0 }

    @inline(__always)
    mutating func ranOne() {
        count += 1
        if count == Self.interval { endInterval() }
    }

    @inline(never)
    mutating func endInterval(at now: UInt64 = MonotonicClock.now) {
        note(now - start)
        start = now
        count = 0
    }

    /// Records the time of an interval in nanoseconds.
    mutating func note(_ time: UInt64) {
        let operation = time / UInt64(Self.interval)
        if operation < Self.tiny {
            slowIntervals = 0
        } else if slowIntervals < 1 {
            slowIntervals += 1
        } else {
            let sprints = operation < Self.disturbed && trials.isDue()
            slowIntervals = sprints ? 0 : 2
        }
    }

    /// Stops the clock while the worker waits for work.
    mutating func pause(at now: UInt64 = MonotonicClock.now) {
        // The time that has passed, until `resume` makes it a start again.
        start = now - start
    }

    mutating func resume(at now: UInt64 = MonotonicClock.now) { start = now - start }

    /// The slow intervals after which a worker tries to sprint. The more trials have failed, the rarer they are.
    struct Trials {
        static let most = 256
        private var pause = 4
        private var left = 3

        /// Counts a slow interval. Whether the worker tries to sprint now.
        mutating func isDue() -> Bool {
            guard left == 0 else {
                left -= 1
                return false
            }
            left = pause
            pause = min(pause * 2, Self.most)
            return true
        }
    }
}
