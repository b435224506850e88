import SchedulerCore
import Synchronization

// The queues whose threads come from the pools.
extension OperationQueue: WorkSource {
    var isEager: Bool { state.withLock { $0.width != Self.defaultMaxConcurrentOperationCount } }

    var threadName: String? { state.withLock { $0.name } ?? "operation queue" }

    /// Drains the queue: one operation at a time is claimed, so that priority, width and suspension hold for all the
    /// others until the very moment they start. Who finds more work calls the next worker before running its own.
    func work(on worker: Worker) {
        signal.workerArrived()
        var next = claim()
        while let (operation, wantsMore) = next ?? lingered() {
            if wantsMore { callWorkerIfNone() }
            switch run(operation, on: worker) {
            case .claimed(let claim): next = claim
            case .yields: return callWorkerIfNone()
            }
        }
    }

    private enum AfterRun {
        case claimed(Claim?)
        /// Others wait for this thread.
        case yields
    }

    /// Runs an operation to the end of its `start()`, and claims the next one.
    private func run(_ operation: Operation, on worker: Worker) -> AfterRun {
        let queueLevel = level.load(ordering: .relaxed)
        guard level(of: operation, queueLevel) == worker.pool.level.rawValue else {
            handOver(operation)
            return queueLevel == worker.pool.level.rawValue ? .claimed(claim()) : .yields
        }
        HeldLocks.assertNone()
        worker.begin(operation, of: self)
        switch type(of: operation) == BlockOperation.self ? operation.runPlainly(on: worker) : .declined {
        case .declined:
            operation.start()
        case .finished:
            break
        case .ended:
            let yields = worker.shouldYield(to: self)
            let next = leave(operation, claimingNext: !yields)
            worker.end()
            let isNextFree = completePlainly(operation, before: next)
            return yields ? .yields : .claimed(isNextFree ? next : claim())
        }
        worker.end()
        return worker.shouldYield(to: self) ? .yields : .claimed(claim())
    }

    /// An operation's own level wins unless the queue's is higher; never set means the queue's (rule P6).
    private func level(of operation: Operation, _ queueLevel: Int) -> Int {
        let quality = operation.qualityOfService
        return quality == .default ? queueLevel : max(ServiceLevel(quality).rawValue, queueLevel)
    }

    /// Gives a claimed operation to another thread: this one has not its level, or is delayed.
    private func handOver(_ operation: Operation) {
        let level = level(of: operation, level.load(ordering: .relaxed))
        let pool = WorkerPool[ServiceLevel(rawValue: level).unsafelyUnwrapped]
        pool.request(HandedOver(operation: operation, queue: self))
    }

    /// Completes an operation that has left while the next one is claimed already. Answers whether that is still this
    /// thread's: a completion block may take its time, so before it runs, the next one goes to another thread.
    private func completePlainly(_ operation: Operation, before next: Claim?) -> Bool {
        let lifecycle = operation.markFinished()
        let hasBlock = lifecycle.contains(.hasCompletionBlock)
        if hasBlock, let next { handOver(next.operation) }
        operation.complete(lifecycle)
        Unmanaged.passUnretained(operation).release()
        return !hasBlock
    }

    /// Waits a few microseconds for something to claim, in the place of a worker that would have to be woken.
    ///
    /// It claims in any case. What was pushed meanwhile may have been taken out of the inbox by any thread that had the
    /// lock, and whoever made something startable has called nobody, because this worker was there.
    private func lingered() -> Claim? {
        guard signal.claimLingering() else { return nil }
        _ = Processor.spin { !inbox.isEmpty }
        signal.workerArrived()
        return claim()
    }
}

/// An operation that one thread has claimed and another one runs.
private final class HandedOver: WorkSource {
    let operation: Operation
    let queue: OperationQueue

    init(operation: Operation, queue: OperationQueue) {
        self.operation = operation
        self.queue = queue
    }

    var isEager: Bool { true }
    var threadName: String? { queue.threadName }

    func work(on worker: Worker) { queue.run(operation, in: .current) }
}
