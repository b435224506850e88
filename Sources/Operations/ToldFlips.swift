import Synchronization

/// How often the observers of one operation have been told that a state flipped: so that of several threads that see one
/// flip, one tells of it.
///
/// The system tells of what it changes itself. An announcement by a key path that no class has registered tells of the
/// states that have flipped since its beginning, and must leave out those that the system has flipped meanwhile. Whoever
/// wants to tell reads the counts first, then the states, and claims the flips that it has seen. A claim fails when a flip
/// was claimed since the counts were read.
struct ToldFlips: ~Copyable, Sendable {
    private let counts = Atomic<UInt32>(0)

    struct Counts: Equatable {
        fileprivate var rawValue: UInt32
        /// Those of an operation that was not observed until now.
        static var unobserved: Self { Self(rawValue: 0) }
    }

    /// Acquire: states that are read later are not older.
    var current: Counts { Counts(rawValue: counts.load(ordering: .acquiring)) }

    /// The properties that the caller has to tell of. What is no state is among them in any case.
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

    /// The caller tells of them, whether another thread does or not.
    func note(_ properties: ObservedProperty) {
        while claim(properties, since: current) != properties {}
    }

    private static let fields: [(ObservedProperty, (mask: UInt32, one: UInt32))] = [
        (.isFinished, (0xFF, 1)), (.isCancelled, (0xFF00, 0x100)), (.isExecuting, (0xFFFF_0000, 0x1_0000)),
    ]
}
