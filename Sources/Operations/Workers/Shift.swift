import SchedulerCore

/// The work of one thread of a pool for one queue, from its arrival until it leaves.
///
/// The worker takes one operation at a time, so priority, concurrency limit and suspension apply to every other operation
/// until it starts. A worker that finds more work calls the next worker before it runs its own operation, so a worker that
/// blocks is replaced. Only a worker that has found its operations to be tiny continues alone; see `Pace`.
///
/// `WorkerMachine` has all decisions. The methods below report events to it, and perform its actions.
struct Shift {
    let worker: Worker
    let level: ServiceLevel
    fileprivate var pace = Pace()
    fileprivate var machine: WorkerMachine

    init(of worker: Worker, isBeyondLimit: Bool) {
        self.worker = worker
        level = worker.level
        machine = WorkerMachine(isBeyondLimit: isBeyondLimit)
    }

    /// Whether the worker still has its promise, if it attends: it has one in each stride then.
    @inline(__always)
    fileprivate var keepsPromise: Bool { !machine.attends || worker.obligation.isSet }
}

// Methods of the queue, because a method of the shift would count a reference to the queue at each use.
extension OperationQueue {
    func work(in shift: inout Shift) {
        var look = turn(&shift)
        while shift.machine.goesOn {
            if let claim = look?.claim {
                look = claim.isToCancel ? cancel(claim, &shift) : run(claim, more: look.unsafelyUnwrapped.more, &shift)
            } else if resumeNext(after: look, &shift) {
                takePromise(&shift)
                // Resumptions and starts alternate, so neither starves the other.
                look = turn(&shift, resumption: false)
            } else {
                look = linger(&shift)
            }
        }
        act(on: shift.machine.leavesQueue(), &shift)
    }

    /// Runs resumptions on a worker that exceeds the limit of threads. A resumption already has a slot, and the operations
    /// that occupy all threads may wait for it.
    func workBeyondLimit(in shift: inout Shift) {
        while shift.machine.goesOn, resumeNext(after: nil, &shift) {
            takePromise(&shift)
            // A new pace each time: this worker must not attend the queue, because it starts no operation.
            shift.pace = Pace()
        }
        act(on: shift.machine.leavesQueue(), &shift)
    }

    // MARK: - One stride

    // A stride returns the result of its look for the next operation; nil if it has not looked.

    /// Runs an operation to the end of its `start()`.
    private func run(_ claim: Claim, more: ServiceLevels, _ shift: inout Shift) -> Look? {
        HeldLocks.assertNone()
        shift.worker.begin(claim.operation, of: self)
        callOthers(more, &shift)
        let look = claim.operation._withUnsafeGuaranteedRef { startAndEnd($0, &shift) }
        guard claim.isRetained else { return look ?? turn(&shift) }
        act(on: shift.machine.releases(), &shift)
        claim.release()
        takePromise(&shift)
        return turn(&shift)
    }

    private func startAndEnd(_ operation: Operation, _ shift: inout Shift) -> Look? {
        let hasEnded = start(operation)
        return end(operation, hasEnded: hasEnded, &shift)
    }

    /// Ends the promise under which the worker has released an operation.
    @inline(never)
    private func takePromise(_ shift: inout Shift) {
        let actions = shift.machine.released()
        guard actions.contains(.takesPromise) else { return act(on: actions, &shift) }
        shift.machine.tookPromise(shift.worker.obligation.take().isPromise)
    }

    /// Takes a resumption, and runs the async operation until it suspends again. False: there is no resumption.
    ///
    /// - Parameter look: The result of the look before that.
    private func resumeNext(after look: Look?, _ shift: inout Shift) -> Bool {
        guard let resumption = takeResumption(at: shift.level) else { return false }
        act(on: shift.machine.tookResumption(), &shift)
        guard let task = resumption.task, let operation = task._withUnsafeGuaranteedRef({ $0.heldOperation }) else {
            // There is no operation whose promise the monitor could take.
            act(on: shift.machine.stepsAside(), &shift)
            resumption.runAlone()
            decide(&shift)
            act(on: shift.machine.releases(), &shift)
            return true
        }
        shift.worker.begin(Unmanaged.passUnretained(operation), of: self)
        if let more = look?.more {
            callOthers(more, &shift)
        } else {
            let signal = signal.forResuming
            act(on: shift.machine.resumes(othersAttend: signal.isAttended, isBusy: signal.isBusy), &shift)
        }
        // Held here: the job may be the last one, and end the task, which holds the operation.
        withExtendedLifetime(operation) {
            resumption.runInside(task)
            _ = end(operation, hasEnded: false, &shift)
            act(on: shift.machine.releases(), &shift)
        }
        return true
    }

