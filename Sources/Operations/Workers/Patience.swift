/// The time that a worker without work waits for more before it sleeps.
///
/// Waking a thread that sleeps takes longer than most operations. A worker that always waits for a few microseconds only may
/// never again be awake when work arrives. Take a thread that adds an operation and waits for it, again and again. Each
/// operation then wakes the worker, its end wakes that thread, and the worker sleeps before that thread runs. So a worker
/// whose last sleep was short waits for as long as a sleep costs. If nothing arrives, the next short sleeps change nothing.
struct Patience {
    /// The longest sleep, in nanoseconds, that is considered short: some wake-ups, because workers may take turns.
    private static let shortSleep: UInt64 = 250_000
    /// About twice the time of a wake-up on slow machines.
    private static let longWait: UInt64 = 50_000
    /// The number of short sleeps after a long wait in which nothing arrived.
    private static let pause = 16

    /// More looks than fit into the longest wait.
    private static let mostLooks = 10_000

    private var workEnded: UInt64?
    private var sleepsToIgnore = 0
    /// The time in nanoseconds to wait after the first microseconds.
    private(set) var longestWait: UInt64 = 0

    mutating func workArrived(at now: UInt64) {
        longestWait = 0
        guard let workEnded, now >= workEnded, now - workEnded < Self.shortSleep else { return }
        if sleepsToIgnore > 0 { sleepsToIgnore -= 1 } else { longestWait = Self.longWait }
    }

    mutating func workEnded(at now: UInt64) { workEnded = now }

    /// Checks the condition until it is true, or the wait is over. Returns the last result.
    ///
    /// - Parameter isWanted: Whether other sources need the worker. Then the wait is over after the first microseconds.
    @inline(__always)
    mutating func spin(until condition: () -> Bool, orWanted isWanted: () -> Bool) -> Bool {
        Processor.spin(until: condition) || longestWait > 0 && spinLong(condition, isWanted)
    }

    @inline(never)
    private mutating func spinLong(_ condition: () -> Bool, _ isWanted: () -> Bool) -> Bool {
        let start = MonotonicClock.now
        // The number of looks ends the wait if the clock stands still.
        for _ in 0..<Self.mostLooks {
            guard MonotonicClock.elapsed(since: start) < longestWait, !isWanted() else { break }
            if Processor.spin(until: condition) { return true }
        }
        longWaitEnded()
        return false
    }

    /// Records a long wait in which nothing arrived.
    mutating func longWaitEnded() {
        sleepsToIgnore = Self.pause
        longestWait = 0
    }
}
