/// The speed at which one worker runs the operations of one queue, measured at intervals.
///
/// If operations take less than a microsecond, a second worker only disturbs: passing the queue's lock between cores
/// costs more than the work. Then one worker *sprints*. The other workers leave. The sprinting worker calls no other
/// worker before it runs an operation, and looks for work after each operation. So adding threads need not call a worker.
/// An operation that blocks or takes long breaks the pattern. Then the `Monitor` calls another worker after two of its
/// looks, some milliseconds.
///
/// Two or more workers that disturb each other find even empty operations to take some microseconds each. So a worker whose
/// operations are slow, but not too slow for that, sprints for two intervals to try (`Trials`). It continues if it is
/// then at least as fast as all the workers together were.
struct Pace {
    static let interval = 64
    /// The time of a tiny operation in nanoseconds, overhead included.
    static let tiny: UInt64 = 1_000
    /// The time of a tiny operation in nanoseconds when workers disturb each other. The longest mean that was seen is 5,000.
    static let disturbed: UInt64 = 8_000

    private var count = 0
    /// The start of the interval. The time in which the worker waited for work is added.
    private var start: UInt64
    /// The time of an operation up to which an interval is fast.
    private var limit = Self.tiny
    /// The number of consecutive slow intervals. A worker that loses its core for a moment is slow once. Two slow
    /// intervals end the sprint.
    private var slowIntervals = 2
    private var trials = Trials()
    /// Whether the worker looks for work after each operation, and the queue's `Signal` has that flag.
    var attends = false

    init(at now: UInt64 = MonotonicClock.now) { start = now }

    var isSprint: Bool { slowIntervals < 2 }

    /// Counts an operation. True: the interval is over, and the caller ends it.
    @inline(__always)
    mutating func ranOne() -> Bool {
        count += 1
        guard count == Self.interval else { return false }
        count = 0
        return true
    }

    /// - Parameter workers: The number of workers of the queue, this one included.
    mutating func endInterval(among workers: Int, at now: UInt64 = MonotonicClock.now) {
        note((now - start) / UInt64(Self.interval), among: workers)
        start = now
    }

    /// Records the time of an operation in nanoseconds, the mean of an interval.
    private mutating func note(_ time: UInt64, among workers: Int) {
        guard time >= limit else {
            slowIntervals = 0
            trials = Trials()
            return
        }
        slowIntervals = min(slowIntervals + 1, 2)
        guard slowIntervals == 2 else { return }
        limit = Self.tiny
        if workers > 1, time < Self.disturbed, trials.isDue() {
            limit = max(Self.tiny, time / UInt64(workers))
            slowIntervals = 0
        }
    }

    /// Stops the clock while the worker waits for work.
    mutating func pause(at now: UInt64 = MonotonicClock.now) {
        // The time that has passed, until `resume` makes it a start again.
        start = now - start
    }

    mutating func resume(at now: UInt64 = MonotonicClock.now) { start = now - start }

    /// The slow intervals after which a worker tries to sprint. The more trials have failed in a row, the rarer they are.
    struct Trials {
        static let most = 256
        private var pause = 4
        private var left = 1

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
