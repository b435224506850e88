/// The schedule of checks for time limits: a plain value. Times are those of the session's clock.
///
/// ```text
/// resting ──► sleeping ◄──► looking ──► resting
/// ```
///
/// An attempt that ends after the next check costs only its place: its beginning and its end wake no task. For an attempt with
/// an earlier end, a new sleeper replaces the present one.
struct WatchState: Equatable {
    private enum Phase: Equatable {
        case resting
        case sleeping(until: Duration)
        /// Checking all attempts. `added` is the earliest end of attempts that were added meanwhile and may be unchecked.
        case looking(added: Duration?)
    }

    private var phase = Phase.resting
    /// The number of the latest sleeper, by which a replaced sleeper finds out that it was replaced.
    private var sleeper = 0

    /// A sleep of a new sleeper, which replaces the previous sleeper.
    struct Sleep: Equatable {
        let sleeper: Int
        let until: Duration
    }

    /// Adds an attempt that may last until `end`. Returns nil if a check in time is already planned.
    mutating func added(end: Duration) -> Sleep? {
        switch phase {
        case .looking(let added):
            phase = .looking(added: min(added ?? end, end))
            return nil
        case .sleeping(let until) where until <= end: return nil
        case .resting, .sleeping:
            sleeper += 1
            phase = .sleeping(until: end)
            return Sleep(sleeper: sleeper, until: end)
        }
    }

    /// Begins a check. Returns false if another sleeper has replaced this one.
    mutating func woke(_ sleeper: Int) -> Bool {
        guard sleeper == self.sleeper else { return false }
        phase = .looking(added: nil)
        return true
    }

    /// Ends a check. Returns the time of the next check; nil if there is nothing to wait for.
    ///
    /// - Parameter next: The earliest end of the remaining attempts; nil without attempts.
    mutating func looked(next: Duration?) -> Duration? {
        guard case .looking(let added) = phase else { return nil }
        let next = [next, added].compactMap(\.self).min()
        phase = next.map { .sleeping(until: $0) } ?? .resting
        return next
    }
}
