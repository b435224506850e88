/// An answer of a transition that has several outcomes.
public protocol LifecycleAnswer {
    /// The word that the answer leads to; nil if the word stays.
    var next: Lifecycle? { get }
}

/// The transitions, in the order of the flow: add, ready, start, finish. Cancellation comes last.
extension Lifecycle {
    @inlinable @inline(__always)
    func moved(to phase: Phase) -> Lifecycle {
        var next = self
        next.phase = phase
        return next
    }

    // MARK: Add

    /// Claims the operation for one queue; nil if the operation is in a queue, runs, or has finished.
    @inlinable
    public func entering() -> Lifecycle? {
        phase == .idle ? moved(to: .entering).removing([.askAgain, .finishAnnounced]) : nil
    }

    /// Withdraws the claim, because another operation of the same batch was invalid. The caller checks whether the end was
    /// announced meanwhile.
    @inlinable
    public func refused() -> Lifecycle { moved(to: .idle).removing([.askAgain, .finishAnnounced]) }

    @frozen
    public enum Entry: LifecycleAnswer, Equatable, Sendable {
        /// A change came during the evaluation of `isReady`: evaluate again, then try again.
        case askAgain(Lifecycle)
        /// The operation belongs to the queue: push it into the inbox. If `finishAnnounced` is set, finish it after that.
        case enqueued(Lifecycle)

        @inlinable @inline(__always)
        public var next: Lifecycle? {
            switch self {
            case .askAgain(let next), .enqueued(let next): next
            }
        }
    }

    /// Ends the phase `entering` with the value of `isReady`.
    @inlinable
    public func enqueued(isReady: Bool, priority: PriorityLane) -> Entry {
        if contains(.askAgain) { return .askAgain(removing(.askAgain)) }
        var next = moved(to: .enqueued)
        next.effectivePriority = raised(priority)
        next.insert([.inInbox, .queued])
        if isReady, !contains(.finishAnnounced) { next.insert(.ready) }
        return .enqueued(next)
    }

    /// The word of a new block operation that only the adding thread knows, once it belongs to the queue: the result of
    /// `entering` and `enqueued`.
    @inlinable @inline(__always)
    public static var newInQueue: Lifecycle {
        Lifecycle().moved(to: .enqueued).inserting([.inInbox, .queued, .ready])
    }

    /// Removes the pin of the inbox. The queue makes this transition when it drains the inbox.
    @inlinable
    public func drained() -> Lifecycle { removing(.inInbox) }

    // MARK: Ready

    @frozen
    public enum Question: LifecycleAnswer, Equatable, Sendable {
        /// The operation does not wait in a queue, so no evaluation is needed.
        case needless
        /// Another thread evaluates `isReady` already, and will evaluate it again. Or there is nothing to evaluate.
        case delegated(Lifecycle)
        /// This thread has to evaluate `isReady` now.
        case ask(Lifecycle)

        @inlinable @inline(__always)
        public var next: Lifecycle? {
            switch self {
            case .needless: nil
            case .delegated(let next), .ask(let next): next
            }
        }
    }

    /// Begins an evaluation of `isReady`, after a change of a value that `isReady` depends on.
    @inlinable
    public func reconsidered() -> Question {
        switch phase {
        case .entering,
            .enqueued where contains(.evaluating), .starting where contains(.admitting):
            .delegated(inserting(.askAgain))
        case .enqueued: .ask(inserting(.evaluating).removing(.askAgain))
        default: .needless
        }
    }

    @frozen
    public enum Answer: LifecycleAnswer, Equatable, Sendable {
        case askAgain(Lifecycle)
        /// The evaluation is over, without a push. `finishNow`: the end was announced meanwhile.
        case settled(Lifecycle, finishNow: Bool)
        /// The operation may start: push it.
        case push(Lifecycle)

        @inlinable @inline(__always)
        public var next: Lifecycle? {
            switch self {
            case .askAgain(let next), .settled(let next, _), .push(let next): next
            }
        }
    }

    /// Ends the evaluation that `reconsidered` began. A ready operation is always pushed: a worker may have found the operation
    /// pinned by the evaluation, and held it back. An operation whose end was announced never starts.
    ///
    /// An operation with a promised cancellation is pushed even if it is not ready, so that a worker can call its `cancel()`.
    @inlinable
    public func answered(isReady: Bool) -> Answer {
        if contains(.askAgain) { return .askAgain(removing(.askAgain)) }
        let finishNow = contains(.finishAnnounced)
        let next = removing([.evaluating, .finishAnnounced])
        guard isReady || needsCancelCall, !finishNow else {
            return .settled(next.removing(.ready), finishNow: finishNow)
        }
        return contains(.inInbox)
            ? .settled(next.inserting(.ready), finishNow: false) : .push(next.inserting([.ready, .inInbox]))
    }

