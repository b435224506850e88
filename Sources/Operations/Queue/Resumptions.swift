import Dispatch
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
    /// Changed under the lock; read without it.
    private let count = Atomic<Int>(0)
    private let isOdd = Atomic<Bool>(false)

    /// Sequentially consistent, as is the step in `append`: who appends then looks whether a worker has to be called, and
    /// a worker first says that it stops looking and then looks here. One of them sees the other.
    var isEmpty: Bool { count.load(ordering: .sequentiallyConsistent) == 0 }

    func append(_ resumption: Resumption) {
        lock.withLock { waiting.append(resumption) }
        count.add(1, ordering: .sequentiallyConsistent)
    }

    /// May answer nil although `isEmpty` has said no: somebody else was faster, or who appends has not counted yet.
    func takeFirst() -> Resumption? {
        guard let first = lock.withLock({ waiting.popFirst() }) else { return nil }
        count.subtract(1, ordering: .relaxed)
        return first
    }

    /// True every other time: for threads that do not themselves know what they did last.
    func alternates() -> Bool { isOdd.logicalXor(true, ordering: .relaxed).newValue }
}

/// What a thread of a queue does next.
enum Turn {
    case start(OperationQueue.Claim)
    case resume(Resumption)
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

    /// Something to start or to go on with, for a thread of the given dispatch queue, or of a pool.
    ///
    /// - Parameter resumesFirst: Who has started something goes on with something next, and the other way round: so
    ///   neither starves the other.
    func takeTurn(resumesFirst: Bool, on dispatchQueue: DispatchQueue? = nil) -> Turn? {
        guard hasResumptions, let resumptions = resumptionsReference.load() else {
            return claim(on: dispatchQueue).map { .start($0) }
        }
        if resumesFirst, let first = resumptions.takeFirst() { return .resume(first) }
        if let claim = claim(on: dispatchQueue) { return .start(claim) }
        return resumesFirst ? nil : resumptions.takeFirst().map { .resume($0) }
    }
}
