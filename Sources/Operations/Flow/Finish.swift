// Step 4 of 5: finish. Before: start. After: complete.
//
// One thread claims the end (`finishing`): the thread of the default `start()`, or a thread that announces the end. The
// departure follows. It first notifies the dependents, so that a free slot goes to the best operation that is ready then
// (rule P2). Then the operation leaves the queue, and only after that waiters resume (rule W3). O(dependents), never a walk
// over the queue.

@_spi(Hosting) import KeyValueObserving
import SchedulerCore

extension Operation {
    /// Finishes the operation if `isFinished`, overridden or not, is true. Called whenever the end is announced.
    final func finishIfFinished() {
        HeldLocks.assertNone()
        guard untracked({ isFinished }) else { return }
        let finish = word.decide { $0.finishing() }
        guard case .claimed(_, let tooEarly) = finish else { return }
        if tooEarly { warnOfEarlyFinish() }
        endClaimed()
    }

    /// Continues after this thread has claimed the end. A worker of the queue that runs the operation makes it leave when
    /// `start()` has returned, and claims the next operation in the same section. Any other thread makes it leave now.
    final func endClaimed() {
        if ThreadContext.withCurrent({ $0.withWorker { $0.willDepart(self) } }) != true { depart() }
    }

    /// Makes the operation leave its queue, if it has one, and completes it. Only the thread that has claimed the end, or has
    /// taken the promise of that thread, calls this method.
    final func depart() {
        prepareToLeave()
        guard word.lifecycle.hasQueue else { return complete(markFinished()) }
        let queue = queue.unsafelyUnwrapped.takeUnretainedValue()
        let departure = queue.leave(self)
        complete(departure.lifecycle, on: queue.poolOfCompletion(departure.lifecycle))
        Unmanaged.passUnretained(self).release()
    }

    /// Does the work that precedes the departure: releases unused work, and notifies dependents.
    @inline(__always)
    final func prepareToLeave() {
        let lifecycle = word.lifecycle
        let isSimple =
            lifecycle.contains([.ranMain, .queued]) && !lifecycle.containsAny([.gated, .hasDependents, .hasFailed])
        if isSimple, queue.unsafelyUnwrapped._withUnsafeGuaranteedRef({ !$0.hooks.isSet }) { return }
        prepareToLeave(lifecycle)
    }

    @inline(never)
    private final func prepareToLeave(_ lifecycle: Lifecycle) {
        if !lifecycle.contains(.ranMain) { discardWork() }
        if lifecycle.contains(.gated) { for gate in gates { gate.leaves(self) } }
        // The queue exists until the operation has left.
        if lifecycle.contains(.hasDependents) { notifyDependents(in: lifecycle.hasQueue ? queue : nil) }
        guard lifecycle.hasQueue else { return }
        let queue = queue.unsafelyUnwrapped
        queue._withUnsafeGuaranteedRef { queue in
            if queue.hooks.isSet { queue.noteEnd(of: self, lifecycle) }
        }
    }

    /// Warns of a common bug in ported code, which the system survives (rule L10).
    private final func warnOfEarlyFinish() {
        let queue = queue?.takeUnretainedValue().label ?? "a queue"
        Log.warning("\(label) announced isFinished before \(queue) started it")
    }
}

extension OperationQueue {
    /// The next step of a worker after an operation has left.
    struct LeavingWorker {
        let level: ServiceLevel
        /// Whether the worker claims the next operation in the same section. It claims none if the operation has a completion
        /// block, which may take long, or waiters, or if a task receives its place. The executor of a task may keep the thread
        /// that resumes the task.
        let claims: Bool
        /// Whether the worker claims the call if nothing is left for it. See `claimCall`.
        let claimsCall: Bool
    }

    struct Departure {
        /// The word from before the operation was marked as finished.
        let lifecycle: Lifecycle
        let look: Look
        /// Whether the worker has claimed the call of a worker, because no operation was left for it.
        let isCalled: Bool
    }

    /// Removes an operation that has claimed its end, and marks it as finished: from here on waiters return, and no completion
    /// block is added.
    ///
    /// A waiting thread may add an operation as soon as it sees the mark. If this worker is about to wait for work, it claims
    /// the call before the mark, so that the thread does not wake another worker.
    ///
    /// - Parameter worker: The next step of the worker that removes the operation; nil for another thread. The worker acts on
    ///   `more`, so nothing else calls workers.
    @inline(__always)
    func leave(_ operation: Operation, by worker: LeavingWorker? = nil) -> Departure {
        while true {
            let section = beginSection()
            let before = operation.word.lifecycle
            guard !before.contains(.inInbox) else {
                awaitPush(section)
                continue
            }
            if section.pointee.policies.concern(before) { section.pointee.notePoliciesLeaving(operation, before) }
            section.pointee.handle(.leave(operation.asMember))
            let isCalled = worker.map { $0.claimsCall && claimCall($0, &section.pointee) } == true
            // Under the lock: a caller that sees the end finds that the operation has left (rule W3).
            let lifecycle = operation.markFinished()
            var look = Look()
            let resumesTasks = section.pointee.policies.resumeTasks
            if let worker {
                let claims = worker.claims && !lifecycle.containsAny([.hasCompletionBlock, .hasWaiters])
                if claims, !resumesTasks, !section.pointee.machine.schedule.isEmpty {
                    look = self.look(into: &section.pointee, for: serviceMap.services(of: worker.level))
                } else {
                    look.more = startableLevels(&section.pointee)
                }
                section.pointee.opens = false
            } else {
                // This thread does not look for an operation, and no other thread may.
                watchForStall(&section.pointee)
            }
            if let actions = endSection(section) {
                // The worker looks when the tasks are resumed. An attending worker has promised that before.
                if resumesTasks, let worker, worker.claimsCall {
                    ThreadContext.current.worker?.promise(.look)
                }
                perform(actions, more: look.more)
            }
            return Departure(lifecycle: lifecycle, look: look, isCalled: isCalled)
        }
    }

    /// Returns the pool whose thread runs the completion block of an operation that has left; nil for this thread. A queue of
    /// Dispatch may have no thread besides this one.
    func poolOfCompletion(_ lifecycle: Lifecycle) -> WorkerPool? {
        guard lifecycle.contains(.hasCompletionBlock), usesDispatch else { return nil }
        return WorkerPool[level]
    }

    /// Ends a section without an event. A thread is about to push the operation, which is pinned: it cannot leave before it
    /// has arrived. The wait is short.
    @inline(never)
    private func awaitPush(_ section: UnsafeMutablePointer<State>) {
        if let actions = endSection(section) { perform(actions) }
        Processor.yield()
    }

    /// Claims the call for a worker that is about to wait for work, unless user code may run before the worker can promise to
    /// look. Such code is an action of a policy, and the executor of a task that waits for the queue.
    @inline(__always)
    private func claimCall(_ worker: LeavingWorker, _ state: inout State) -> Bool {
        guard !state.machine.schedule.hasStartable, state.policies.isEmpty else { return false }
        return state.idle?.hasTask != true && signal.claimCallForSlot(worker.level)
    }
}

extension Lifecycle {
    /// Whether the operation was added to a queue, and so leaves a queue.
    var hasQueue: Bool { contains(.queued) }
}