    /// A change of the priority, or of the number of unfinished dependencies.
    @frozen
    public enum Change: LifecycleAnswer, Equatable, Sendable {
        /// Nothing changes: the operation has or was lent this priority before, or has ended. The own priority also changes
        /// nothing in an operation that is in no queue.
        case needless
        /// The change is stored, or the adding thread reads it again. Nothing has to be pushed.
        case noted(Lifecycle)
        /// This thread has pinned the operation: push it, so that its queue moves or starts it.
        case push(Lifecycle)

        @inlinable @inline(__always)
        public var next: Lifecycle? {
            switch self {
            case .needless: nil
            case .noted(let next), .push(let next): next
            }
        }
    }

    /// Records `own` as the value of `queuePriority`, which may have changed.
    @inlinable
    public func reordered(_ own: PriorityLane) -> Change {
        if phase == .entering { return .noted(inserting(.askAgain)) }
        let answer = placed(in: raised(own))
        return answer.next == self ? .needless : answer
    }

    @inlinable
    func placed(in lane: PriorityLane) -> Change {
        // If a started operation is put back, or pauses, it waits in this lane. It also lends this priority to the operations
        // that it waits for.
        guard phase == .enqueued || phase == .starting || phase == .executing else { return .noted(self) }
        var next = self
        next.effectivePriority = lane
        let mustPush = phase == .enqueued && lane != effectivePriority && !contains(.inInbox)
        return mustPush ? .push(next.inserting(.inInbox)) : .noted(next)
    }

    /// Pins a waiting operation for a push that passes a change to its queue; nil if it does not wait, or if it is about to be
    /// pushed. Then the thread that adds the operation or drains the inbox reads the change.
    @inlinable
    public func repinned() -> Lifecycle? {
        phase == .enqueued && !contains(.inInbox) ? inserting(.inInbox) : nil
    }

    @inlinable @inline(__always)
    func raised(_ own: PriorityLane) -> PriorityLane { contains(.inherits) ? max(own, lentPriority) : own }

    /// Records that an operation or a task of this priority waits for the operation. Unless the answer is `needless`, the caller
    /// passes the priority to the operations that this one waits for.
    ///
    /// - Parameter inAnyQueue: Whether the priority applies even if the policy of the queue does not inherit.
    @inlinable
    public func lent(_ lane: PriorityLane, inAnyQueue: Bool = false) -> Change {
        guard phase.rawValue < Phase.ended.rawValue else { return .needless }
        var next = self
        if inAnyQueue { next.insert(.inherits) }
        next.lentPriority = max(lentPriority, lane)
        return next == self ? .needless : next.placed(in: next.raised(effectivePriority))
    }

    /// The priority that the operation lends to operations that it waits for. In a queue or while it runs, the higher of
    /// `effectivePriority` and `lentPriority`; before that, `lentPriority`.
    @inlinable
    public var lends: PriorityLane {
        switch phase {
        case .idle, .entering: lentPriority
        case .enqueued, .starting, .executing: max(effectivePriority, lentPriority)
        case .ended, .finishing, .finished: .veryLow
        }
    }

    /// Counts one more dependency; nil if the operation has started.
    ///
    /// A cancelled operation stays ready (C2). Any other operation stops being ready at once, even if it waits for a slot (D2).
    /// The caller then evaluates `isReady`, which may be overridden.
    @inlinable
    public func heldByOneMore() -> Lifecycle? {
        guard !hasStarted else { return nil }
        var next = self
        next.unfinished += 1
        if !isCancelled { next.remove(.ready) }
        return next
    }

    /// Counts one more dependency of an operation that is in no queue and has few; nil for any other operation.
    @inlinable
    public func heldByOneMoreOfFew() -> Lifecycle? { phase == .idle && unfinished < 16 ? heldByOneMore() : nil }

    /// Counts one dependency less. If `unfinished` is zero now, `isReady` may have become true.
    @inlinable
    public func heldByOneLess() -> Lifecycle {
        var next = self
        next.unfinished -= 1
        return next
    }

    /// Counts one dependency less. Begins an evaluation of `isReady` if no dependency is left, or in any case if `asksAlways`.
    @inlinable
    public func released(asksAlways: Bool) -> Question {
        let next = heldByOneLess()
        guard next.unfinished == 0 || asksAlways else { return .delegated(next) }
        let question = next.reconsidered()
        return question == .needless ? .delegated(next) : question
    }

