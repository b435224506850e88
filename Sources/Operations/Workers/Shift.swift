import SchedulerCore

/// The work of one thread of a pool for one queue, from its arrival until it leaves.
///
/// The worker takes one operation at a time, so priority, concurrency limit and suspension apply to every other operation
/// until it starts. A worker that finds more work calls the next worker before it runs its own operation, so a worker that
/// blocks is replaced. Only a worker that has found its operations to be tiny continues alone; see `Pace`.
struct Shift {
    let worker: Worker
    let level: ServiceLevel
    fileprivate var pace = Pace()
    fileprivate var end: End?
    fileprivate var isBeyondLimit = false
    /// Whether the worker has claimed the call of a worker of its level (`Signal`), and so is going to look.
    fileprivate var isCalled = false

    fileprivate enum End {
        /// No work is left for this worker.
        case idle
        /// Other queues wait for a thread, or there are more threads than cores.
        case yields
        /// Another worker attends the queue, and one worker is enough.
        case leavesToOthers
    }

    init(of worker: Worker) {
        self.worker = worker
        level = worker.level
    }

    /// Notes that the monitor has taken the promise of an attending worker, and so has ended the attendance. Otherwise two
    /// workers would run the tiny operations, and be slower together than one.
    @inline(__always)
    fileprivate mutating func noteTakenPromise() {
        if pace.attends, !worker.obligation.isSet { pace.attends = false }
    }

    /// Whether this worker may start another operation.
    fileprivate var startsMore: Bool { end == nil && !isBeyondLimit }

    /// Whether threads that push call no worker of this level, because they rely on this one to look.
    fileprivate var isReliedOn: Bool { pace.attends || isCalled }

    /// Whether this worker looks at once. A worker that has claimed the call waits for an arrival first.
    fileprivate var mustLook: Bool { startsMore && !isCalled }
}

// Methods of the queue, because a method of the shift would count a reference to the queue at each use.
extension OperationQueue {
    func work(in shift: inout Shift) {
        var look = lookUnlessResuming(shift)
        while shift.end == nil {
            if let claim = look?.claim {
                look = claim.isToCancel ? cancel(claim, &shift) : run(claim, more: look.unsafelyUnwrapped.more, &shift)
            } else if resumeNext(&look, &shift) {
                // Resumptions and starts alternate, so neither starves the other.
                look = keepPromise(next: look, &shift) ?? (shift.mustLook ? self.look(shift) : nil)
            } else {
                look = linger(&shift)
            }
        }
        if case .yields = shift.end {
            stopAttending(&shift)
            callWorkerIfNone(shift.level)
        }
    }

    /// Runs resumptions on a worker that exceeds the limit of threads. A resumption already has a slot, and the operations
    /// that occupy all threads may wait for it.
    func workBeyondLimit(in shift: inout Shift) {
        shift.isBeyondLimit = true
        var look: Look?
        while resumeNext(&look, &shift) {
            look = keepPromise(next: look, &shift)
            // A new pace each time: this worker must not attend the queue, because it starts no operation.
            shift.pace = Pace()
            if case .yields = shift.end { return callWorkerIfNone(shift.level) }
        }
    }

    // MARK: - One stride

    // A stride returns the result of its look for the next operation; nil if it has not looked.

    /// Runs an operation to the end of its `start()`.
    private func run(_ claim: Claim, more: ServiceLevels, _ shift: inout Shift) -> Look? {
        HeldLocks.assertNone()
        shift.worker.begin(claim.operation, of: self)
        callOthers(more, &shift)
        let look = claim.operation._withUnsafeGuaranteedRef { startAndEnd($0, &shift) }
        guard claim.isRetained else {
            if look?.claim == nil, !shift.pace.attends { shift.worker.obligation.clear() }
            return look ?? lookAgain(shift)
        }
        promise(next: look, shift)
        claim.release()
        return keepPromise(next: look, &shift) ?? lookAgain(shift)
    }

