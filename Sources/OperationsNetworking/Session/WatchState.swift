#if Networking
/// When to look next at attempts that may take too long: a plain value. Times are of the session's clock.
///
///     resting ──► sleeping ◄──► looking ──► resting
///
/// What ends later than the moment slept to costs nothing but its place: nobody is woken for it, and when it leaves, nobody
/// is told. For what ends earlier another sleeper takes the place of the one there is.
struct WatchState: Equatable {
    private enum Phase: Equatable {
        case resting
        case sleeping(until: Duration)
        /// With the earliest end of those that were added meanwhile, who may not have been looked at.
        case looking(added: Duration?)
    }

    private var phase = Phase.resting
    /// Goes up with each sleeper, so that who was replaced finds that out.
    private var sleeper = 0

    /// Somebody is to sleep, instead of who has slept so far.
    struct Sleep: Equatable {
        let sleeper: Int
        let until: Duration
    }

    /// An attempt that may last till then. Nil: it is looked at in time anyway.
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

    /// False: somebody else sleeps, or looks, instead.
    mutating func woke(_ sleeper: Int) -> Bool {
        guard sleeper == self.sleeper else { return false }
        phase = .looking(added: nil)
        return true
    }

    /// Who woke has looked at all. Returns how long to sleep on; nil: there is nothing to sleep for.
    ///
    /// - Parameter next: When the first of those that go on may have to be stopped; nil if none goes on.
    mutating func looked(next: Duration?) -> Duration? {
        guard case .looking(let added) = phase else { return nil }
        let next = [next, added].compactMap(\.self).min()
        phase = next.map { .sleeping(until: $0) } ?? .resting
        return next
    }
}
#endif
