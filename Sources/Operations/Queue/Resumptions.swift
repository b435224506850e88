import SchedulerCore
import Synchronization

/// What has to go on of a queue's async operations and no thread has taken yet, the oldest first.
///
/// It takes no slots, for the operations have theirs; so it stands beside the schedule, and whoever works for the queue
/// takes from both in turn. A queue without async operations has none.
final class Resumptions: @unchecked Sendable {
    // Sendable: `waiting` is guarded by `lock`; `count` is atomic.
    private let lock = SpinLock()
    @exclusivity(unchecked) private var waiting = Ring<Resumption>()
    /// Counted up after an append and down after a removal: it may lag behind, and be below 0 for a moment.
    private let count = Atomic<Int>(0)
    private let isOdd = Atomic<Bool>(false)

    /// Sequentially consistent, as is the step in `append`: who appends then looks whether a worker has to be called, and
    /// a worker first says that it stops looking and then looks here. One of them sees the other.
    var isEmpty: Bool { count.load(ordering: .sequentiallyConsistent) == 0 }

    func append(_ resumption: Resumption) {
        lock.withLock { waiting.append(resumption) }
        count.add(1, ordering: .sequentiallyConsistent)
    }

    /// Who takes one looks then whether somebody attends; who attended has said that he does no longer, and looks then
    /// whether there is one to take: again one of them sees the other.
    ///
    /// May answer nil although `isEmpty` has said no: somebody else was faster, or who appends has not counted yet.
    func takeFirst() -> Resumption? {
        guard let first = lock.withLock({ waiting.popFirst() }) else { return nil }
        count.subtract(1, ordering: .sequentiallyConsistent)
        return first
    }

    /// True every other time: for threads that do not themselves know what they did last.
    func alternates() -> Bool { isOdd.logicalXor(true, ordering: .relaxed).newValue }
}

extension OperationQueue {
    /// Has a part of an async operation run by a thread of the queue, besides what the queue starts.
    func resume(_ resumption: Resumption) {
        if resumptionsReference.withLoaded({ $0.append(resumption) }) == nil {
            resumptionsReference.storeIfNil(Resumptions()).append(resumption)
        }
        if let worker = ThreadContext.current.worker, worker.owes(self) { return }
        if signal.claimCallForResumption() { callWorker() }
    }

    var hasResumptions: Bool { resumptionsReference.withLoaded { !$0.isEmpty } ?? false }

    /// The part of an async operation that is to go on next, if there is one.
    func takeResumption() -> Resumption? {
        guard hasResumptions else { return nil }
        return resumptionsReference.load()?.takeFirst()
    }
}
