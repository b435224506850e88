import SchedulerCore

/// The work of one thread of a pool for one queue, from its arrival until it leaves.
///
/// The worker takes one operation at a time, so priority, concurrency limit and suspension apply to every other operation
/// until it starts. A worker that finds more work calls the next worker before it runs its own operation, so a worker that
/// blocks is replaced. Only a worker that has found its operations to be tiny continues alone; see `Pace`.
struct Shift {
    private let queue: OperationQueue
    private let worker: Worker
    private let looker: OperationQueue.Looker
    private var pace = Pace()
    private var end: End?
    private var isBeyondLimit = false

    private enum End {
        /// No work is left for this worker.
        case idle
        /// Other queues wait for a thread, or there are more threads than cores.
        case yields
        /// Another worker attends the queue, and one worker is enough.
        case leavesToOthers
    }

    init(of worker: Worker, for queue: OperationQueue) {
        self.queue = queue
        self.worker = worker
        looker = .worker(worker.pool.level)
    }

    mutating func work() {
        var look = lookUnlessResuming()
        while end == nil {
            if let claim = look?.claim {
                look = claim.isToCancel ? cancel(claim) : run(claim, more: look.unsafelyUnwrapped.more)
            } else if let resumption = takeResumption() {
                // Resumptions and starts alternate, so neither starves the other.
                look = resume(resumption, after: look)
            } else {
                look = linger()
            }
        }
        if case .yields = end {
            stopAttending()
            queue.callWorkerIfNone(level)
        }
        if !servesResumptions, queue.hasResumptions { queue.callWorkerIfNone(queue.level) }
    }

    /// Runs resumptions on a worker that exceeds the limit of threads. A resumption already has a slot, and the operations
    /// that occupy all threads may wait for it.
    mutating func workBeyondLimit() {
        isBeyondLimit = true
        while let resumption = takeResumption() {
            // A new pace each time: this worker must not attend the queue, because it starts no operation.
            pace = Pace()
            _ = resume(resumption, after: nil)
            if case .yields = end { return queue.callWorkerIfNone(level) }
        }
        if !queue.threads.mayLeave(limit: OperationQueue.maxThreadCount) { queue.callWorkersIfStartable() }
    }

    // MARK: - One stride

    // A stride returns the result of its look for the next operation; nil if it has not looked.

    /// Runs an operation to the end of its `start()`.
    private mutating func run(_ claim: OperationQueue.Claim, more: ServiceLevels) -> OperationQueue.Look? {
        HeldLocks.assertNone()
        worker.begin(claim.operation, of: queue)
        callOthers(more)
        return claim.withOperation { operation in
            queue.start(operation)
            return end(operation, claims: queue.mayClaimBlindly) ?? lookAgain()
        }
    }

    /// Runs an async operation until it suspends again.
    private mutating func resume(_ resumption: Resumption, after look: OperationQueue.Look?) -> OperationQueue.Look? {
        guard let task = resumption.task else {
            // The job may take any time, and there is no operation whose promise the monitor could take.
            stopAttending()
            queue.callWorkersIfStartable()
            resumption.runAlone()
            decide()
            return startsMore ? self.look() : nil
        }
        let operation = task.heldOperation
        worker.begin(Unmanaged.passUnretained(operation), of: queue)
        if let look {
            callOthers(look.more)
        } else if pace.attends {
            worker.promiseLook()
        } else if !queue.signal.isAttended {
            queue.callWorkersIfStartable()
        }
        // Held here: the job may be the last one, and end the task, which holds the operation.
        return withExtendedLifetime(operation) {
            task.run(resumption.job)
            return end(operation, claims: queue.mayClaimThoughResuming) ?? (startsMore ? self.look() : nil)
        }
    }

    /// Ends the stride of an operation. If the operation has claimed its end, it leaves the queue, and this worker claims the
    /// next one in the same section.
    private mutating func end(_ operation: Operation, claims: Bool) -> OperationQueue.Look? {
        let outcome = worker.takeOutcome()
        // The monitor has taken the promise, and has ended the attendance.
        if !outcome.keptPromise { pace.attends = false }
        decide()
        guard outcome.departs else {
            worker.end()
            return nil
        }
        return depart(operation, claims: claims && startsMore)
    }

