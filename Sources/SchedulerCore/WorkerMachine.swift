/// The decisions of one worker of a queue, from its arrival until it leaves. Events go in, actions come out. No threads, no locks,
/// and no calls.
///
/// Threads that push call no worker while they rely on this one: it *attends* the queue, or it has claimed the *call* of a worker
/// (`Signal` in `Operations`). Whoever ends this looks, or calls another worker. The thread of the worker reports an event, performs
/// the actions, and reports the next event. Other threads change the worker in one way: the monitor takes its promise.
public struct WorkerMachine: Hashable, Sendable {
    public enum Event {
        /// The worker may look for its next operation. A resumption that waits comes first.
        case turn(resumption: Bool)
        /// The worker has looked.
        case looked(claim: Bool)
        /// The worker is about to run an operation that it has claimed, or a resumption after a look.
        case runs(othersAttend: Bool)
        /// The worker has taken a resumption.
        case tookResumption
        /// The worker is about to run a resumption without having looked.
        case resumes(othersAttend: Bool, isBusy: Bool)
        /// The worker is about to run code that may take long, and for which it has no promise.
        case stepsAside
        /// The code of the operation has returned.
        case returned(keptPromise: Bool)
        case askedToYield
        /// An interval of operations is over.
        case intervalEnded(isEnoughAlone: Bool)
        case claimedAttendance(Bool)
        /// The operation has ended, and its dependents are notified next.
        case ended(hasDependents: Bool)
        /// The operation is about to leave the queue.
        case leaves(mayClaim: Bool, keptPromise: Bool)
        case left(isCalled: Bool, keptPromise: Bool)
        /// The operation has left, and the worker has claimed no other one. `facts` is what the worker knows of other work, and of code
        /// of the user that follows.
        case leftWithoutClaim(Facts)
        /// The worker is about to release an operation. The `deinit` may take long, or wait for any other operation of the queue.
        case releases(claim: Bool)
        case released(claim: Bool)
        /// The worker has taken its promise back, or has found that the monitor has taken it.
        case tookPromise(Bool)
        /// There is no claim and no resumption.
        case hasNothing
        case claimedCall(Bool, resumption: Bool)
        /// The worker has waited for arrivals.
        case waited(arrival: Bool, resumption: Bool)
        case lookedAfterWait(claim: Bool, resumption: Bool)
        /// The last look has found nothing.
        case foundNothing
        case leavesQueue
    }

    /// What a worker finds when its operation has left the queue.
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
        @inlinable public init(rawValue: UInt32) { self.rawValue = rawValue }

        @inlinable public static var clearsPromise: Actions { Actions(rawValue: 1 << 0) }
        /// Promise to look.
        @inlinable public static var promisesLook: Actions { Actions(rawValue: 1 << 1) }
        /// Promise to look. The worker has claimed the call.
        @inlinable public static var promisesCall: Actions { Actions(rawValue: 1 << 2) }
        /// Promise to run the claimed operation, or to cancel it.
        @inlinable public static var promisesClaim: Actions { Actions(rawValue: 1 << 3) }
        /// End the attendance.
        @inlinable public static var stopsAttending: Actions { Actions(rawValue: 1 << 4) }
        /// End the claim of the call.
        @inlinable public static var arrives: Actions { Actions(rawValue: 1 << 5) }
        /// Call workers for all work that can start or resume.
        @inlinable public static var callsForAll: Actions { Actions(rawValue: 1 << 6) }
        /// Call workers for the work that the worker has found.
        @inlinable public static var calls: Actions { Actions(rawValue: 1 << 7) }
        /// The same, except a worker of its own level.
        @inlinable public static var callsOtherLevels: Actions { Actions(rawValue: 1 << 8) }
        /// Call a worker if there is a resumption.
        @inlinable public static var callsForResumption: Actions { Actions(rawValue: 1 << 9) }
        /// Call a worker of its own level.
        @inlinable public static var callsSuccessor: Actions { Actions(rawValue: 1 << 10) }
        @inlinable public static var claimsAttendance: Actions { Actions(rawValue: 1 << 11) }
        @inlinable public static var claimsCall: Actions { Actions(rawValue: 1 << 12) }
        /// Claim the next operation in the section in which this one leaves.
        @inlinable public static var claims: Actions { Actions(rawValue: 1 << 13) }
        @inlinable public static var takesPromise: Actions { Actions(rawValue: 1 << 14) }
        /// Give up the claimed operation, because the monitor puts it back or cancels it.
        @inlinable public static var dropsClaim: Actions { Actions(rawValue: 1 << 15) }
        @inlinable public static var looks: Actions { Actions(rawValue: 1 << 16) }
        /// Look, and end the claim of the call in the same section.
        @inlinable public static var looksAndArrives: Actions { Actions(rawValue: 1 << 17) }
        /// Wait some microseconds for arrivals.
        @inlinable public static var waits: Actions { Actions(rawValue: 1 << 18) }

        /// The actions by which other threads cease to rely on the worker, and are called.
        @inlinable public static var signals: Actions {
            [.stopsAttending, .arrives, .callsForAll, .calls, .callsOtherLevels, .callsForResumption, .callsSuccessor]
        }
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

