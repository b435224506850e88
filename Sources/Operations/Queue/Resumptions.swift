import OperationsPrimitives
import SchedulerCore
import Synchronization

/// The resumable parts of a queue's async operations that no thread has taken yet, the oldest first.
///
/// The operations have their slots, so resumptions need none and are not in the schedule. A thread that works for the
/// queue takes from both in turn. A queue without async operations has no resumptions.
final class Resumptions: @unchecked Sendable {
    // Sendable: `waiting` is guarded by `lock`; `count` is atomic.
    private let lock = SpinLock()
    @exclusivity(unchecked) private var waiting = Ring<Resumption>()
    /// The number of resumptions. It rises after an append and falls after a removal, so it may lag behind and be
    /// negative for a moment.
    private let count = Atomic<Int>(0)
    private let isOdd = Atomic<Bool>(true)

    /// Sequentially consistent, like the step in `append`. An appending thread then checks whether a worker has to be
    /// called. A worker first announces that it stops looking, and then looks here. One of them sees the other.
    var isEmpty: Bool { count.load(ordering: .sequentiallyConsistent) == 0 }

    func append(_ resumption: Resumption) {
        lock.withLock { waiting.append(resumption) }
        count.add(1, ordering: .sequentiallyConsistent)
    }

    /// Removes and returns the first resumption.
    ///
    /// A thread that takes a resumption then checks whether a worker attends. The attending worker first announces that
    /// it stops, and then looks for a resumption. One of them sees the other.
    ///
    /// The result may be nil although `isEmpty` was false: another thread was faster, or an appending thread has not
    /// counted yet.
    ///
    /// - Parameter skipped: The number of older resumptions. The first of them takes the place of the one that is returned.
    func takeFirst(after skipped: Int = 0) -> Resumption? {
        let first: Resumption? = lock.withLock {
            // `waitingCount` is the number of a moment ago.
            if skipped > 0, skipped < waiting.count { waiting.swapAt(0, skipped) }
            return waiting.popFirst()
        }
        guard let first else { return nil }
        count.subtract(1, ordering: .sequentiallyConsistent)
        return first
    }

    /// Removes and returns the resumptions of a task. O(waiting).
    func takeAll(of task: OperationTask) -> [Resumption] {
        let taken = lock.withLock {
            var taken: [Resumption] = []
            for _ in 0..<waiting.count {
                guard let next = waiting.popFirst() else { break }
                if next.task?.toOpaque() == Unmanaged.passUnretained(task).toOpaque() {
                    taken.append(next)
                } else {
                    waiting.append(next)
                }
            }
            return taken
        }
        count.subtract(taken.count, ordering: .sequentiallyConsistent)
        return taken
    }

    var waitingCount: Int { count.load(ordering: .relaxed) }

    /// Returns false, and then true every second time, for threads that do not record their last choice.
    func alternates() -> Bool { isOdd.logicalXor(true, ordering: .relaxed).newValue }
}

extension OperationQueue {
    /// Runs a part of an async operation on a thread of the queue, in addition to the operations that the queue starts.
    func resume(_ resumption: Resumption) {
        // Read now: as soon as the queue has the job, another thread may run and free it.
        if resumption.job.isYield { promiseLook() }
        if resumptionsReference.withLoaded({ $0.append(resumption) }) == nil {
            resumptionsReference.storeIfNil(Resumptions()).append(resumption)
        }
        if thisThreadLooksSoon { return }
        let level = level
        if signal.claimCallForResumption(level) { callWorker(level) }
    }

    /// Promises that this thread looks next, if it runs an operation of this queue as a worker that serves resumptions.
    private func promiseLook() {
        ThreadContext.withCurrent { context in
            context.withWorker { worker in
                let servesQueue = worker.isRunning(for: .passUnretained(self)) && worker.level == level
                if servesQueue, !worker.obligation.isSet { worker.promise(.look) }
            }
        }
    }

    @inline(__always)
    final var hasResumptions: Bool { resumptionsReference.withLoaded { !$0.isEmpty } ?? false }

    /// Removes and returns the next resumable part of an async operation, if there is one.
    func takeResumption() -> Resumption? {
        guard hasResumptions else { return nil }
        return resumptionsReference.withLoaded { $0.takeFirst() } ?? nil
    }
}
