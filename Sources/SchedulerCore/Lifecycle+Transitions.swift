/// The transitions, in the order of the flow: add, ready, start, finish, with cancel as the side road.
extension Lifecycle {

    // MARK: Add

    /// Claims the operation for one queue; nil when it is in a queue, runs, or has finished.
    @inlinable
    public func entering() -> Lifecycle? {
        guard phase == .idle else { return nil }
        var next = self
        next.phase = .entering
        next.remove([.askAgain, .finishAnnounced])
        return next
    }

    /// Gives the claim back, because another operation of the same batch was invalid. The caller looks whether the
    /// end was announced meanwhile.
    @inlinable
    public func refused() -> Lifecycle {
        var next = self
        next.phase = .idle
        next.remove([.askAgain, .finishAnnounced])
        return next
    }

    @frozen
    public enum Entry: Equatable, Sendable {
        /// Something changed while `isReady` was asked: ask again, then try again.
        case askAgain(Lifecycle)
        /// The operation is the queue's; push it into the inbox. With `finishAnnounced` set it then has to be finished.
        case enqueued(Lifecycle)
    }

    /// Ends `entering` with what `isReady` answered.
    @inlinable
    public func enqueued(isReady: Bool, priority: PriorityLane, inherits: Bool = false) -> Entry {
        var next = self
        if contains(.askAgain) {
            next.remove(.askAgain)
            return .askAgain(next)
        }
        next.phase = .enqueued
        if inherits { next.insert(.inherits) }
        next.effectivePriority = next.raised(priority)
        next.insert([.inInbox, .queued])
        if isReady, !contains(.finishAnnounced) { next.insert(.ready) }
        return .enqueued(next)
    }

    /// What the queue learns when it takes the operation out of the inbox: the pin is gone.
    @inlinable
    public func drained() -> Lifecycle {
        var next = self
        next.remove(.inInbox)
        return next
    }

    // MARK: Ready

    @frozen
    public enum Question: Equatable, Sendable {
        /// Not waiting in a queue: nobody needs the answer.
        case needless
        /// Another thread asks already and will ask again.
        case delegated(Lifecycle)
        /// This thread has to ask `isReady` now.
        case ask(Lifecycle)
    }

    /// Something that `isReady` depends on has changed.
    @inlinable
    public func reconsidered() -> Question {
        var next = self
        switch phase {
        case .entering:
            next.insert(.askAgain)
            return .delegated(next)
        case .enqueued where contains(.evaluating):
            next.insert(.askAgain)
            return .delegated(next)
        case .enqueued:
            next.insert(.evaluating)
            next.remove(.askAgain)
            return .ask(next)
        case .starting where contains(.admitting):
            next.insert(.askAgain)
            return .delegated(next)
        default:
            return .needless
        }
    }

    @frozen
    public enum Answer: Equatable, Sendable {
        case askAgain(Lifecycle)
        /// Nothing for the queue to learn. `finishNow`: the end was announced meanwhile.
        case settled(Lifecycle, finishNow: Bool)
        /// The queue has to learn that the operation may start: push it.
        case push(Lifecycle)
    }

    /// Ends the question that `reconsidered` began. A yes is always pushed: a worker that met the operation while it
    /// was pinned by the question has put it back among the waiting. What is about to be finished never starts.
    ///
    /// An operation whose queue is going to cancel it is pushed whatever the answer, so that a worker can come to it and call
    /// its `cancel()`.
    @inlinable
    public func answered(isReady: Bool) -> Answer {
        var next = self
        if contains(.askAgain) {
            next.remove(.askAgain)
            return .askAgain(next)
        }
        let finishNow = contains(.finishAnnounced)
        next.remove([.evaluating, .finishAnnounced])
        guard isReady || needsCancelCall, !finishNow else {
            next.remove(.ready)
            return .settled(next, finishNow: finishNow)
        }
        next.insert(.ready)
        guard !contains(.inInbox) else { return .settled(next, finishNow: false) }
        next.insert(.inInbox)
        return .push(next)
    }

    @frozen
    public enum Reordering: Equatable, Sendable {
        /// Not waiting in a queue, or in that lane already.
        case needless
        /// The adding thread, or whoever takes it out of the inbox, reads the new priority.
        case delegated(Lifecycle)
        /// Pinned by this thread: push it, so that its queue looks at it anew.
        case push(Lifecycle)
    }

    /// `queuePriority` may have changed: it is this now.
    @inlinable
    public func reordered(_ own: PriorityLane) -> Reordering {
        let lane = raised(own)
        var next = self
        switch phase {
        case .entering:
            next.insert(.askAgain)
            return .delegated(next)
        case .enqueued where effectivePriority != lane:
            next.effectivePriority = lane
            guard !contains(.inInbox) else { return .delegated(next) }
            next.insert(.inInbox)
            return .push(next)
        case .starting where effectivePriority != lane, .executing where effectivePriority != lane:
            // If it is put back, it is put into this lane; and it lends that to what it waits for.
            next.effectivePriority = lane
            return .delegated(next)
        default:
            return .needless
        }
    }

