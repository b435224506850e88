// Step 3 of 5: start. Before: ready. After: finish.
//
// A worker claims the operation under the queue's lock (`starting`) and calls `start()`, overridden or not, without it.
// The default `start()` also runs when a caller starts an operation by hand.

import SchedulerCore

extension Operation {
    /// Performs the default `start()`. Misuse stops the process, except inside `tryStart()`, which throws the error.
    final func beginOrReport() {
        let isTrial = ThreadContext.withCurrent { context in
            guard context.trial == ObjectIdentifier(self) else { return false }
            // The trial covers this call only, and not a `start()` inside `main()`.
            context.trial = nil
            return true
        }
        do { try begin(isTrial: isTrial) } catch {
            if isTrial { ThreadContext.current.foundMisuse = error } else { error.stop() }
        }
    }

    /// Calls `start()`, overridden or not, and throws the misuse that the default `start()` finds. A check before the call
    /// would not suffice: another thread may change the operation between the check and the call.
    final func startReportingMisuse() throws(OperationError) {
        let context = ThreadContext.current
        let outer = context.trial
        context.trial = ObjectIdentifier(self)
        start()
        context.trial = outer
        if let misuse = context.foundMisuse.take() { throw misuse }
    }

    private final func begin(isTrial: Bool) throws(OperationError) {
        if word.lifecycle.phase == .idle, untracked({ !self.isFinished && !isReady && !self.isCancelled }) {
            throw .startedWhileNotReady(operation: label)
        }
        HeldLocks.assertNone()
        // An override of `isFinished` may be true already, without an announcement (rule L3).
        guard !untracked({ isFinished }) else { return finishIfFinished() }
        // The word decides, not an override: a subclass whose `cancel()` does not call super ends in `main()` (rule A4).
        let isCancelled = word.lifecycle.isCancelled && !startsCancelled
        switch announceStart(isTrial: isTrial, isCancelled: isCancelled) {
        case .run: run()
        case .skip: finishIfFinished()
        case .alreadyFinished: return
        case .alreadyExecuting: throw .startedWhileExecuting(operation: label)
        case .inQueue: throw .startedWhileInQueue(operation: label)
        }
    }

    /// Decides the effect of the start, and notifies observers. Not by `announcing`, as in `announceEnd`.
    @inline(__always)
    private final func announceStart(isTrial: Bool, isCancelled: Bool) -> Lifecycle.Start {
        if word.lifecycle.contains(.observed) {
            return announceStartToObservers(isTrial: isTrial, isCancelled: isCancelled)
        }
        let start = decideStart(isTrial: isTrial, isCancelled: isCancelled)
        if start.next != nil, word.lifecycle.contains(.observed) {
            announceLate(changedByStart(isCancelled: isCancelled), since: nil)
        }
        return start
    }

    @inline(never)
    private final func announceStartToObservers(isTrial: Bool, isCancelled: Bool) -> Lifecycle.Start {
        var start = Lifecycle.Start.alreadyFinished
        _ = announcing(changedByStart(isCancelled: isCancelled)) {
            start = decideStart(isTrial: isTrial, isCancelled: isCancelled)
            return start.next
        }
        return start
    }

    private final func changedByStart(isCancelled: Bool) -> ObservedProperty {
        isCancelled ? [.isFinished] : [.isExecuting]
    }

    @inline(__always)
    private final func decideStart(isTrial: Bool, isCancelled: Bool) -> Lifecycle.Start {
        word.decide {
            // A thread of the queue has claimed the operation and will call `start()`. Only a trial knows that this thread is
            // another one.
            isTrial && $0.phase == .starting ? .alreadyExecuting : $0.started(isCancelled: isCancelled)
        }
    }

    /// Throws for misuse M1, as far as it can be detected before a start by hand.
    final func checkStartByHand() throws(OperationError) {
        let (isFinished, isExecuting, mayStart) = untracked {
            (self.isFinished, self.isExecuting, isReady || isCancelled)
        }
        switch word.lifecycle.phase {
        case .entering, .enqueued: throw .startedWhileInQueue(operation: label)
        case .starting, .executing: throw .startedWhileExecuting(operation: label)
        case .ended, .finishing, .finished: return
        case .idle where isFinished: return
        case .idle where isExecuting: throw .startedWhileExecuting(operation: label)
        case .idle where !mayStart: throw .startedWhileNotReady(operation: label)
        case .idle: return
        }
    }

    /// Does the work of an operation that executes, and claims the end if the work is over then.
    private final func run() {
        let hasEnded = ThreadContext.withCurrent { context in
            guard !context.isRunning(self) else { return perform() }
            keepStartTime(in: nil)
            context.frames.append(.init(operation: Unmanaged.passUnretained(self), queue: nil))
            defer { context.frames.removeLast() }
            return perform()
        }
        if hasEnded { endAnnounced() }
    }

