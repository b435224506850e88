import SchedulerCore
import Synchronization

// The queues whose threads come from the pools.
extension OperationQueue: WorkSource {
    var urgency: Urgency {
        state.withLock { $0.width == Self.defaultMaxConcurrentOperationCount ? .shared : .eager }
    }

    var threadName: String? { state.withLock { $0.name } ?? "operation queue" }

    /// Drains the queue: one operation at a time is claimed, so that priority, width and suspension hold for all the
    /// others until the very moment they start.
    ///
    /// Who finds more work calls the next worker before running its own, so that a worker that blocks is replaced. Only
    /// one that has found its operations to be tiny goes on alone; see `Pace`.
    func work(on worker: Worker) {
        signal.workerArrived()
        guard threads.enter(limit: Self.widthCeiling) else { return resume(on: worker) }
        drain(on: worker)
        leaveThreads()
    }

    /// For a worker that is one too many: what goes on has a slot, and those who have all the threads may wait for it.
    private func resume(on worker: Worker) {
        while let resumption = takeResumption() {
            // A new one each time: this worker is not to attend, for it starts nothing.
            var pace = Pace()
            if case .yields = run(resumption, on: worker, &pace) { return callWorkerIfNone() }
        }
        if !threads.mayLeave(limit: Self.widthCeiling) { callWorkerIfStartable() }
    }

    fileprivate func leaveThreads() { if threads.leave() { callWorkerIfStartable() } }

    private func drain(on worker: Worker) {
        var pace = Pace()
        var next = claimUnlessResuming()
        while true {
            // What goes on and what starts take turns: neither starves the other.
            if next == nil, let resumption = takeResumption() {
                switch run(resumption, on: worker, &pace) {
                case .goesOn: next = claim()
                case .yields: return yield(&pace)
                case .leavesToOthers: return
                }
                if next == nil { continue }
            }
            guard let claim = next.take() ?? lastLook(&pace) else {
                // Who attends looks once more after it has stopped; until then nobody else is called.
                if pace.attends || hasResumptions { continue }
                return
            }
            switch run(claim, on: worker, &pace) {
            case .goesOn(let claim): next = claim
            case .yields: return yield(&pace)
            case .leavesToOthers: return
            }
        }
    }

    /// Claims the next operation, unless a part of an async one is to go on first.
    @inline(__always)
    private func claimUnlessResuming() -> Claim? { hasResumptions ? nil : claim() }

    private func yield(_ pace: inout Pace) {
        stopAttending(&pace)
        callWorkerIfNone()
    }

    private enum AfterRun {
        case goesOn(Claim?)
        /// Others wait for this thread.
        case yields
        /// Another worker attends to the queue, and one is enough.
        case leavesToOthers
    }

    /// Runs an async operation until it suspends again.
    private func run(_ resumption: Resumption, on worker: Worker, _ pace: inout Pace) -> AfterRun {
        guard let task = resumption.task else {
            // It may take as long as it likes, and there is no operation whose promise to return the monitor could collect.
            stopAttending(&pace)
            callWorkerIfStartable()
            resumption.runAlone()
            return departure(of: worker, &pace) ?? .goesOn(nil)
        }
        let operation = task.heldOperation
        worker.begin(Unmanaged.passUnretained(operation), of: self)
        // What else there is would wait for as long as this takes.
        if pace.attends {
            worker.promiseToReturn()
        } else if !signal.isAttended {
            callWorkerIfStartable()
        }
        // Held here: the job may be the last one, and end the task that holds the operation.
        withExtendedLifetime(operation) { task.run(resumption.job) }
        worker.end()
        return departure(of: worker, &pace) ?? .goesOn(nil)
    }

