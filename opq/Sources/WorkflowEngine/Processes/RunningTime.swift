/// The time in which this process could run: it stands still while the process is stopped.
///
/// A plain value. Deadlines are instants of this time, so a stop by Ctrl-Z or `SIGSTOP` does not use them up. The owner
/// reports stops that it knows of by ``stop(at:)`` and ``resume(at:)``. It finds the others by ``passed(from:to:atMost:)``.
struct RunningTime {
    typealias Instant = ContinuousClock.Instant

    /// A wait that lasts longer than asked by more than this was a stop. A busy machine delays a wait by less, or the deadlines
    /// move by the delay.
    static let tolerance = Duration.seconds(1)

    private var stopped = Duration.zero
    private var stoppedSince: Instant?

    /// Whether the time stands still.
    var isStopped: Bool { stoppedSince != nil }

    /// The running time at an instant of the clock.
    func time(at instant: Instant) -> Instant { (stoppedSince ?? instant) - stopped }

    /// The process is about to stop.
    mutating func stop(at instant: Instant) { stoppedSince = stoppedSince ?? instant }

    /// The process runs again.
    mutating func resume(at instant: Instant) {
        guard let since = stoppedSince else { return }
        stopped += instant - since
        stoppedSince = nil
    }

    /// A wait that was to last at most `limit` has ended. The time beyond that counts as a stop.
    mutating func passed(from start: Instant, to end: Instant, atMost limit: Duration) {
        let excess = end - start - limit
        if !isStopped, excess > Self.tolerance { stopped += excess }
    }
}
