/// The decisions of one worker of a queue, from its arrival until it leaves. Events go in, actions come out. No threads, no locks,
/// and no calls.
///
/// Threads that push call no worker while they rely on this one: it *attends* the queue, or it has claimed the *call* of a worker
/// (`Signal` in `Operations`). The thread that ends this looks, or calls another worker. The thread of the worker reports an event by a
/// method, performs the actions, and reports the next event. Other threads change the worker in one way: the monitor takes its promise.
public struct WorkerMachine: Hashable, Sendable {
    /// The findings of a worker whose operation has left the queue.
    public struct Facts: OptionSet, Sendable {
        public let rawValue: UInt8
        @inlinable public init(rawValue: UInt8) { self.rawValue = rawValue }

        /// The operation has a completion block.
        @inlinable public static var block: Facts { Facts(rawValue: 1 << 0) }
        /// Tasks wait for the operation. Their executors may keep the thread.
        @inlinable public static var tasks: Facts { Facts(rawValue: 1 << 1) }
        /// Other operations can start.
        @inlinable public static var more: Facts { Facts(rawValue: 1 << 2) }
        @inlinable public static var resumption: Facts { Facts(rawValue: 1 << 3) }
        /// Another worker attends the queue.
        @inlinable public static var othersAttend: Facts { Facts(rawValue: 1 << 4) }
    }

    /// The actions that an event requires, in the order in which the thread performs them.
    public struct Actions: OptionSet, Hashable, Sendable {
        public let rawValue: UInt32
        @inlinable @inline(__always) public init(rawValue: UInt32) { self.rawValue = rawValue }

        // Those of the protocol are generic, and the compiler stops inlining at their size.
        @inlinable @inline(__always) public var isEmpty: Bool { rawValue == 0 }
        @inlinable @inline(__always) public func contains(_ other: Actions) -> Bool {
            rawValue & other.rawValue == other.rawValue
        }
        @inlinable @inline(__always)
        public func union(_ other: Actions) -> Actions { Actions(rawValue: rawValue | other.rawValue) }

        @inlinable @inline(__always) public static var none: Actions { Actions(rawValue: 0) }

        @inlinable @inline(__always) public static var clearsPromise: Actions { Actions(rawValue: 1 << 0) }
        /// Promise to look.
        @inlinable @inline(__always) public static var promisesLook: Actions { Actions(rawValue: 1 << 1) }
        /// Promise to look. The worker has claimed the call.
        @inlinable @inline(__always) public static var promisesCall: Actions { Actions(rawValue: 1 << 2) }
        /// End the attendance.
        @inlinable @inline(__always) public static var stopsAttending: Actions { Actions(rawValue: 1 << 4) }
        /// End the claim of the call.
        @inlinable @inline(__always) public static var arrives: Actions { Actions(rawValue: 1 << 5) }
        /// Call workers for all work that can start or resume.
        @inlinable @inline(__always) public static var callsForAll: Actions { Actions(rawValue: 1 << 6) }
        /// Call workers for the work that the worker has found.
        @inlinable @inline(__always) public static var calls: Actions { Actions(rawValue: 1 << 7) }
        /// The same, except a worker of its own level.
        @inlinable @inline(__always) public static var callsOtherLevels: Actions { Actions(rawValue: 1 << 8) }
        /// Call a worker if there is a resumption.
        @inlinable @inline(__always) public static var callsForResumption: Actions { Actions(rawValue: 1 << 9) }
        /// Call a worker of its own level.
        @inlinable @inline(__always) public static var callsSuccessor: Actions { Actions(rawValue: 1 << 10) }
        @inlinable @inline(__always) public static var claimsAttendance: Actions { Actions(rawValue: 1 << 11) }
        @inlinable @inline(__always) public static var claimsCall: Actions { Actions(rawValue: 1 << 12) }
        /// Claim the next operation in the section in which this one leaves.
        @inlinable @inline(__always) public static var claims: Actions { Actions(rawValue: 1 << 13) }
        @inlinable @inline(__always) public static var takesPromise: Actions { Actions(rawValue: 1 << 14) }
        @inlinable @inline(__always) public static var looks: Actions { Actions(rawValue: 1 << 16) }
        /// Look, and end the claim of the call in the same section.
        @inlinable @inline(__always) public static var looksAndArrives: Actions { Actions(rawValue: 1 << 17) }
        /// Wait some microseconds for arrivals.
        @inlinable @inline(__always) public static var waits: Actions { Actions(rawValue: 1 << 18) }
    }

