import Synchronization

/// How often the observers of one operation were notified that a state flipped, so that one flip is announced once.
///
/// The system notes its own flips and always announces them. An announcement by hand is noted too, and may have read the
/// state before a flip of the system. An announcement by a key path that no class has registered announces the states that
/// have flipped since its beginning, except those that were announced meanwhile. So it reads the counts first, then the
/// states, and claims the flips that it has seen. A claim fails when a flip was claimed or noted since the counts were read.
struct ToldFlips: ~Copyable, Sendable {
    private let counts = Atomic<UInt32>(0)

    struct Counts: Equatable { fileprivate var rawValue: UInt32 }

    /// Acquire: states that are read later are not older.
    var current: Counts { Counts(rawValue: counts.load(ordering: .acquiring)) }

    /// The properties that the caller announces. What is no state is among them in any case.
    func claim(_ properties: ObservedProperty, since: Counts) -> ObservedProperty {
        var old = counts.load(ordering: .acquiring)
        while true {
            var (new, claimed) = (old, properties)
            for (state, field) in Self.fields where properties.contains(state) {
                if (old ^ since.rawValue) & field.mask == 0 {
                    new = new & ~field.mask | (new &+ field.one) & field.mask
                } else {
                    claimed.remove(state)
                }
            }
            if new == old { return claimed }
            let (done, seen) = counts.weakCompareExchange(
                expected: old, desired: new, ordering: .acquiringAndReleasing)
            if done { return claimed }
            old = seen
        }
    }

    /// The caller announces them, whether another thread does or not.
    func note(_ properties: ObservedProperty) {
        while claim(properties, since: current) != properties {}
    }

    private static let fields: [(ObservedProperty, (mask: UInt32, one: UInt32))] = [
        (.isFinished, (0xFF, 1)), (.isCancelled, (0xFF00, 0x100)), (.isExecuting, (0xFFFF_0000, 0x1_0000)),
    ]
}
