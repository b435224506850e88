/// A clock that stands still while this process is stopped.
///
/// Deadlines are instants of this clock, so a stop by Ctrl-Z or `SIGSTOP` does not use them up. The owner reports the stops
/// that it causes with ``stop(at:)`` and ``resume(at:)``. The clock detects other stops with ``passed(from:to:atMost:)``.
struct RunningTime {
    typealias Instant = ContinuousClock.Instant

    /// A wait that exceeds its limit by more than this duration counts as a stop. A busy machine usually delays a wait by
    /// less. If it delays a wait by more, the deadlines move by the delay.
    static let tolerance = Duration.seconds(1)

    private var stopped = Duration.zero
    private var stoppedSince: Instant?

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
    }

    /// Handles the end of a wait that was limited to `limit`. A large excess over the limit counts as a stop.
    mutating func passed(from start: Instant, to end: Instant, atMost limit: Duration) {
        let excess = end - start - limit
        if !isStopped, excess > Self.tolerance { stopped += excess }
    }
}