    @usableFromInline enum End: Sendable {
        /// No work is left for this worker.
        case idle
        /// Other queues wait for a thread, or there are more threads than cores.
        case yields
        /// Another worker attends the queue, and one worker is enough.
        case leavesToOthers
    }

    /// Whether the worker looks after each operation, and the queue's `Signal` has that flag.
    @inlinable public var attends: Bool { isAttending }
    @usableFromInline var isAttending = false
    /// Whether the worker has claimed the call of a worker of its level, and so is going to look.
    @usableFromInline var isCalled = false
    @usableFromInline var end: End?
    @usableFromInline let isBeyondLimit: Bool

    /// - Parameter isBeyondLimit: Whether the worker exceeds the limit of threads. It starts no operation, and only resumes.
    public init(isBeyondLimit: Bool = false) { self.isBeyondLimit = isBeyondLimit }

    /// Whether the worker works for the queue.
    @inlinable public var goesOn: Bool { end == nil }

    /// Whether this worker may start another operation.
    @inlinable var startsMore: Bool { end == nil && !isBeyondLimit }

    /// Whether threads that push call no worker of this level, because they rely on this one to look.
    @inlinable var isReliedOn: Bool { isAttending || isCalled }
}

// MARK: - Events

// A method for each event, and not one with an enumeration: the compiler would inline all cases into each caller before it finds
// the one that is left, and then stop inlining.
extension WorkerMachine {
    /// The worker may look for its next operation. A resumption that waits comes first.
    @inlinable @inline(__always)
    public func turn(resumption: Bool) -> Actions {
        // A worker that has claimed the call waits for an arrival first.
        startsMore && !isCalled && !resumption ? .looks : .none
    }

    /// The worker has looked.
    @inlinable @inline(__always)
    public func looked(claim: Bool) -> Actions { claim ? .none : .calls }

    /// The worker is about to run an operation that it has claimed, or a resumption after a look.
    @inlinable @inline(__always)
    public func runs(othersAttend: Bool) -> Actions {
        if isAttending { return .promisesLook.union(.callsOtherLevels) }
        return othersAttend ? .callsOtherLevels : .calls
    }

    /// The worker has taken a resumption.
    @inlinable @inline(__always)
    public mutating func tookResumption() -> Actions { endCall() }

    /// The worker is about to run a resumption without having looked.
    public func resumes(othersAttend: Bool, isBusy: Bool) -> Actions {
        if isAttending { return .promisesLook }
        if othersAttend { return .none }
        // While the queue is busy, no operation can start.
        return isBusy ? .callsForResumption : .callsForAll
    }

    /// The worker is about to run code that may take long, and for which it has no promise.
    public mutating func stepsAside() -> Actions { stopAttending().union(.callsForAll) }

    /// The code of the operation has returned. If the monitor has taken the promise of an attending worker, it has ended the
    /// attendance. Otherwise two workers would run the tiny operations, and be slower together than one.
    @inlinable @inline(__always)
    public mutating func returned(keptPromise: Bool) { if !keptPromise { isAttending = false } }

    @inlinable @inline(__always)
    public mutating func askedToYield() { end = .yields }

    /// An interval of operations is over.
    public mutating func intervalEnded(isEnoughAlone: Bool) -> Actions {
        if !isEnoughAlone { return stopAttending() }
        return isAttending ? .none : .claimsAttendance
    }

    public mutating func claimedAttendance(_ isClaimed: Bool) {
        if isClaimed { isAttending = true } else { end = .leavesToOthers }
    }

    /// The operation has ended, and its dependents are notified next.
    @inlinable @inline(__always)
    public func ended(hasDependents: Bool) -> Actions {
        // Dependents that become ready are found by the look of the section.
        isAttending || hasDependents ? .promisesLook : .none
    }