    @inlinable @inline(__always)
    func raised(_ own: PriorityLane) -> PriorityLane { contains(.inherits) ? max(own, lentPriority) : own }

    @frozen
    public enum Lending: Equatable, Sendable {
        /// It has ended, or that was known.
        case needless
        /// To be passed on to what this one waits for.
        case noted(Lifecycle)
        /// The same, and pinned by this thread: push it, so that its queue looks at it anew.
        case push(Lifecycle)
    }

    /// Somebody of this priority waits for the operation.
    ///
    /// - Parameter inAnyQueue: It is to stand that high whether or not its queue has it inherit.
    @inlinable
    public func lent(_ lane: PriorityLane, inAnyQueue: Bool = false) -> Lending {
        guard phase.rawValue < Phase.ended.rawValue else { return .needless }
        var next = self
        if inAnyQueue { next.insert(.inherits) }
        next.lentPriority = max(lentPriority, lane)
        guard next != self else { return .needless }
        let lane = next.raised(effectivePriority)
        guard phase == .enqueued && lane != effectivePriority else {
            // If it is put back, it is put into this lane.
            if phase == .starting { next.effectivePriority = lane }
            return .noted(next)
        }
        next.effectivePriority = lane
        guard !contains(.inInbox) else { return .noted(next) }
        next.insert(.inInbox)
        return .push(next)
    }

    /// What it lends to those it waits for: how high it stands, if it is in a queue or runs, and else what it was lent.
    @inlinable
    public var lends: PriorityLane {
        switch phase {
        case .idle, .entering: lentPriority
        case .enqueued, .starting, .executing: max(effectivePriority, lentPriority)
        case .ended, .finishing, .finished: .veryLow
        }
    }

    /// One more dependency holds the operation back; nil when it is too late to hold it.
    ///
    /// A cancelled operation stays startable (C2). Any other stops being so at once, also when it waits for a slot
    /// (D2); an override of `isReady` that thinks otherwise is asked afterwards.
    @inlinable
    public func heldByOneMore() -> Lifecycle? {
        guard !hasStarted else { return nil }
        var next = self
        next.unfinished += 1
        if !isCancelled { next.remove(.ready) }
        return next
    }

    /// One dependency less. `isReady` may have become true when `unfinished` is now zero.
    @inlinable
    public func heldByOneLess() -> Lifecycle {
        var next = self
        next.unfinished -= 1
        return next
    }

    // MARK: Start

    /// A worker claims the operation; nil when it is not startable any more, or pinned.
    @inlinable
    public func claimed() -> Lifecycle? {
        guard phase == .enqueued, contains(.ready), !isPinned, !awaitsPromisedCancel else { return nil }
        var next = self
        next.phase = .starting
        // A barrier or a job of a task has no dependencies and is never cancelled, so its claim is final.
        if !contains(.unlisted) { next.insert(.admitting) }
        return next
    }

    @frozen
    public enum Admission: Equatable, Sendable {
        /// It starts now.
        case start(Lifecycle)
        /// Something has changed since the claim: ask `isReady` again, then try again or put it back.
        case askAgain(Lifecycle)
        /// It must not start: put it back.
        case putBack
        /// Its end was announced meanwhile: finish it.
        case finish(Lifecycle)
    }

    /// The claiming thread is about to start the operation. A cancelled one starts whatever has changed (C2).
    @inlinable
    public func admitted() -> Admission {
        var next = self
        next.remove(.admitting)
        if contains(.finishAnnounced) {
            next.remove([.finishAnnounced, .askAgain])
            return .finish(next)
        }
        guard !isCancelled else {
            next.remove(.askAgain)
            return .start(next)
        }
        // Not by `unfinished`: an override of `isReady` may have answered yes in spite of dependencies. One that is added after the
        // claim takes the flag away.
        guard contains(.ready), !contains(.cancelPromised) else { return .putBack }
        guard !contains(.askAgain) else {
            next.insert(.admitting)
            next.remove(.askAgain)
            return .askAgain(next)
        }
        return .start(next)
    }

    /// Something holds a claimed operation back: it is among the waiting again. With `askAgain` set in the old word, what it
    /// waits for may have come already; with `finishAnnounced`, it has to be finished.
    @inlinable
    public func declined() -> Lifecycle {
        var next = self
        next.phase = .enqueued
        next.remove([.admitting, .ready, .askAgain, .finishAnnounced])
        return next
    }

    /// From now on something besides dependencies may hold it back; nil when it has started. What is being admitted is
    /// looked at again.
    @inlinable
    public func becameGated() -> Lifecycle? {
        guard !hasStarted else { return nil }
        var next = self
        next.insert(.gated)
        if contains(.admitting) { next.insert(.askAgain) }
        return next
    }

    @frozen
    public enum Start: Equatable, Sendable {
        case run(Lifecycle)
        /// Cancelled: `main()` is skipped.
        case skip(Lifecycle)
        case alreadyFinished
        case alreadyExecuting
        case inQueue
    }