    private func startAndEnd(_ operation: Operation, _ shift: inout Shift) -> Look? {
        let hasEnded = start(operation)
        return end(operation, hasEnded: hasEnded, claims: mayClaimBlindly, &shift)
    }

    /// Promises the next step of this worker before it releases an operation. The `deinit` may be user code that takes long, or
    /// waits for any other operation of the queue.
    private func promise(next look: Look?, _ shift: Shift) {
        if let claim = look?.claim {
            shift.worker.promise(claim.isToCancel ? .cancel(claim.operation) : .start(claim.operation))
        } else if shift.isCalled {
            shift.worker.promise(.call)
        } else if shift.pace.attends {
            shift.worker.promise(.look)
        }
    }

    /// Returns the next step, unless the monitor has taken the promise and so acts in place of this worker.
    private func keepPromise(next look: Look?, _ shift: inout Shift) -> Look? {
        guard look?.claim != nil || shift.isReliedOn else {
            // This worker looks now, also if the monitor has called another one.
            shift.worker.obligation.clear()
            return look
        }
        guard case .none = shift.worker.obligation.take() else { return look }
        shift.pace.attends = false
        shift.isCalled = false
        if let claim = look?.claim, !claim.isToCancel { claim.release() }
        return nil
    }

    /// Takes a resumption, and runs the async operation until it suspends again. `look` is the result of the look before that,
    /// and then of the look after it, with a promise. False: there is no resumption.
    private func resumeNext(_ look: inout Look?, _ shift: inout Shift) -> Bool {
        guard let resumption = takeResumption(shift) else { return false }
        // If the worker had claimed the call, its look is out of date.
        let more = arrive(&shift) ? nil : look?.more
        guard let task = resumption.task, let operation = task._withUnsafeGuaranteedRef({ $0.heldOperation }) else {
            // The job may take any time, and there is no operation whose promise the monitor could take.
            stopAttending(&shift)
            callWorkersIfStartable()
            resumption.runAlone()
            decide(&shift)
            look = nil
            promise(next: nil, shift)
            return true
        }
        shift.worker.begin(Unmanaged.passUnretained(operation), of: self)
        if let more {
            callOthers(more, &shift)
        } else if shift.pace.attends {
            shift.worker.promise(.look)
        } else {
            callOthersThoughResuming()
        }
        // Held here: the job may be the last one, and end the task, which holds the operation.
        withExtendedLifetime(operation) {
            resumption.runInside(task)
            look = end(operation, hasEnded: false, claims: mayClaimThoughResuming, &shift)
            promise(next: look, shift)
        }
        return true
    }

    /// Ends the stride of an operation. If the operation has claimed its end, it leaves the queue, and this worker claims the
    /// next one in the same section.
    @inline(__always)
    private func end(_ operation: Operation, hasEnded: Bool, claims: Bool, _ shift: inout Shift) -> Look? {
        var departs = hasEnded
        if hasEnded {
            shift.noteTakenPromise()
        } else {
            switch shift.worker.obligation.take() {
            // The monitor has taken the promise, if there was one, and has ended the attendance.
            case .none: shift.pace.attends = false
            case .look, .call, .start, .cancel: break
            case .departure: departs = true
            }
        }
        decide(&shift)
        if departs { return depart(operation, claims: claims && shift.startsMore, &shift) }
        shift.worker.end()
        return nil
    }