    /// The operation is about to leave the queue.
    ///
    /// - Parameter codeFollows: Whether code of the user may run when the operation has left, such as a `deinit`. A claimed operation
    ///   would wait for this code.
    @inlinable @inline(__always)
    public mutating func leaves(mayClaim: Bool, codeFollows: Bool, keptPromise: Bool) -> Actions {
        guard mayClaim || !startsMore else {
            returned(keptPromise: keptPromise)
            // Until this worker looks, observers of the queue may wait for the next operation, and so may a `deinit`.
            return .promisesLook
        }
        // The look of the section keeps the promise. Actions of policies after the section may make other operations ready, and
        // this thread may run an operation next. A worker that attends needs no call. The monitor may have ended the attendance,
        // which is found out later.
        guard startsMore else { return isAttending ? .none : .clearsPromise }
        let claims = codeFollows ? Actions.none : .claims
        return isAttending ? claims : claims.union(.clearsPromise).union(.claimsCall)
    }

    @inlinable @inline(__always)
    public mutating func left(isCalled: Bool, keptPromise: Bool) {
        self.isCalled = isCalled
        returned(keptPromise: keptPromise)
    }

    /// The operation has left, and the worker has claimed no other one. The worker leaves the other work to others, or promises to
    /// look. Code of the user runs next, which may wait for that work.
    public mutating func leftWithoutClaim(_ facts: Facts) -> Actions {
        // While this worker is relied on, or has promised to look, a push calls no worker.
        if facts.contains(.block) || isReliedOn && facts.contains(.tasks) {
            guard isReliedOn else { return .calls.union(.callsForResumption) }
            return stopAttending().union(endCall()).union(.callsForAll)
        }
        // The last look of the attending worker comes after this operation has left.
        if end == .leavesToOthers, facts.contains(.othersAttend) { return .callsOtherLevels }
        // The last look of an attending worker may have come before this operation left, and may have found nothing for that
        // reason. A resumption that arrived while this thread had a promise has called no worker.
        if !startsMore { return .calls.union(.callsForResumption) }
        return !isReliedOn && !facts.isDisjoint(with: [.more, .resumption]) ? .promisesLook : .none
    }

    /// The worker is about to release an operation. The `deinit` may take long, or wait for any other operation of the queue.
    @inlinable @inline(__always)
    public func releases() -> Actions { isCalled ? .promisesCall : isAttending ? .promisesLook : .none }

    @inlinable @inline(__always)
    public func released() -> Actions {
        // Otherwise this worker looks now, also if the monitor has called another one.
        isReliedOn ? .takesPromise : .clearsPromise
    }

    /// The worker has taken its promise back, or has found that the monitor has taken it.
    @inlinable @inline(__always)
    public mutating func tookPromise(_ isKept: Bool) { if !isKept { (isAttending, isCalled) = (false, false) } }

    /// There is no claim and no resumption.
    public func hasNothing() -> Actions { isReliedOn ? .waits : .claimsCall }

    public mutating func claimedCall(_ isClaimed: Bool, resumption: Bool) -> Actions {
        isCalled = isClaimed
        // Otherwise another worker looks, or no slot is free.
        if !isClaimed, !resumption { end = .idle }
        return isClaimed ? .waits : .none
    }

    /// The worker has waited for arrivals.
    public mutating func waited(arrival: Bool, resumption: Bool) -> Actions {
        if isAttending { return arrival && !resumption ? .looks : .none }
        // The thread that has just pushed is about to read whether a worker was called. So the claim lasts until this worker has
        // taken the arrival.
        guard arrival else { return endCall() }
        isCalled = false
        return .looksAndArrives
    }

    public mutating func lookedAfterWait(claim: Bool, resumption: Bool) -> Actions {
        if claim || isAttending && resumption { return .none }
        // Threads that pushed have relied on this worker until now.
        return stopAttending().union(.looks)
    }

    /// The last look has found nothing. Without that look there was a resumption, which another worker may have taken meanwhile.
    /// Then the worker stays.
    public mutating func foundNothing() { end = .idle }

    public mutating func leavesQueue() -> Actions { end == .yields ? stopAttending().union(.callsSuccessor) : .none }

    @inlinable @inline(__always)
    mutating func stopAttending() -> Actions {
        guard isAttending else { return .none }
        isAttending = false
        return .stopsAttending
    }

    @inlinable @inline(__always)
    mutating func endCall() -> Actions {
        guard isCalled else { return .none }
        isCalled = false
        return .arrives
    }
}