    /// Counts one dependency less of an operation whose `isReady` is not overridden. Evaluates the readiness in the same
    /// step, because the word has all that it depends on. `needless`: the operation is observed or gated, or its end was
    /// announced, and so needs `released` in place of this transition.
    @inlinable
    public func heldByOneLessPlainly() -> Change {
        guard !containsAny([.observed, .gated]) else { return .needless }
        let next = heldByOneLess()
        guard next.unfinished == 0 else { return .noted(next) }
        switch next.reconsidered() {
        case .needless: return .noted(next)
        case .delegated(let next): return .noted(next)
        case .ask(let next):
            switch next.answered(isReady: true) {
            case .settled(let next, finishNow: false): return .noted(next)
            case .push(let next): return .push(next)
            case .askAgain, .settled: return .needless
            }
        }
    }

    // MARK: Start

    /// Claims the operation for a worker; nil if the operation is no longer ready, or is pinned.
    @inlinable
    public func claimed() -> Lifecycle? {
        guard phase == .enqueued, contains(.ready), !isPinned, !awaitsPromisedCancel else { return nil }
        let next = moved(to: .starting)
        // A barrier or a job of a task has no dependencies and is never cancelled, so its claim is final.
        return contains(.unlisted) ? next : next.inserting(.admitting)
    }

    @frozen
    public enum Admission: LifecycleAnswer, Equatable, Sendable {
        /// The operation starts now.
        case start(Lifecycle)
        /// A change came after the claim: evaluate `isReady` again, then try again or put the operation back.
        case askAgain(Lifecycle)
        /// The operation must not start: put it back.
        case putBack
        /// The end was announced meanwhile: finish the operation.
        case finish(Lifecycle)

        @inlinable @inline(__always)
        public var next: Lifecycle? {
            switch self {
            case .start(let next), .askAgain(let next), .finish(let next): next
            case .putBack: nil
            }
        }
    }

    /// Decides whether the claiming thread may start the operation. A cancelled operation starts despite any change (C2).
    @inlinable
    public func admitted() -> Admission {
        let next = removing(.admitting)
        if contains(.finishAnnounced) { return .finish(next.removing([.finishAnnounced, .askAgain])) }
        if isCancelled { return .start(next.removing(.askAgain)) }
        // `unfinished` must not decide: an override of `isReady` may return true despite dependencies. A dependency that is
        // added after the claim removes the flag.
        guard contains(.ready), !contains(.cancelPromised) else { return .putBack }
        return contains(.askAgain) ? .askAgain(removing(.askAgain)) : .start(next)
    }

    /// Whether only a pin keeps the operation from being claimed, and the pin is short: no code of the user runs before its end.
    ///
    /// - Parameter isPlain: Whether no override of `isReady` exists. Such code may take long, or wait for another operation.
    @inlinable
    public func isPinnedBriefly(isPlain: Bool) -> Bool {
        let isShort = contains(.inInbox) || isPlain && contains(.evaluating) && !contains(.observed)
        return phase == .enqueued && contains(.ready) && isShort && !awaitsPromisedCancel
            && !containsAny([.gated, .keyed, .unlisted])
    }

    /// Puts a claimed operation back. If `askAgain` is set in the old word, the cause of the wait may be gone already. If
    /// `finishAnnounced` is set there, the caller has to finish the operation.
    @inlinable
    public func declined() -> Lifecycle {
        moved(to: .enqueued).removing([.admitting, .ready, .askAgain, .finishAnnounced])
    }

    /// Marks the operation as gated; nil if it has started. A thread that admits the operation checks it again.
    @inlinable
    public func becameGated() -> Lifecycle? {
        hasStarted ? nil : inserting(contains(.admitting) ? [.gated, .askAgain] : .gated)
    }

    @frozen
    public enum Start: LifecycleAnswer, Equatable, Sendable {
        case run(Lifecycle)
        /// The operation is cancelled: skip `main()`.
        case skip(Lifecycle)
        case alreadyFinished
        case alreadyExecuting
        case inQueue

        @inlinable @inline(__always)
        public var next: Lifecycle? {
            switch self {
            case .run(let next), .skip(let next): next
            case .alreadyFinished, .alreadyExecuting, .inQueue: nil
            }
        }
    }

    /// Decides the effect of the default `start()`.
    ///
    /// - Parameter isCancelled: Whether to skip `main()`.
    @inlinable
    public func started(isCancelled: Bool) -> Start {
        switch phase {
        // The claiming thread has not started the operation.
        case .starting where contains(.admitting): .inQueue
        case .idle, .starting: isCancelled ? .skip(moved(to: .ended)) : .run(moved(to: .executing))
        case .entering, .enqueued: .inQueue
        case .executing: .alreadyExecuting
        case .ended, .finishing, .finished: .alreadyFinished
        }
    }

