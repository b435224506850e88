import Synchronization

/// The nesting of all groups that are in another group. It prevents that a group contains itself (rule M10).
enum GroupNesting {
    private static let lastID = Atomic<UInt64>(0)
    private static let nested = Locked(Nested())

    private struct Nested {
        /// The outer group of each nested group.
        private var outer: [UInt64: UInt64] = [:]
        /// The number of groups in each group that contains a group.
        private var counts: [UInt64: Int] = [:]

        /// Nests a group. False: the outer group is inside the inner group. O(1) when the inner group contains no group,
        /// else O(depth of the outer group).
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

    /// Records that a group is about to join another group. False: the outer group is inside the inner group. The caller
    /// has claimed the inner group for the queue of the outer group, so no other thread nests it.
    static func nest(_ inner: UInt64, in outer: UInt64) -> Bool { nested.withLock { $0.nest(inner, in: outer) } }

    /// Forgets the nesting of a group that has ended.
    static func leave(_ inner: UInt64, _ outer: UInt64) { nested.withLock { $0.leave(inner, outer) } }

    /// Forgets a group that was released.
    static func forget(_ group: UInt64) { nested.withLock { $0.leave(group, nil) } }
}
