import Synchronization

/// How many threads work for one queue, so that there are not too many: its width may be far above what a process can
/// have of them, since async operations need none while they are suspended.
///
/// A thread that would be one too many goes away, and leaves a note. Whoever goes and finds the note calls another one.
/// Each of the two first writes and then reads what the other writes: so one of them sees the other.
struct ThreadBound: ~Copyable, Sendable {
    private let count = Atomic<Int>(0)
    private let hasNote = Atomic(false)

    /// Counts a thread in; false when it is one too many. It may go when `mayLeave` says so.
    func enter(limit: Int) -> Bool {
        if count.add(1, ordering: .sequentiallyConsistent).oldValue < limit { return true }
        count.subtract(1, ordering: .sequentiallyConsistent)
        return false
    }

    /// Counts in a thread that is needed whatever the limit says.
    func enter() { count.add(1, ordering: .sequentiallyConsistent) }

    /// For a thread that finds that there are enough without it; false when they are not any more.
    func mayLeave(limit: Int) -> Bool {
        guard count.load(ordering: .sequentiallyConsistent) >= limit else { return false }
        hasNote.store(true, ordering: .sequentiallyConsistent)
        return count.load(ordering: .sequentiallyConsistent) >= limit
    }

    /// Counts a thread out; true when another one is to be called.
    func leave() -> Bool {
        count.subtract(1, ordering: .sequentiallyConsistent)
        guard hasNote.load(ordering: .sequentiallyConsistent) else { return false }
        return hasNote.exchange(false, ordering: .sequentiallyConsistent)
    }
}