    /// Makes a paused operation, which executes, a waiting operation again. It will start once more. nil if the operation
    /// has ended.
    ///
    /// A cancelled operation too: its task has returned its resources before, and acquires them again before it continues.
    @inlinable
    public func stoodAside() -> Lifecycle? {
        guard phase == .executing else { return nil }
        return moved(to: .enqueued).inserting([.gated, .hasBegun]).removing([.ready, .askAgain])
    }

    /// Combines `admitted` and `started`, for an operation whose `start()` is not overridden; nil if the operation needs the
    /// separate steps.
    ///
    /// - Parameter isSilent: Whether no observer observes the start. Evaluated only if there are observers.
    @inlinable
    public func admittedAndStarted(isSilent: @autoclosure () -> Bool = false) -> Lifecycle? {
        guard phase == .starting, unfinished == 0,
            !containsAny([.cancelled, .gated, .askAgain, .finishAnnounced, .cancelPromised]),
            !contains(.observed) || isSilent()
        else { return nil }
        return moved(to: .executing).removing(.admitting)
    }

    // MARK: Finish

    /// Ends the execution after `main()` has returned; nil if the operation finished inside `main()`.
    ///
    /// - Parameter claimsEnd: Whether this thread also claims the finish, because no override can deny the end.
    @inlinable
    public func ended(claimsEnd: Bool = false) -> Lifecycle? {
        phase == .executing ? moved(to: claimsEnd ? .finishing : .ended).inserting(.ranMain) : nil
    }

    @frozen
    public enum Finish: LifecycleAnswer, Equatable, Sendable {
        /// This thread finishes the operation. `tooEarly`: its queue had not started the operation (L10).
        case claimed(Lifecycle, tooEarly: Bool)
        /// Another thread adds, evaluates or admits the operation. That thread finishes it.
        case delegated(Lifecycle)
        case already

        @inlinable @inline(__always)
        public var next: Lifecycle? {
            switch self {
            case .claimed(let next, _), .delegated(let next): next
            case .already: nil
            }
        }
    }

    /// Claims the finish, after the end was announced and `isFinished` is true.
    @inlinable
    public func finishing() -> Finish {
        switch phase {
        case .entering,
            .enqueued where contains(.evaluating), .starting where contains(.admitting):
            .delegated(inserting(.finishAnnounced))
        case .finishing, .finished: .already
        case .idle, .enqueued, .starting, .executing, .ended:
            .claimed(moved(to: .finishing), tooEarly: phase == .enqueued)
        }
    }

    /// Completes the finish, after the operation has left its queue.
    @inlinable
    public func finished() -> Lifecycle { moved(to: .finished) }

    // MARK: Cancel

    /// Cancels the operation; nil if it is cancelled already, or has ended.
    @inlinable
    public func cancelled() -> Lifecycle? { marked(.cancelled) }

    // MARK: Cancel with others

    /// Promises that the queue will cancel the operation; nil if it is cancelled already, or has ended.
    @inlinable
    public func cancelPromised() -> Lifecycle? { marked(.cancelPromised) }

    @inlinable @inline(__always)
    func marked(_ mark: Flags) -> Lifecycle? {
        !isCancelled && !isFinished ? inserting(mark) : nil
    }

    /// Claims the promised call of `cancel()`; nil if there is no promise, or if another thread has claimed the call.
    @inlinable
    public func cancelClaimed() -> Lifecycle? {
        contains(.cancelPromised) && !contains(.cancelClaimed) ? inserting(.cancelClaimed) : nil
    }

    /// Ends the promise, after `cancel()` has returned. An override may not have cancelled the operation. Then its readiness
    /// has to be evaluated, because the operation may have been pushed only for the call of `cancel()`.
    @inlinable
    public func cancelCalled() -> Lifecycle {
        let next = removing([.cancelPromised, .cancelClaimed])
        return phase == .enqueued && !isCancelled ? next.removing(.ready) : next
    }

    /// Whether the operation must not start because its queue has promised to cancel it and has not cancelled it. Once it is
    /// cancelled, the operation may end, even while its `cancel()` continues.
    @inlinable @inline(__always)
    public var awaitsPromisedCancel: Bool { contains(.cancelPromised) && !isCancelled }

    /// Whether `awaitsPromisedCancel` is true and no thread has claimed the call.
    @inlinable @inline(__always)
    public var needsCancelCall: Bool { awaitsPromisedCancel && !contains(.cancelClaimed) }
}
