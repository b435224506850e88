import Synchronization

/// The nesting of all groups that are in another group. It prevents that a group contains itself (rule M10).
enum GroupNesting {
    private static let lastID = Atomic<UInt64>(0)
    private static let nested = Locked(Nested())

    private struct Nested {
        /// The outer group of each nested group.
        private var outer: [UInt64: Place] = [:]
        private var lastNumber: UInt64 = 0
        /// The number of groups in each group that contains a group.
        private var counts: [UInt64: Int] = [:]

        private struct Place {
            let group: UInt64
            let number: UInt64
        }

        /// Nests a group, and returns the number of the nesting. nil: the outer group is inside the inner group. O(1) when the
        /// inner group contains no group, else O(depth of the outer group).
        mutating func nest(_ inner: UInt64, in new: UInt64) -> UInt64? {
            // The queue of the former outer group has refused the inner group, and that call has not withdrawn the nesting yet.
            leave(inner) { _ in true }
            if counts[inner] != nil {
                var next: UInt64? = new
                while let current = next {
                    if current == inner { return nil }
                    next = outer[current]?.group
                }
            }
            lastNumber += 1
            outer[inner] = Place(group: new, number: lastNumber)
            counts[new, default: 0] += 1
            return lastNumber
        }

        mutating func leave(_ inner: UInt64, _ old: UInt64) { leave(inner) { $0.group == old } }

        mutating func withdraw(_ number: UInt64, of inner: UInt64) { leave(inner) { $0.number == number } }

        mutating func forget(_ group: UInt64) { leave(group) { _ in true } }

        private mutating func leave(_ inner: UInt64, where isMeant: (Place) -> Bool) {
            guard let place = outer[inner], isMeant(place) else { return }
            outer[inner] = nil
            counts[place.group]! -= 1
            if counts[place.group] == 0 { counts[place.group] = nil }
        }
    }

    static func makeID() -> UInt64 { lastID.wrappingAdd(1, ordering: .relaxed).newValue }

    /// Records that a group is about to join another group, and returns the number of this nesting.
    ///
    /// nil: the outer group is inside the inner group. The caller has claimed the inner group for the queue of the outer group,
    /// so no other thread nests it.
    static func nest(_ inner: UInt64, in outer: UInt64) -> UInt64? { nested.withLock { $0.nest(inner, in: outer) } }

    /// Withdraws a nesting, because the queue of the outer group has refused the inner group. Another thread may have nested
    /// the inner group since.
    static func withdraw(_ number: UInt64, of inner: UInt64) { nested.withLock { $0.withdraw(number, of: inner) } }

    /// Forgets the nesting of a group that has ended.
    static func leave(_ inner: UInt64, _ outer: UInt64) { nested.withLock { $0.leave(inner, outer) } }

    /// Forgets a group that was released.
    static func forget(_ group: UInt64) { nested.withLock { $0.forget(group) } }
}
