/// A clock that stands still while this process is stopped.
///
/// Deadlines are instants of this clock, so a stop by Ctrl-Z or `SIGSTOP` does not use them up. The owner reports the stops
/// that it causes with ``stop(at:)`` and ``resume(at:)``. The clock detects other stops by the time between two readings.
struct RunningTime {
    typealias Instant = ContinuousClock.Instant

    /// An interval that exceeds its limit by more than this duration counts as a stop. A busy machine usually delays the
    /// owner by less. If it delays the owner by more, the deadlines move by the delay.
    static let tolerance = Duration.seconds(1)

    private var stopped = Duration.zero
    private var stoppedSince: Instant?
    private var lastReading: Instant?

    /// Whether the clock stands still.
    var isStopped: Bool { stoppedSince != nil }

    /// Returns the running time at an instant of the system clock.
    func time(at instant: Instant) -> Instant { (stoppedSince ?? instant) - stopped }

    /// Stops the clock before the process stops.
    mutating func stop(at instant: Instant) { stoppedSince = stoppedSince ?? instant }

    /// Resumes the clock when the process runs again.
    mutating func resume(at instant: Instant) {
        guard let since = stoppedSince else { return }
        stopped += instant - since
        stoppedSince = nil
        lastReading = instant
    }

    /// Reads the clock. A large excess over the limit since the last reading counts as a stop.
    ///
    /// Every reading checks, not only the one after a wait. The process may also be stopped between two waits.
    ///
    /// - Parameter limit: The longest time that the owner has waited since the last reading; nil if the wait had no limit.
    @discardableResult
    mutating func read(at instant: Instant, afterWaitOf limit: Duration? = .zero) -> Instant {
        if let last = lastReading, let limit, !isStopped, instant - last - limit > Self.tolerance {
            stopped += instant - last - limit
        }
        lastReading = instant
        return time(at: instant)
    }
}