    /// Admits a claimed operation and starts it in one swap, runs it, and claims its end in one swap.
    ///
    /// - Returns: Whether this thread has claimed the end. If not, another thread or the block has. nil: nothing has happened. The
    ///   class may override `start()`, or something has to be checked or announced first.
    @inline(__always)
    fileprivate final func runAtOnce(in queue: OperationQueue) -> Bool? {
        guard isPlainBlock, !queue.hooks.isSet,
            let old = word.update({ $0.admittedAndStarted(isSilent: !isStartObserved) })
        else { return nil }
        // Read again: an observer may have been added since.
        if old.contains(.observed), isStartObserved { announceLate([.isExecuting], since: nil) }
        unsafeDowncast(self, to: BlockOperation.self).runBlocks()
        // The progress may have been used for the first time while the block ran.
        if queue.hooks.isSet { queue.progressReporter?.didRunMain(of: self) }
        return announceEnd(claimsEnd: true)
    }

    private final var isStartObserved: Bool { attachmentsReference.isSet && isStartInInterest }

    // Never inlined: with more code, the compiler would not inline the start of an operation into the loop of the worker.
    @inline(never)
    private final var isStartInInterest: Bool { interest.observed.contains(.isExecuting) }

    /// Announces the end of the work, and finishes the operation.
    final func endAnnounced() { if announceEnd(claimsEnd: false) { finishIfFinished() } }

    /// Announces the end of the work. False: the operation has ended already.
    ///
    /// - Parameter claimsEnd: Whether to claim the end in the same swap, because no override can deny it.
    @inline(__always)
    private final func announceEnd(claimsEnd: Bool) -> Bool {
        // Not by `announcing`, whose closure would count a reference to the operation.
        if word.lifecycle.contains(.observed) { return announceEndToObservers(claimsEnd: claimsEnd) }
        guard word.update({ $0.ended(claimsEnd: claimsEnd) }) != nil else { return false }
        if word.lifecycle.contains(.observed) { announceLate([.isExecuting, .isFinished], since: nil) }
        return true
    }

    @inline(never)
    private final func announceEndToObservers(claimsEnd: Bool) -> Bool {
        // Unmanaged, because the closures would count references to the operation.
        let operation = Unmanaged.passUnretained(self)
        return announcingFlips([.isExecuting, .isFinished]) {
            operation._withUnsafeGuaranteedRef { $0.word.update { $0.ended(claimsEnd: claimsEnd) } }
        } != nil
    }

    final func runMain() {
        guard let hooks = hooksWhileExecuting else {
            main()
            // The progress may have been used for the first time while `main()` ran.
            progressReporter?.didRunMain(of: self)
            return
        }
        runMain(with: hooks)
    }

    private final func runMain(with hooks: QueueHooks) {
        let reporter = hooks.reporter.load()?.reporter
        reporter?.willRunMain(of: self)
        if let interceptor = hooks.interceptor { interceptor.perform(self) { main() } } else { main() }
        (reporter ?? progressReporter)?.didRunMain(of: self)
    }

    /// The reporter that counts this operation; nil for barriers and jobs.
    final var progressReporter: (any ProgressReporter)? { hooksWhileExecuting?.reporter.load()?.reporter }

    /// The hooks of the queue; nil also for an operation without a queue. A queue that the operation has left may be gone.
    final var hooksWhileExecuting: QueueHooks? {
        let lifecycle = word.lifecycle
        guard lifecycle.phase == .executing, lifecycle.hasQueue, !lifecycle.contains(.unlisted) else { return nil }
        return queue?._withUnsafeGuaranteedRef { $0.hooks.load() }
    }
}

extension OperationQueue {
    /// Runs a claimed operation on this thread, in a frame of its own.
    func run(_ operation: Operation, in context: ThreadContext) {
        HeldLocks.assertNone()
        context.frames.append(
            .init(operation: Unmanaged.passUnretained(operation), queue: Unmanaged.passUnretained(self)))
        operation.keepStartTime(in: self)
        if start(operation) { operation.depart() }
        context.frames.removeLast()
    }

    /// Starts a claimed operation on this thread, or puts it back. The caller has recorded the operation for this thread.
    ///
    /// - Returns: Whether the operation has claimed its end, and the caller makes it leave the queue.
    @inline(__always)
    func start(_ operation: Operation) -> Bool {
        if let hasEnded = operation.runAtOnce(in: self) { return hasEnded }
        admitAndStart(operation)
        return false
    }

    @inline(never)
    private func admitAndStart(_ operation: Operation) {
        // The claim of a plain block operation has no reference. When the operation has been put back, or when the monitor has
        // taken its departure, another thread may make it leave before this function returns.
        let held = operation.isPlainBlock ? Unmanaged.passRetained(operation) : nil
        defer { held?.release() }
        let lifecycle = operation.word.lifecycle
        guard !lifecycle.contains(.admitting) || admit(operation) else { return }
        let mustNotify = !lifecycle.contains(.unlisted) && !(lifecycle.contains(.gated) && operation.isStandingAside)
        if mustNotify { notifyWatchers(.starts, of: operation) }
        operation.start()
        if operation.awaitsAnnouncement {
            operation.keepStartTime(in: self)
            expectAnnouncement()
        }
    }
}
