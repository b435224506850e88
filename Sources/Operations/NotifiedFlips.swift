import Synchronization

/// The number of announced flips of each state of one operation, so that one flip is announced once.
///
/// The system records its own flips and always announces them. An announcement by hand is recorded too, and may have read
/// the state before a flip of the system. An announcement by an unregistered key path announces the states that have
/// flipped since its beginning, except states that were announced meanwhile. So it reads the counts first, then the
/// states, and claims the flips that it has seen. A claim fails when another thread has claimed or recorded a flip since
/// the counts were read.
struct NotifiedFlips: ~Copyable, Sendable {
    private let counts = Atomic<UInt32>(0)

    struct Counts: Equatable { fileprivate var rawValue: UInt32 }

    /// The present counts. Acquire: states that are read later are not older than the counts.
    var current: Counts { Counts(rawValue: counts.load(ordering: .acquiring)) }

    /// Returns the properties that the caller announces. Properties that are not states are always included.
    func claim(_ properties: ObservedProperty, since: Counts) -> ObservedProperty {
        var old = counts.load(ordering: .acquiring)
        while true {
            var (new, claimed) = (old, properties)
            Self.forEachState(of: properties) { state, mask, one in
                if (old ^ since.rawValue) & mask == 0 {
                    new = new & ~mask | (new &+ one) & mask
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

    /// Records that the caller announces these properties, whether or not another thread announces them too.
    func note(_ properties: ObservedProperty) {
        while claim(properties, since: current) != properties {}
    }

    /// Calls the body with each state in the set, the bits of its count, and the least of these bits.
    @inline(__always)
    private static func forEachState(
        of properties: ObservedProperty, _ body: (_ state: ObservedProperty, _ mask: UInt32, _ one: UInt32) -> Void
    ) {
        if properties.contains(.isFinished) { body(.isFinished, 0xFF, 1) }
        if properties.contains(.isCancelled) { body(.isCancelled, 0xFF00, 0x100) }
        if properties.contains(.isExecuting) { body(.isExecuting, 0xFFFF_0000, 0x1_0000) }
    }
}
