import Synchronization

/// The number of threads that work for one queue, with a limit. The concurrency limit of the queue may be much higher
/// than the number of threads that a process can have. Suspended async operations need no threads.
///
/// A thread beyond the limit leaves and sets a note. A leaving thread that finds the note calls another thread. Each of
/// the two threads first writes, and then reads the value that the other writes. So one of them sees the other.
struct ThreadBound: ~Copyable, Sendable {
    private let count = Atomic<Int>(0)
    private let hasNote = Atomic(false)

    /// The number of threads, of this moment.
    var number: Int { count.load(ordering: .relaxed) }

    /// Counts a new thread. False: it is one too many. It may leave when `mayLeave` returns true.
    func enter(limit: Int) -> Bool {
        if count.add(1, ordering: .sequentiallyConsistent).oldValue < limit { return true }
        count.subtract(1, ordering: .sequentiallyConsistent)
        return false
    }

    /// Whether a thread beyond the limit may leave. False: there are no longer enough threads without it.
    func mayLeave(limit: Int) -> Bool {
        guard count.load(ordering: .sequentiallyConsistent) >= limit else { return false }
        hasNote.store(true, ordering: .sequentiallyConsistent)
        return count.load(ordering: .sequentiallyConsistent) >= limit
    }

    /// Counts a thread that leaves. True: the caller has to call another thread.
    func leave() -> Bool {
        count.subtract(1, ordering: .sequentiallyConsistent)
        guard hasNote.load(ordering: .sequentiallyConsistent) else { return false }
        return hasNote.exchange(false, ordering: .sequentiallyConsistent)
    }
}