    // Inlined, so that only the case of the caller is left.
    @inlinable @inline(__always)
    @discardableResult
    public mutating func handle(_ event: Event) -> Actions {
        switch event {
        // A worker that has claimed the call waits for an arrival first.
        case .turn(let resumption): return startsMore && !isCalled && !resumption ? .looks : []
        case .looked(let claim): return claim ? [] : .calls
        case .runs(let othersAttend):
            if isAttending { return [.promisesLook, .callsOtherLevels] }
            return othersAttend ? .callsOtherLevels : .calls
        case .tookResumption: return endCall()
        case .resumes(let othersAttend, let isBusy):
            if isAttending { return .promisesLook }
            if othersAttend { return [] }
            // While the queue is busy, no operation can start.
            return isBusy ? .callsForResumption : .callsForAll
        case .stepsAside: return stopAttending().union(.callsForAll)
        case .returned(let keptPromise):
            noteTakenPromise(keptPromise)
            return []
        case .askedToYield:
            end = .yields
            return []
        case .intervalEnded(let isEnoughAlone):
            if !isEnoughAlone { return stopAttending() }
            return isAttending ? [] : .claimsAttendance
        case .claimedAttendance(let isClaimed):
            if isClaimed { isAttending = true } else { end = .leavesToOthers }
            return []
        // Dependents that become ready are found by the look of the section.
        case .ended(let hasDependents): return isAttending || hasDependents ? .promisesLook : []
        case .leaves(let mayClaim, let keptPromise):
            guard mayClaim || !startsMore else {
                noteTakenPromise(keptPromise)
                // Until this worker looks, observers of the queue may wait for the next operation, and so may a `deinit`.
                return .promisesLook
            }
            // The look of the section keeps the promise. Actions of policies after the section may make other operations ready,
            // and this thread may run an operation next. A worker that attends needs no call. The monitor may have ended the
            // attendance, which is found out later.
            let claims: Actions = startsMore ? .claims : []
            return isAttending ? claims : claims.union([.clearsPromise, .claimsCall])
        case .left(let isCalled, let keptPromise):
            self.isCalled = isCalled
            noteTakenPromise(keptPromise)
            return []
        case .leftWithoutClaim(let facts): return leaveRest(facts)
        case .releases(let claim):
            return claim ? .promisesClaim : isCalled ? .promisesCall : isAttending ? .promisesLook : []
        // Without either, this worker looks now, also if the monitor has called another one.
        case .released(let claim): return claim || isReliedOn ? .takesPromise : .clearsPromise
        case .tookPromise(let isKept):
            if isKept { return [] }
            (isAttending, isCalled) = (false, false)
            return .dropsClaim
        case .hasNothing: return isReliedOn ? .waits : .claimsCall
        case .claimedCall(let isClaimed, let resumption):
            isCalled = isClaimed
            // Otherwise another worker looks, or no slot is free.
            if !isClaimed, !resumption { end = .idle }
            return isClaimed ? .waits : []
        case .waited(let arrival, let resumption):
            if isAttending { return arrival && !resumption ? .looks : [] }
            // The thread that has just pushed is about to read whether a worker was called. So the claim lasts until this
            // worker has taken the arrival.
            guard arrival else { return endCall() }
            isCalled = false
            return .looksAndArrives
        case .lookedAfterWait(let claim, let resumption):
            if claim || isAttending && resumption { return [] }
            // Threads that pushed have relied on this worker until now.
            return stopAttending().union(.looks)
        // Without the last look there was a resumption, which another worker may have taken meanwhile. Then the worker stays.
        case .foundNothing:
            end = .idle
            return []
        case .leavesQueue: return end == .yields ? stopAttending().union(.callsSuccessor) : []
        }
    }

    /// Leaves the work that this worker has not claimed to other workers, or promises to look. Code of the user runs next, which may
    /// wait for that work.
    @usableFromInline
    mutating func leaveRest(_ facts: Facts) -> Actions {
        // While this worker is relied on, or has promised to look, a push calls no worker.
        if facts.contains(.block) || isReliedOn && facts.contains(.tasks) {
            guard isReliedOn else { return [.calls, .callsForResumption] }
            return stopAttending().union(endCall()).union(.callsForAll)
        }
        // The last look of the attending worker comes after this operation has left.
        if end == .leavesToOthers, facts.contains(.othersAttend) { return .callsOtherLevels }
        // The last look of an attending worker may have come before this operation left, and may have found nothing for that
        // reason. A resumption that arrived while this thread had a promise has called no worker.
        if !startsMore { return [.calls, .callsForResumption] }
        return !isReliedOn && !facts.isDisjoint(with: [.more, .resumption]) ? .promisesLook : []
    }

    /// Notes that the monitor has taken the promise of an attending worker, and so has ended the attendance. Otherwise two workers
    /// would run the tiny operations, and be slower together than one.
    @inlinable @inline(__always)
    mutating func noteTakenPromise(_ keptPromise: Bool) { if !keptPromise { isAttending = false } }

    @inlinable @inline(__always)
    mutating func stopAttending() -> Actions {
        guard isAttending else { return [] }
        isAttending = false
        return .stopsAttending
    }

    @inlinable @inline(__always)
    mutating func endCall() -> Actions {
        guard isCalled else { return [] }
        isCalled = false
        return .arrives
    }
}