    private mutating func depart(_ operation: Operation, claims: Bool) -> OperationQueue.Look? {
        // Dependents that become ready are found by the look of this section.
        if pace.attends || operation.word.lifecycle.contains(.hasDependents) { worker.promiseLook() }
        operation.prepareToLeave()
        var (lifecycle, look) = queue.leave(operation, claimingFor: claims ? looker : nil)
        worker.end()
        if lifecycle.contains(.hasCompletionBlock) {
            // The block may take long, and while this thread attends, a push calls no worker.
            if pace.attends {
                stopAttending()
                queue.callWorkersIfStartable()
            } else {
                queue.callWorkers(look.more)
                if queue.hasResumptions { queue.callWorkerIfNone(queue.level) }
            }
            look.more = []
        } else if case .leavesToOthers = end, queue.signal.isAttended {
            // The last look of the attending worker comes after this operation has left.
            queue.callWorkers(look.more.subtracting(ServiceLevels(level)))
        } else if end != nil {
            // The last look of an attending worker may have come before this operation left, and may have found nothing
            // for that reason.
            queue.callWorkers(look.more)
        }
        operation.complete(lifecycle)
        Unmanaged.passUnretained(operation).release()
        return look.claim == nil && !hasResumptions ? nil : look
    }

    /// Calls `cancel()`, which may take long, or wait for other operations. So this method first hands the queue to another
    /// worker, and the thread does not count as part of the operation.
    private mutating func cancel(_ claim: OperationQueue.Claim) -> OperationQueue.Look? {
        stopAttending()
        queue.callWorkersIfStartable()
        claim.held.cancelAsPromised()
        return lookUnlessResuming()
    }

    // MARK: - Looking

    /// Whether this worker may start another operation.
    private var startsMore: Bool { end == nil && !isBeyondLimit }

    private func look() -> OperationQueue.Look {
        let look = queue.look(for: looker)
        guard look.claim == nil else { return look }
        queue.callWorkers(look.more)
        return OperationQueue.Look()
    }

    /// Looks for the next operation, unless a resumption has to run first.
    private func lookUnlessResuming() -> OperationQueue.Look? { hasResumptions ? nil : look() }

    private func lookAgain() -> OperationQueue.Look? { startsMore ? lookUnlessResuming() : nil }

    /// Waits a few microseconds for work, in place of a worker that would have to be woken.
    ///
    /// The method checks the schedule even if the inbox is empty. Any thread with the lock may have drained the inbox. A
    /// thread that made an operation startable has called no worker, because this worker was present.
    private mutating func linger() -> OperationQueue.Look? {
        var look: OperationQueue.Look?
        if pace.attends {
            if Processor.spin(until: { hasArrivals }) { look = lookUnlessResuming() }
            if look?.claim != nil || hasResumptions { return look }
            stopAttending()
            look = lookUnlessResuming()
        } else if queue.signal.claimLingering(level) {
            _ = Processor.spin { hasArrivals }
            queue.signal.workerArrived(level)
            look = lookUnlessResuming()
        }
        if look?.claim == nil, !hasResumptions { end = .idle }
        return look
    }

    private func takeResumption() -> Resumption? { servesResumptions ? queue.takeResumption() : nil }

    private var hasResumptions: Bool { queue.hasResumptions && servesResumptions }

    /// Whether this worker has the level of the queue, at which async operations continue.
    private var servesResumptions: Bool { queue.level == level }

    private var hasArrivals: Bool { !queue.inbox.isEmpty || hasResumptions }

    // MARK: - Other workers

    private var level: ServiceLevel { worker.pool.level }

    /// Calls workers for work that would wait until the present operation returns.
    private func callOthers(_ more: ServiceLevels) {
        var levels = more
        // A resumption may have arrived while this thread was about to look, and then no worker was called.
        if queue.hasResumptions { levels.insert(ServiceLevels(queue.level)) }
        if pace.attends {
            levels.remove(ServiceLevels(level))
            worker.promiseLook()
        } else if !levels.isEmpty, queue.signal.isAttended {
            levels.remove(ServiceLevels(level))
        }
        queue.callWorkers(levels)
    }

    /// Decides whether this worker continues, and whether it is enough alone.
    private mutating func decide() {
        if worker.shouldYield(to: queue) { return end = .yields }
        pace.ranOne()
        guard pace.isFresh else { return }
        if !pace.isSprint {
            stopAttending()
        } else if !pace.attends {
            if queue.signal.attend() { pace.attends = true } else { end = .leavesToOthers }
        }
    }

    private mutating func stopAttending() {
        guard pace.attends else { return }
        queue.signal.stopAttending()
        pace.attends = false
    }
}