    @inline(__always)
    private func depart(_ operation: Operation, claims: Bool, _ shift: inout Shift) -> Look? {
        // Dependents that become ready are found by the look of the section below.
        if shift.pace.attends || operation.word.lifecycle.contains(.hasDependents) { shift.worker.promise(.look) }
        operation.prepareToLeave()
        if claims || !shift.startsMore {
            // The look of the section keeps the promise. Actions of policies after the section may make other operations ready,
            // and this thread may run an operation next.
            if !shift.pace.attends { shift.worker.obligation.clear() }
        } else {
            shift.noteTakenPromise()
            // Until this worker looks, observers of the queue may wait for the next operation, and so may a `deinit`.
            shift.worker.promise(.look)
        }
        // A worker that attends needs no call. The monitor may have ended the attendance, which `linger` finds out.
        let worker = LeavingWorker(level: shift.level, claims: claims, claimsCall: !shift.pace.attends)
        let departure = leave(operation, by: worker)
        let lifecycle = departure.lifecycle
        var look = departure.look
        shift.isCalled = departure.isCalled
        shift.noteTakenPromise()
        shift.worker.end()
        if lifecycle.contains(.hasCompletionBlock) || shift.isReliedOn && operation.mayResumeTasks(lifecycle) {
            // The block may take long, and so may the executor of a resumed task. While this thread attends, has claimed the
            // call or has promised to look, a push calls no worker.
            shift.worker.obligation.clear()
            if shift.isReliedOn {
                stopAttending(&shift)
                arrive(&shift)
                callWorkersIfStartable()
            } else {
                callWorkers(look.more)
                if hasResumptions { callWorkerIfNone(level) }
            }
            look.more = []
        } else if look.claim == nil {
            leaveRest(look.more, shift)
        }
        operation.complete(lifecycle)
        let next = look.claim == nil && !(hasResumptions && servesResumptions(shift)) ? nil : look
        // The claim of a plain block has no reference, so this may be the last one. The dependencies go with the operation.
        guard operation.isPlainBlock, operation.attachmentsReference.isUsed else {
            Unmanaged.passUnretained(operation).release()
            return next
        }
        promise(next: next, shift)
        Unmanaged.passUnretained(operation).release()
        return keepPromise(next: next, &shift)
    }

    /// Leaves the work that this worker has not claimed to other workers, or promises to look. The worker runs code of the user
    /// next: a `deinit` may wait for that work.
    @inline(never)
    private func leaveRest(_ more: ServiceLevels, _ shift: Shift) {
        if case .leavesToOthers = shift.end, signal.isAttended {
            // The last look of the attending worker comes after this operation has left.
            callWorkers(more.subtracting(ServiceLevels(shift.level)))
        } else if !shift.startsMore {
            // The last look of an attending worker may have come before this operation left, and may have found nothing
            // for that reason. A resumption that arrived while this thread had a promise has called no worker.
            callWorkers(more)
            if hasResumptions { callWorkerIfNone(level) }
        } else if !shift.isReliedOn, !more.isEmpty || hasResumptions {
            shift.worker.promise(.look)
        }
    }

    /// Calls `cancel()`, which may take long, or wait for other operations. So this method first hands the queue to another
    /// worker, and the thread does not count as part of the operation.
    private func cancel(_ claim: Claim, _ shift: inout Shift) -> Look? {
        stopAttending(&shift)
        callWorkersIfStartable()
        claim.operation._withUnsafeGuaranteedRef { $0.cancelAsPromised() }
        claim.release()
        return lookUnlessResuming(shift)
    }

    // MARK: - Looking

    private func look(_ shift: Shift, arrives: Bool = false) -> Look {
        let look = look(for: shift.level, arrives: arrives)
        guard look.claim == nil else { return look }
        callWorkers(look.more)
        return Look()
    }

    /// Looks for the next operation, unless a resumption has to run first.
    private func lookUnlessResuming(_ shift: Shift) -> Look? {
        hasResumptions && servesResumptions(shift) ? nil : look(shift)
    }

    private func lookAgain(_ shift: Shift) -> Look? { shift.mustLook ? lookUnlessResuming(shift) : nil }

