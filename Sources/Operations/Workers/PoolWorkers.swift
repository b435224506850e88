import SchedulerCore
import Synchronization

// The queues whose threads come from the pools.
extension OperationQueue: WorkSource {
    var urgency: Urgency {
        state.withLock { $0.width == Self.defaultMaxConcurrentOperationCount ? .shared : .eager }
    }

    var threadName: String? { state.withLock { $0.name } ?? "operation queue" }

    /// Drains the queue. The worker claims one operation at a time, so priority, concurrency limit and suspension apply to
    /// every other operation until it starts.
    ///
    /// A worker that finds more work calls the next worker before it runs its own operation, so a worker that blocks is
    /// replaced. Only a worker that has found its operations to be tiny continues alone; see `Pace`.
    func work(on worker: Worker) {
        signal.workerArrived()
        guard threads.enter(limit: Self.maxThreadCount) else { return resume(on: worker) }
        drain(on: worker)
        leaveThreads()
    }

    /// Runs resumptions on a worker that exceeds the limit of threads. A resumption already has a slot, and the operations
    /// that occupy all threads may wait for it.
    private func resume(on worker: Worker) {
        while let resumption = takeResumption() {
            // A new pace each time: this worker must not attend the queue, because it starts no operation.
            var pace = Pace()
            if case .yields = run(resumption, on: worker, &pace) { return callWorkerIfNone() }
        }
        if !threads.mayLeave(limit: Self.maxThreadCount) { callWorkerIfStartable() }
    }

    fileprivate func leaveThreads() { if threads.leave() { callWorkerIfStartable() } }

    private func drain(on worker: Worker) {
        var pace = Pace()
        var next = claimUnlessResuming()
        while true {
            // Resumptions and starts alternate, so neither starves the other.
            if next == nil, let resumption = takeResumption() {
                switch run(resumption, on: worker, &pace) {
                case .continued: next = claim()
                case .yields: return yield(&pace)
                case .leavesToOthers: return
                }
                if next == nil { continue }
            }
            guard let claim = next.take() ?? lastLook(&pace) else {
                // An attending worker checks the queue again after it has stopped attending. Until then, no thread calls
                // another worker.
                if pace.attends || hasResumptions { continue }
                return
            }
            switch run(claim, on: worker, &pace) {
            case .continued(let claim): next = claim
            case .yields: return yield(&pace)
            case .leavesToOthers: return
            }
        }
    }

    /// Claims the next operation, unless a resumption has to run first.
    @inline(__always)
    private func claimUnlessResuming() -> Claim? { hasResumptions ? nil : claim() }

    private func yield(_ pace: inout Pace) {
        stopAttending(&pace)
        callWorkerIfNone()
    }

    private enum AfterRun {
        case continued(Claim?)
        /// Other queues wait for a thread, or there are more threads than cores.
        case yields
        /// Another worker attends the queue, and one worker is enough.
        case leavesToOthers
    }

    /// Runs an async operation until it suspends again.
    private func run(_ resumption: Resumption, on worker: Worker, _ pace: inout Pace) -> AfterRun {
        guard let task = resumption.task else {
            // The job may take any time, and there is no operation whose promise to return the monitor could collect.
            stopAttending(&pace)
            callWorkerIfStartable()
            resumption.runAlone()
            return departure(of: worker, &pace) ?? .continued(nil)
        }
        let operation = task.heldOperation
        worker.begin(Unmanaged.passUnretained(operation), of: self)
        // Without this call, other work would wait until this resumption returns.
        if pace.attends {
            worker.promiseToReturn()
        } else if !signal.isAttended {
            callWorkerIfStartable()
        }
        // Held here: the job may be the last one, and end the task, which holds the operation.
        withExtendedLifetime(operation) { task.run(resumption.job) }
        worker.end()
        return departure(of: worker, &pace) ?? .continued(nil)
    }

    /// Runs an operation to the end of its `start()`, and claims the next one.
    private func run(_ claim: Claim, on worker: Worker, _ pace: inout Pace) -> AfterRun {
        if claim.isToCancel { return cancel(claim.held, &pace) }
        let queueLevel = level.load(ordering: .relaxed)
        guard claim.withOperation({ level(of: $0, queueLevel) }) == worker.pool.level.rawValue
        else {
            if claim.wantsMore { callWorkerIfNone() }
            handOver(claim)
            if threads.mayLeave(limit: Self.maxThreadCount) {
                stopAttending(&pace)
                return .leavesToOthers
            }
            return queueLevel == worker.pool.level.rawValue ? .continued(claimUnlessResuming()) : .yields
        }
        HeldLocks.assertNone()
        worker.begin(claim.operation, of: self)
        // A resumption may have arrived while this thread was about to check the queue, and then no worker was called.
        if pace.attends {
            worker.promiseToReturn()
        } else if claim.wantsMore || hasResumptions {
            callWorkerIfUnattended()
        }
        switch claim.withOperation({ $0.isPlainBlock ? $0.runPlainly(on: worker) : .declined }) {
        case .declined:
            // The operation ends inside this call and leaves the queue, which has held it until then.
            let operation = claim.held
            withExtendedLifetime(operation) { start(operation) }
        case .finished:
            break
        case .ended:
            let departure = departure(of: worker, &pace)
            let next = claim.withOperation { leave($0, claimingNext: departure == nil && mayClaimBlindly) }
            worker.end()
            // The last check of the attending worker may have come before this operation left, and may have found nothing for
            // that reason. If the worker still attends now, its last check comes later.
            if case .leavesToOthers = departure, !signal.isAttended { callWorkerIfStartable() }
            let isNextFree = completePlainly(claim.operation, before: next, &pace)
            return departure ?? .continued(isNextFree && next != nil ? next : claimUnlessResuming())
        }
        worker.end()
        return departure(of: worker, &pace) ?? .continued(claimUnlessResuming())
    }