    /// Runs an operation to the end of its `start()`, and claims the next one.
    private func run(_ claim: Claim, on worker: Worker, _ pace: inout Pace) -> AfterRun {
        if claim.isToCancel { return cancel(claim.held, &pace) }
        let queueLevel = level.load(ordering: .relaxed)
        guard claim.withOperation({ level(of: $0, queueLevel) }) == worker.pool.level.rawValue
        else {
            if claim.wantsMore { callWorkerIfNone() }
            handOver(claim)
            if threads.mayLeave(limit: Self.widthCeiling) {
                stopAttending(&pace)
                return .leavesToOthers
            }
            return queueLevel == worker.pool.level.rawValue ? .goesOn(claimUnlessResuming()) : .yields
        }
        HeldLocks.assertNone()
        worker.begin(claim.operation, of: self)
        // What goes on may have come while this thread was about to look itself, and have called nobody.
        if pace.attends {
            worker.promiseToReturn()
        } else if claim.wantsMore || hasResumptions {
            callWorkerIfUnattended()
        }
        switch claim.withOperation({ $0.isPlainBlock ? $0.runPlainly(on: worker) : .declined }) {
        case .declined:
            // It ends in there, and leaves the queue, which until then has held it.
            let operation = claim.held
            withExtendedLifetime(operation) { start(operation) }
        case .finished:
            break
        case .ended:
            let departure = departure(of: worker, &pace)
            let next = claim.withOperation { leave($0, claimingNext: departure == nil && mayClaimBlindly) }
            worker.end()
            // Who attended may have looked for the last time before this operation had left, and have found nothing for that
            // reason. If it still attends now, its last look comes after.
            if case .leavesToOthers = departure, !signal.isAttended { callWorkerIfStartable() }
            let isNextFree = completePlainly(claim.operation, before: next, &pace)
            return departure ?? .goesOn(isNextFree && next != nil ? next : claimUnlessResuming())
        }
        worker.end()
        return departure(of: worker, &pace) ?? .goesOn(claimUnlessResuming())
    }

    /// Calls `cancel()`, which may take its time, or wait for other operations: so nothing waits for this thread meanwhile,
    /// and the thread does not count as part of the operation.
    private func cancel(_ operation: Operation, _ pace: inout Pace) -> AfterRun {
        stopAttending(&pace)
        callWorkerIfStartable()
        operation.cancelAsPromised()
        return .goesOn(claimUnlessResuming())
    }

    /// Why the worker should not claim another operation; nil when it should.
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

    /// Another worker that attends looks after this queue; while it keeps its promise nobody else is needed.
    private func callWorkerIfUnattended() { if !signal.isAttended { callWorkerIfNone() } }

    private func stopAttending(_ pace: inout Pace) {
        guard pace.attends else { return }
        signal.stopAttending()
        pace.attends = false
    }

    /// An operation's own level wins unless the queue's is higher; never set means the queue's (rule P6).
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

    /// Gives a claimed operation to another thread: this one has not its level, or is delayed.
    private func handOver(_ claim: Claim) {
        let operation = claim.held
        let level = level(of: operation, level.load(ordering: .relaxed))
        let pool = WorkerPool[ServiceLevel(rawValue: level).unsafelyUnwrapped]
        threads.enter()
        pool.request(HandedOver(operation: operation, queue: self, isToCancel: claim.isToCancel))
    }

    /// The queue may start an operation that has a slot: it was neither suspended nor made too narrow since.
    fileprivate var isOpen: Bool {
        state.withLock { !$0.schedule.isSuspended && $0.schedule.running <= $0.schedule.width }
    }

    /// Completes an operation that has left while the next one is claimed already. Answers whether that is still this
    /// thread's: a completion block may take its time, so before it runs, the next one goes to another thread.
    private func completePlainly(_ operation: Unmanaged<Operation>, before next: Claim?, _ pace: inout Pace) -> Bool {
        let lifecycle = operation._withUnsafeGuaranteedRef { $0.markFinished() }
        let hasBlock = lifecycle.contains(.hasCompletionBlock)
        if hasBlock {
            // Nobody is told of what is pushed while this thread attends.
            stopAttending(&pace)
            if let next { handOver(next) }
            callWorkerIfStartable()
        }
        operation._withUnsafeGuaranteedRef { $0.complete(lifecycle) }
        operation.release()
        return !hasBlock
    }

    /// Waits a few microseconds for something to do, in the place of a worker that would have to be woken.
    ///
    /// It looks in any case. What was pushed meanwhile may have been taken out of the inbox by any thread that had the
    /// lock, and whoever made something startable has called nobody, because this worker was there.
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

    /// Nothing else than what the schedule says decides what is next.
    private var mayClaimBlindly: Bool { !hasResumptions && !isThrottled.load(ordering: .relaxed) }

    private var hasArrivals: Bool { !inbox.isEmpty || hasResumptions }
}

/// An operation that one thread has claimed and another one runs.
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
            // It has not started, and may have been on its way for long (rule Q5).
            queue.putBack(operation, andAsk: true)
        } else {
            queue.run(operation, in: .current)
        }
        queue.leaveThreads()
    }
}