    /// The default `start()`. `isCancelled` is what the property, overridden or not, answers.
    @inlinable
    public func started(isCancelled: Bool) -> Start {
        var next = self
        switch phase {
        case .starting where contains(.admitting):
            // The claiming thread has not started it.
            return .inQueue
        case .idle, .starting:
            if isCancelled {
                next.phase = .ended
                return .skip(next)
            }
            next.phase = .executing
            return .run(next)
        case .entering, .enqueued: return .inQueue
        case .executing: return .alreadyExecuting
        case .ended, .finishing, .finished: return .alreadyFinished
        }
    }

    /// What has started, and is held, gives its slot back: it is among the waiting again, and will start once more. nil: it
    /// is cancelled, or has ended.
    @inlinable
    public func stoodAside() -> Lifecycle? {
        guard phase == .executing, !isCancelled else { return nil }
        var next = self
        next.phase = .enqueued
        next.insert([.gated, .hasBegun])
        next.remove([.ready, .askAgain])
        return next
    }

    /// `admitted` and `started` at once for a plain block operation; nil when it has to go the long way.
    ///
    /// - Parameter isSilent: Nobody observes what changes here, though somebody may observe something else.
    @inlinable
    public func startedPlainly(isSilent: @autoclosure () -> Bool = false) -> Lifecycle? {
        guard phase == .starting, unfinished == 0,
            !containsAny([.cancelled, .gated, .askAgain, .finishAnnounced, .cancelPromised]),
            !contains(.observed) || isSilent()
        else { return nil }
        var next = self
        next.phase = .executing
        next.remove(.admitting)
        return next
    }

    // MARK: Finish

    /// `ended` and `finishing` at once for a plain block operation; nil when it has to go the long way.
    ///
    /// - Parameter isSimple: Whoever observes is content to hear afterwards.
    @inlinable
    public func endedPlainly(isSimple: @autoclosure () -> Bool = false) -> Lifecycle? {
        guard phase == .executing, !contains(.hasCompletionBlock), !contains(.observed) || isSimple() else {
            return nil
        }
        var next = self
        next.phase = .finishing
        next.insert(.ranMain)
        return next
    }

    /// `main()` has returned; nil when the operation finished from inside it.
    @inlinable
    public func ended() -> Lifecycle? {
        guard phase == .executing else { return nil }
        var next = self
        next.phase = .ended
        next.insert(.ranMain)
        return next
    }

    @frozen
    public enum Finish: Equatable, Sendable {
        /// This thread finishes the operation. `tooEarly`: its queue had not started it (L10).
        case claimed(Lifecycle, tooEarly: Bool)
        /// It is being added, or asked whether it is ready; the thread that does so finishes it.
        case delegated(Lifecycle)
        case already
    }

    /// The end was announced and `isFinished` is true.
    @inlinable
    public func finishing() -> Finish {
        var next = self
        switch phase {
        case .entering:
            next.insert(.finishAnnounced)
            return .delegated(next)
        case .enqueued where contains(.evaluating), .starting where contains(.admitting):
            next.insert(.finishAnnounced)
            return .delegated(next)
        case .finishing, .finished:
            return .already
        case .enqueued:
            next.phase = .finishing
            return .claimed(next, tooEarly: true)
        case .idle, .starting, .executing, .ended:
            next.phase = .finishing
            return .claimed(next, tooEarly: false)
        }
    }

    /// The operation has left its queue.
    @inlinable
    public func finished() -> Lifecycle {
        var next = self
        next.phase = .finished
        return next
    }

    // MARK: Cancel

    /// nil when it was cancelled before, or has ended.
    @inlinable
    public func cancelled() -> Lifecycle? { marked(.cancelled) }

    // MARK: Cancel with others

    /// Its queue is going to cancel it; nil when it is cancelled, or has ended.
    @inlinable
    public func cancelPromised() -> Lifecycle? { marked(.cancelPromised) }

    @inlinable @inline(__always)
    func marked(_ mark: Flags) -> Lifecycle? {
        guard !isCancelled, !isFinished else { return nil }
        var next = self
        next.insert(mark)
        return next
    }

    /// The caller calls `cancel()` as promised; nil when no thread has to any more.
    @inlinable
    public func cancelClaimed() -> Lifecycle? {
        guard contains(.cancelPromised), !contains(.cancelClaimed) else { return nil }
        var next = self
        next.insert(.cancelClaimed)
        return next
    }

    /// `cancel()` has returned. An override may not have cancelled the operation, which then has to be asked whether it is
    /// ready: it may have been pushed only so that a worker comes to it.
    @inlinable
    public func cancelCalled() -> Lifecycle {
        var next = self
        next.remove([.cancelPromised, .cancelClaimed])
        if phase == .enqueued, !isCancelled { next.remove(.ready) }
        return next
    }

    /// It must not start yet: its queue has promised to cancel it and has not done so. From the moment it is cancelled it may
    /// end, even if its `cancel()` goes on.
    @inlinable @inline(__always)
    public var awaitsPromisedCancel: Bool { contains(.cancelPromised) && !isCancelled }

    /// The same, and no thread has claimed the call.
    @inlinable @inline(__always)
    public var needsCancelCall: Bool { awaitsPromisedCancel && !contains(.cancelClaimed) }
}