    /// Calls `cancel()`, which may take long, or wait for other operations. So this method first hands the queue to another
    /// worker, and the thread does not count as part of the operation.
    private func cancel(_ operation: Operation, _ pace: inout Pace) -> AfterRun {
        stopAttending(&pace)
        callWorkerIfStartable()
        operation.cancelAsPromised()
        return .continued(claimUnlessResuming())
    }

    /// Returns the reason not to claim another operation; nil if the worker should claim one.
    private func departure(of worker: Worker, _ pace: inout Pace) -> AfterRun? {
        if worker.shouldYield(to: self) { return .yields }
        pace.ranOne()
        guard pace.isFresh else { return nil }
        if !pace.isSprint {
            stopAttending(&pace)
        } else if !pace.attends {
            guard signal.attend() else { return .leavesToOthers }
            pace.attends = true
        }
        return nil
    }

    /// Calls a worker, unless a worker attends the queue. An attending worker checks the queue after each operation.
    private func callWorkerIfUnattended() { if !signal.isAttended { callWorkerIfNone() } }

    private func stopAttending(_ pace: inout Pace) {
        guard pace.attends else { return }
        signal.stopAttending()
        pace.attends = false
    }

    /// Returns the higher level of the operation and the queue. An operation without a quality of its own has the level of the
    /// queue (rule P6).
    private func level(of operation: Operation, _ queueLevel: Int) -> Int {
        let quality = operation.asked {
            QualityOfService(serviceIndex: $0.serviceIndex)
        } else: {
            operation.qualityOfService
        }
        guard quality != .default else { return queueLevel }
        // A queue without a quality of its own raises nothing.
        let own = ServiceLevel(quality).rawValue
        return queueLevel == ServiceLevel.normal.rawValue ? own : max(own, queueLevel)
    }

    /// Gives a claimed operation to another thread, because this thread has another level or is delayed.
    private func handOver(_ claim: Claim) {
        let operation = claim.held
        let level = level(of: operation, level.load(ordering: .relaxed))
        let pool = WorkerPool[ServiceLevel(rawValue: level).unsafelyUnwrapped]
        threads.enter()
        pool.request(HandedOver(operation: operation, queue: self, isToCancel: claim.isToCancel))
    }

    /// Whether the queue may start an operation that has a slot: the queue is not suspended, and its limit is not exceeded.
    fileprivate var isOpen: Bool {
        state.withLock { !$0.schedule.isSuspended && $0.schedule.running <= $0.schedule.width }
    }

    /// Completes an operation that has left while the next operation is claimed already. Returns whether this thread keeps
    /// that claim: a completion block may take long, so another thread gets the next operation before the block runs.
    private func completePlainly(_ operation: Unmanaged<Operation>, before next: Claim?, _ pace: inout Pace) -> Bool {
        let lifecycle = operation._withUnsafeGuaranteedRef { $0.markFinished() }
        let hasBlock = lifecycle.contains(.hasCompletionBlock)
        if hasBlock {
            // While this thread attends, a push calls no worker.
            stopAttending(&pace)
            if let next { handOver(next) }
            callWorkerIfStartable()
        }
        operation._withUnsafeGuaranteedRef { $0.complete(lifecycle) }
        operation.release()
        return !hasBlock
    }

    /// Waits a few microseconds for work, in place of a worker that would have to be woken.
    ///
    /// The method checks the schedule even if the inbox is empty. Any thread with the lock may have drained the inbox. A
    /// thread that made an operation startable has called no worker, because this worker was present.
    private func lastLook(_ pace: inout Pace) -> Claim? {
        if pace.attends {
            if Processor.spin(until: { hasArrivals }), let claim = claimUnlessResuming() { return claim }
            if hasResumptions { return nil }
            stopAttending(&pace)
            return claimUnlessResuming()
        }
        guard signal.claimLingering() else { return nil }
        _ = Processor.spin { hasArrivals }
        signal.workerArrived()
        return claimUnlessResuming()
    }

    /// Whether the schedule alone decides which operation is next.
    private var mayClaimBlindly: Bool { !hasResumptions && !isThrottled.load(ordering: .relaxed) }

    private var hasArrivals: Bool { !inbox.isEmpty || hasResumptions }
}

/// An operation that one thread has claimed and another thread runs.
final class HandedOver: WorkSource {
    let operation: Operation
    let queue: OperationQueue
    let isToCancel: Bool

    init(operation: Operation, queue: OperationQueue, isToCancel: Bool) {
        self.operation = operation
        self.queue = queue
        self.isToCancel = isToCancel
    }

    var urgency: Urgency { .eager }
    var threadName: String? { queue.threadName }

    func work(on worker: Worker) {
        if isToCancel {
            operation.cancelAsPromised()
        } else if operation.word.lifecycle.contains(.admitting), !queue.isOpen {
            // The operation has not started, and the queue may have been closed since the claim (rule Q5).
            queue.putBack(operation, andAsk: true)
        } else {
            queue.run(operation, in: .current)
        }
        queue.leaveThreads()
    }
}