    /// Ends the stride of an operation. If the operation has claimed its end, it leaves the queue, and this worker claims the
    /// next one in the same section.
    @inline(__always)
    private func end(_ operation: Operation, hasEnded: Bool, _ shift: inout Shift) -> Look? {
        var departs = hasEnded
        if hasEnded {
            shift.machine.returned(keptPromise: shift.keepsPromise)
        } else {
            // The monitor has taken the promise, if there was one, and has ended the attendance.
            let promise = shift.worker.obligation.take()
            if case .departure = promise { departs = true }
            shift.machine.returned(keptPromise: promise.isPromise)
        }
        decide(&shift)
        if departs { return depart(operation, &shift) }
        shift.worker.end()
        return nil
    }

    @inline(__always)
    private func depart(_ operation: Operation, _ shift: inout Shift) -> Look? {
        let hasDependents = operation.word.lifecycle.contains(.hasDependents)
        if shift.machine.ended(hasDependents: hasDependents).contains(.promisesLook) { shift.worker.promise(.look) }
        operation.prepareToLeave()
        // The last reference may be that of the queue, or of the claim. The dependencies go with the operation.
        let codeFollows = !operation.isPlainBlock || operation.attachmentsReference.isUsed
        let actions = shift.machine.leaves(
            mayClaim: mayClaim, codeFollows: codeFollows, keptPromise: shift.keepsPromise)
        if actions.contains(.clearsPromise) { shift.worker.obligation.clear() }
        if actions.contains(.promisesLook) { shift.worker.promise(.look) }
        let departure = leave(
            operation,
            by: LeavingWorker(
                level: shift.level, claims: actions.contains(.claims), claimsCall: actions.contains(.claimsCall)))
        shift.machine.left(isCalled: departure.isCalled, keptPromise: shift.keepsPromise)
        shift.worker.end()
        // With a claim there is no completion block, no waiter, and no code of the user in the release.
        guard departure.look.claim == nil else {
            Unmanaged.passUnretained(operation).release()
            return departure.look
        }
        complete(operation, departure, &shift)
        return nil
    }

    @inline(never)
    private func complete(_ operation: Operation, _ departure: Departure, _ shift: inout Shift) {
        leaveRest(of: operation, departure, &shift)
        operation.complete(departure.lifecycle)
        // The claim of a plain block has no reference, so this may be the last one. That of another operation follows.
        let codeFollows = operation.isPlainBlock && operation.attachmentsReference.isUsed
        if codeFollows {
            act(on: shift.machine.releases(), &shift)
        } else if operation.isPlainBlock {
            // The next operation must not run with the promise of `leaveRest`: it would add operations and call no worker.
            shift.worker.obligation.clear()
        }
        Unmanaged.passUnretained(operation).release()
        if codeFollows { takePromise(&shift) }
    }

    private func leaveRest(of operation: Operation, _ departure: Departure, _ shift: inout Shift) {
        var facts: WorkerMachine.Facts = []
        if departure.lifecycle.contains(.hasCompletionBlock) { facts.insert(.block) }
        if operation.mayResumeTasks(departure.lifecycle) { facts.insert(.tasks) }
        if !departure.look.more.isEmpty { facts.insert(.more) }
        if hasResumptions { facts.insert(.resumption) }
        if signal.isAttended { facts.insert(.othersAttend) }
        act(on: shift.machine.leftWithoutClaim(facts), more: departure.look.more, &shift)
    }

    /// Calls `cancel()`, which may take long, or wait for other operations. So this method first hands the queue to another
    /// worker, and the thread does not count as part of the operation.
    private func cancel(_ claim: Claim, _ shift: inout Shift) -> Look? {
        act(on: shift.machine.stepsAside(), &shift)
        claim.operation._withUnsafeGuaranteedRef { $0.cancelAsPromised() }
        claim.release()
        return turn(&shift)
    }

    // MARK: - Looking

    /// Looks for the next operation, if it is the turn of operations.
    @inline(never)
    private func turn(_ shift: inout Shift) -> Look? { turn(&shift, resumption: resumptionWaits(at: shift.level)) }

    private func turn(_ shift: inout Shift, resumption: Bool) -> Look? {
        look(on: shift.machine.turn(resumption: resumption), &shift)
    }

    /// Looks if the actions require it.
    @inline(never)
    private func look(on actions: WorkerMachine.Actions, _ shift: inout Shift) -> Look? {
        guard actions.contains(.looks) || actions.contains(.looksAndArrives) else { return nil }
        let look = self.look(for: shift.level, arrives: actions.contains(.looksAndArrives))
        let calls = shift.machine.looked(claim: look.claim != nil)
        guard !calls.isEmpty else { return look }
        act(on: calls, more: look.more, &shift)
        return Look()
    }

