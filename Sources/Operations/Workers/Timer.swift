/// A timer: work to do at a time, on a thread of the pools.
///
/// A timer depends on no part that may itself be blocked. The runtime of Swift fires no timer while tasks compute on all of
/// its threads. Dispatch fires none while all of its threads are blocked. A time limit has to end such work, and a stall of
/// such work has to be reported.
class Timer: WorkSource, @unchecked Sendable {
    // Sendable: the lock of the timers guards `phase`. The rest is constant.
    let clock: TimerClock
    /// The time of the clock at which the timer fires.
    let deadline: UInt64
    @exclusivity(unchecked) var phase = Phase.new

    enum Phase {
        case new, waiting
        /// The timer has fired, or was cancelled.
        case over
    }

    init(_ clock: TimerClock, deadline: UInt64) {
        self.clock = clock
        self.deadline = deadline
    }

    /// The work to do. Overridden by subclasses. Called once at most.
    func fire() {}

    final var urgency: Urgency { .prompt }
    final var threadName: String? { "timer" }
    final func work(on worker: Worker) { fire() }
}

/// The clocks of timers. Times are nanoseconds since an arbitrary start, rounded up.
enum TimerClock: CaseIterable, Sendable {
    /// Stands still while the machine sleeps.
    case suspending
    case continuous

    private static let suspendingStart = SuspendingClock.now
    private static let continuousStart = ContinuousClock.now

    var now: UInt64 {
        switch self {
        case .suspending: Self.time(of: SuspendingClock.now)
        case .continuous: Self.time(of: ContinuousClock.now)
        }
    }

    static func time(of instant: SuspendingClock.Instant) -> UInt64 { suspendingStart.duration(to: instant).roundedUp }

    static func time(of instant: ContinuousClock.Instant) -> UInt64 { continuousStart.duration(to: instant).roundedUp }

    /// Returns the time after a delay in nanoseconds, or the largest time.
    func deadline(after delay: UInt64) -> UInt64 {
        let (deadline, isTooLate) = now.addingReportingOverflow(delay)
        return isTooLate ? .max : deadline
    }

    /// Returns the nanoseconds until a time; 0 for a time in the past.
    func delay(until deadline: UInt64) -> UInt64 {
        let now = now
        return deadline > now ? deadline - now : 0
    }
}

extension Duration {
    /// The duration in nanoseconds, rounded up, from 0 to the largest number.
    var roundedUp: UInt64 {
        let whole = wholeNanoseconds
        return whole < .max && self > .nanoseconds(whole) ? whole + 1 : whole
    }
}
