import Synchronization

/// The number of threads that work for one queue, with a limit. The concurrency limit of the queue may be much higher
/// than the number of threads that a process can have. Suspended async operations need no threads.
///
/// A thread beyond the limit leaves, although there may be work for it. So the next thread that leaves calls another one. Both
/// orderings are sequentially consistent: the thread that leaves also sees that the other one has arrived (`Signal`).
struct ThreadBound: ~Copyable, Sendable {
    private let count = Atomic<Int>(0)

    /// The number of threads, of this moment.
    var number: Int { count.load(ordering: .relaxed) }

    /// Counts a new thread. False: it is one too many, and leaves.
    ///
    /// Not by an addition that is taken back. Meanwhile another thread would find itself one too many, and the threads that leave
    /// then would call no other one.
    func enter(limit: Int) -> Bool {
        var old = count.load(ordering: .sequentiallyConsistent)
        while old < limit {
            let (done, seen) = count.weakCompareExchange(
                expected: old, desired: old + 1, ordering: .sequentiallyConsistent)
            if done { return true }
            old = seen
        }
        return false
    }

    /// Counts a thread that leaves. True: another one may have been too many before, and the caller has to call a thread.
    func leave(limit: Int) -> Bool { count.subtract(1, ordering: .sequentiallyConsistent).oldValue >= limit }
}
