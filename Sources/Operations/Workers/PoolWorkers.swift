import SchedulerCore

// The queues whose threads come from the pools.
extension OperationQueue: WorkSource {
    var isEager: Bool { state.withLock { $0.width != Self.defaultMaxConcurrentOperationCount } }

    var threadName: String? { state.withLock { $0.name } ?? "operation queue" }

    /// Drains the queue: one operation at a time is claimed, so that priority, width and suspension hold for all the
    /// others until the very moment they start. Who finds more work calls the next worker before running its own.
    func work(on worker: Worker) {
        signal.workerArrived()
        let context = ThreadContext.current
        while let (operation, wantsMore) = claim() {
            if wantsMore { callWorkerIfNone() }
            let level = ServiceLevel(operation: operation.qualityOfService, queue: .default)
            if level > worker.pool.level {
                WorkerPool[level].request(HandedOver(operation: operation, queue: self))
            } else {
                worker.begin(operation, of: self)
                run(operation, in: context)
                worker.end()
            }
            if worker.shouldYield(to: self) { return callWorkerIfNone() }
        }
    }
}

/// A claimed operation whose level is above its queue's: a thread of that level runs it (rule P6).
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