    /// Waits a few microseconds for work, in place of a worker that would have to be woken.
    ///
    /// The method checks the schedule even if the inbox is empty. Any thread with the lock may have drained the inbox. A
    /// thread that made an operation startable has called no worker, because this worker was present.
    private func linger(_ shift: inout Shift) -> Look? {
        let start = MonotonicClock.now
        defer { shift.pace.addWait(since: start) }
        var actions = shift.machine.hasNothing()
        if actions.contains(.claimsCall) {
            let isClaimed = signal.claimCallForSlot(shift.level)
            actions = shift.machine.claimedCall(isClaimed, resumption: resumptionWaits(at: shift.level))
        }
        guard actions.contains(.waits) else { return nil }
        let resumes = servesResumptions(shift.level)
        let hasArrived = Processor.spin(until: { hasArrivals(resumes) }) && !inbox.isEmpty
        actions = shift.machine.waited(arrival: hasArrived, resumption: resumptionWaits(at: shift.level))
        act(on: actions, &shift)
        let look = self.look(on: actions, &shift)
        actions = shift.machine.lookedAfterWait(claim: look?.claim != nil, resumption: resumptionWaits(at: shift.level))
        act(on: actions, &shift)
        guard actions.contains(.looks) else { return look }
        let last = turn(&shift)
        if let last, last.claim == nil { shift.machine.foundNothing() }
        return last
    }

    private func takeResumption(at level: ServiceLevel) -> Resumption? {
        servesResumptions(level) ? takeResumption() : nil
    }

    /// Whether a worker has the level of the queue, at which async operations continue.
    private func servesResumptions(_ level: ServiceLevel) -> Bool { self.level == level }

    private func resumptionWaits(at level: ServiceLevel) -> Bool { hasResumptions && servesResumptions(level) }

    private func hasArrivals(_ resumes: Bool) -> Bool { !inbox.isEmpty || resumes && hasResumptions }

    // MARK: - Other workers

    /// Calls workers for work that would wait until the present operation returns.
    @inline(__always)
    private func callOthers(_ more: ServiceLevels, _ shift: inout Shift) {
        if !more.isEmpty || shift.machine.attends || hasResumptions { callOthersIfNeeded(more, &shift) }
    }

    @inline(never)
    private func callOthersIfNeeded(_ more: ServiceLevels, _ shift: inout Shift) {
        var levels = more
        // A resumption may have arrived while this thread was about to look, and then no worker was called.
        if hasResumptions { levels.insert(ServiceLevels(level)) }
        act(on: shift.machine.runs(othersAttend: signal.isAttended), more: levels, &shift)
    }

    /// Lets the machine decide whether the worker continues.
    @inline(__always)
    private func decide(_ shift: inout Shift) {
        if shift.worker.shouldYield(to: self) {
            shift.machine.askedToYield()
        } else if shift.pace.ranOne() {
            endInterval(&shift)
        }
    }

    @inline(never)
    private func endInterval(_ shift: inout Shift) {
        let isEnoughAlone = shift.pace.endInterval(sharedUntil, workers: threads.number, attends: shift.machine.attends)
        let actions = shift.machine.intervalEnded(isEnoughAlone: isEnoughAlone)
        act(on: actions, &shift)
        if actions.contains(.claimsAttendance) { shift.machine.claimedAttendance(signal.attend()) }
    }

    // MARK: - Actions

    /// Performs the actions that need no answer.
    ///
    /// - Parameter more: The levels of the work that the worker has found.
    @inline(__always)
    private func act(on actions: WorkerMachine.Actions, more: ServiceLevels = [], _ shift: inout Shift) {
        if !actions.isEmpty { act(on: actions, more: more, shift.worker) }
    }

    @inline(never)
    private func act(on actions: WorkerMachine.Actions, more: ServiceLevels, _ worker: Worker) {
        let own = worker.level
        if actions.contains(.clearsPromise) { worker.obligation.clear() }
        if actions.contains(.promisesLook) { worker.promise(.look) }
        if actions.contains(.promisesCall) { worker.promise(.call) }
        if actions.contains(.stopsAttending) { signal.stopAttending() }
        if actions.contains(.arrives) { signal.workerArrived(own) }
        if actions.contains(.callsForAll) { callWorkersIfStartable() }
        if actions.contains(.calls) { callWorkers(more) }
        if actions.contains(.callsOtherLevels) { callWorkers(more.subtracting(ServiceLevels(own))) }
        if actions.contains(.callsForResumption), hasResumptions { callWorkerIfNone(level) }
        if actions.contains(.callsSuccessor) { callWorkerIfNone(own) }
    }
}
