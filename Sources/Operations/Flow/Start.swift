// Step 3 of 5: start. Before: ready. After: finish.
//
// A worker claims the operation under the queue's lock (`starting`) and calls `start()`, overridden or not, without it.
// The default `start()` is also what runs when somebody starts an operation by hand.

import SchedulerCore

extension Operation {
    /// The default `start()`: misuse stops the process, unless `tryStart()` on this thread wants to know of it.
    final func beginOrReport() {
        let context = ThreadContext.current
        let isTrial = context.trial == ObjectIdentifier(self)
        // For this start alone: another one inside `main()` is none of the trial's.
        if isTrial { context.trial = nil }
        do { try begin(isTrial: isTrial) } catch {
            if isTrial { context.foundMisuse = error } else { error.stop() }
        }
    }

    /// Calls `start()`, overridden or not. Another thread may come in between any check and it, so the default
    /// `start()` itself reports what it finds.
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
        // An override that says so already, without an announcement (rule L3).
        guard !untracked({ isFinished }) else { return finishIfFinished() }
        // Not by an override: a subclass whose `cancel()` does not call super ends in `main()` (rule A4).
        let isCancelled = word.lifecycle.isCancelled && !startsCancelled
        let properties: ObservedProperty = isCancelled ? [.isFinished] : [.isExecuting]
        var start = Lifecycle.Start.alreadyFinished
        _ = announcing(properties) {
            start = word.decide {
                // Claimed by its queue, whose thread is on its way here; only a trial can tell that it is not that one.
                isTrial && $0.phase == .starting ? .alreadyExecuting : $0.started(isCancelled: isCancelled)
            } next: {
                $0.next
            }
            return start.next
        }
        switch start {
        case .run: run()
        case .skip: finishIfFinished()
        case .alreadyFinished: return
        case .alreadyExecuting: throw .startedWhileExecuting(operation: label)
        case .inQueue: throw .startedWhileInQueue(operation: label)
        }
    }

    /// Misuse M1, as far as it can be told before starting by hand.
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

    private final func run() {
        let context = ThreadContext.current
        let hasEnded: Bool
        if context.isRunning(self) {
            hasEnded = perform()
        } else {
            context.frames.append(.init(operation: Unmanaged.passUnretained(self), queue: nil))
            hasEnded = perform()
            context.frames.removeLast()
        }
        if hasEnded { endAnnounced() }
    }

    /// The work is done.
    final func endAnnounced() {
        let ended = announcing([.isExecuting, .isFinished]) { word.update { $0.ended() } }
        if ended != nil { finishIfFinished() }
    }

    final func runMain() {
        let reporter = progressReporter
        reporter?.willRunMain(of: self)
        if let interceptor { interceptor.perform(self) { main() } } else { main() }
        // Asked again: the progress may have been read for the first time while `main()` ran.
        (reporter ?? progressReporter)?.didRunMain(of: self)
    }

    /// Who counts this operation; nil for barriers and jobs.
    final var progressReporter: (any ProgressReporter)? { hooksWhileExecuting?.reporter.load()?.reporter }

    final var interceptor: (any QueueInterceptor)? { hooksWhileExecuting?.interceptor }

    /// nil also for what has no queue or has left it, which is not to be touched.
    private final var hooksWhileExecuting: QueueHooks? {
        let lifecycle = word.lifecycle
        guard lifecycle.phase == .executing, lifecycle.hasQueue, !lifecycle.contains(.unlisted) else { return nil }
        return queue?._withUnsafeGuaranteedRef { $0.hooks.load() }
    }
}

extension OperationQueue {
    /// Runs a claimed operation on this thread, as the innermost of what runs here.
    func run(_ operation: Operation, in context: ThreadContext) {
        HeldLocks.assertNone()
        context.frames.append(
            .init(operation: Unmanaged.passUnretained(operation), queue: Unmanaged.passUnretained(self)))
        start(operation)
        context.frames.removeLast()
    }

    /// Starts a claimed operation on this thread, which says that it runs it; or puts it back.
    func start(_ operation: Operation) {
        let lifecycle = operation.word.lifecycle
        guard !lifecycle.contains(.admitting) || admit(operation) else { return }
        let mustTell = !lifecycle.contains(.unlisted) && !(lifecycle.contains(.gated) && operation.isStandingAside)
        if mustTell { tellWatchers(.starts, of: operation) }
        operation.start()
        if operation.awaitsAnnouncement { expectAnnouncement() }
    }
}

extension Lifecycle.Start {
    var next: Lifecycle? {
        switch self {
        case .run(let next), .skip(let next): next
        case .alreadyFinished, .alreadyExecuting, .inQueue: nil
        }
    }
}