    /// Waits a few microseconds for work, in place of a worker that would have to be woken.
    ///
    /// The method checks the schedule even if the inbox is empty. Any thread with the lock may have drained the inbox. A
    /// thread that made an operation startable has called no worker, because this worker was present.
    private func linger(_ shift: inout Shift) -> Look? {
        let start = MonotonicClock.now
        defer { shift.pace.addWait(since: start) }
        var look: Look?
        let resumes = servesResumptions(shift)
        if shift.pace.attends {
            if Processor.spin(until: { hasArrivals(resumes) }) { look = lookUnlessResuming(shift) }
            if look?.claim != nil || resumes && hasResumptions { return look }
            stopAttending(&shift)
        } else if shift.isCalled || signal.claimCallForSlot(shift.level) {
            shift.isCalled = true
            // The thread that has just pushed is about to read whether a worker was called. So the claim lasts until this
            // worker has taken the arrival.
            if Processor.spin(until: { hasArrivals(resumes) }), !inbox.isEmpty {
                look = self.look(shift, arrives: true)
                shift.isCalled = false
            }
            arrive(&shift)
        } else {
            // Another worker looks, or no slot is free.
            if !(resumes && hasResumptions) { shift.end = .idle }
            return nil
        }
        // Threads that pushed have relied on this worker until now.
        if look?.claim == nil { look = lookUnlessResuming(shift) }
        // Without a look there was a resumption, which another worker may have taken meanwhile. So this worker stays.
        if let look, look.claim == nil { shift.end = .idle }
        return look
    }

    /// Ends the claim of a call. The worker looks after that, or calls another worker. False: there was no claim.
    @discardableResult
    private func arrive(_ shift: inout Shift) -> Bool {
        guard shift.isCalled else { return false }
        shift.isCalled = false
        signal.workerArrived(shift.level)
        return true
    }

    private func takeResumption(_ shift: Shift) -> Resumption? { servesResumptions(shift) ? takeResumption() : nil }

    /// Whether the worker has the level of the queue, at which async operations continue.
    private func servesResumptions(_ shift: Shift) -> Bool { level == shift.level }

    private func hasArrivals(_ resumes: Bool) -> Bool { !inbox.isEmpty || resumes && hasResumptions }

    // MARK: - Other workers

    /// Calls workers for work that would wait until the present operation returns.
    @inline(__always)
    private func callOthers(_ more: ServiceLevels, _ shift: inout Shift) {
        if !more.isEmpty || shift.pace.attends || hasResumptions { callOthersIfNeeded(more, &shift) }
    }

    /// Calls workers before a part of an operation that this thread runs without having looked.
    private func callOthersThoughResuming() {
        let signal = signal.forResuming
        if signal.isAttended { return }
        // While the queue is busy, no operation can start.
        if !signal.isBusy { return callWorkersIfStartable() }
        if hasResumptions { callWorkerIfNone(level) }
    }

    private func callOthersIfNeeded(_ more: ServiceLevels, _ shift: inout Shift) {
        var levels = more
        // A resumption may have arrived while this thread was about to look, and then no worker was called.
        if hasResumptions { levels.insert(ServiceLevels(level)) }
        if shift.pace.attends {
            levels.remove(ServiceLevels(shift.level))
            shift.worker.promise(.look)
        } else if !levels.isEmpty, signal.isAttended {
            levels.remove(ServiceLevels(shift.level))
        }
        callWorkers(levels)
    }

    /// Decides whether the worker continues.
    @inline(__always)
    private func decide(_ shift: inout Shift) {
        if shift.worker.shouldYield(to: self) { return shift.end = .yields }
        if shift.pace.ranOne() { endInterval(&shift) }
    }

    /// Decides whether this worker is enough alone.
    @inline(never)
    private func endInterval(_ shift: inout Shift) {
        if !shift.pace.endInterval(sharedUntil, workers: threads.number) {
            stopAttending(&shift)
        } else if !shift.pace.attends {
            if signal.attend() { shift.pace.attends = true } else { shift.end = .leavesToOthers }
        }
    }

    private func stopAttending(_ shift: inout Shift) {
        guard shift.pace.attends else { return }
        signal.stopAttending()
        shift.pace.attends = false
    }
}
