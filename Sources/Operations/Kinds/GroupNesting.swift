import Synchronization

/// Which group is in which, for all groups that are in another one: so that no group comes to contain itself (rule M10).
enum GroupNesting {
    private static let lastID = Atomic<UInt64>(0)
    private static let nested = Locked(Nested())

    private struct Nested {
        /// The group that each nested one is in.
        private var outer: [UInt64: UInt64] = [:]
        /// How many groups are in each one that has any.
        private var counts: [UInt64: Int] = [:]

        /// False: the outer group is in the inner one. O(1) when no group is in the inner one, else O(depth of the outer one).
        mutating func nest(_ inner: UInt64, in new: UInt64) -> Bool {
            precondition(outer[inner] == nil, "a group is added twice")
            if counts[inner] != nil {
                var next: UInt64? = new
                while let current = next {
                    if current == inner { return false }
                    next = outer[current]
                }
            }
            outer[inner] = new
            counts[new, default: 0] += 1
            return true
        }

        mutating func leave(_ inner: UInt64, _ old: UInt64?) {
            guard let known = outer[inner], old == nil || old == known else { return }
            outer[inner] = nil
            counts[known]! -= 1
            if counts[known] == 0 { counts[known] = nil }
        }
    }

    static func makeID() -> UInt64 { lastID.wrappingAdd(1, ordering: .relaxed).newValue }

    /// Notes that a group is about to be in another one; false when the outer one is in it. The caller has claimed the inner one
    /// for the queue of the outer one, so no other thread nests it.
    static func nest(_ inner: UInt64, in outer: UInt64) -> Bool { nested.withLock { $0.nest(inner, in: outer) } }

    /// It has ended.
    static func leave(_ inner: UInt64, _ outer: UInt64) { nested.withLock { $0.leave(inner, outer) } }

    /// It is gone.
    static func forget(_ group: UInt64) { nested.withLock { $0.leave(group, nil) } }
}
