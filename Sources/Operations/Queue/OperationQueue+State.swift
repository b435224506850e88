import CPlatform
import Dispatch
@_spi(Hosting) import KeyValueObserving
import SchedulerCore

extension OperationQueue {
    /// What runs the operations.
    enum Kind: Sendable {
        case pool, main
        case hosted(any QueueHost)
        /// The queue inside an operation that is in no queue yet. It is suspended until it gets the kind of that queue.
        case unplaced

        var isPool: Bool {
            switch self {
            case .pool, .unplaced: true
            case .main, .hosted: false
            }
        }
        var isPlaced: Bool { if case .unplaced = self { false } else { true } }
        var isMain: Bool { if case .main = self { true } else { false } }
    }

    /// What the queue's lock guards.
    struct State {
        var kind: Kind
        var schedule = Schedule(width: OperationQueue.defaultWidthCeiling)
        /// As set; the schedule has it bounded.
        var width = OperationQueue.defaultMaxConcurrentOperationCount
        var qualityOfService = QualityOfService.default
        var underlyingQueue: DispatchQueue?
        var name: String?
        var idleWaiters: [Waiter] = []
        /// The queue itself while it holds operations (rule Q1).
        var keptAlive: OperationQueue?
        /// What `isSuspended` was when the queue's progress was paused, or was set to since; nil: it is not paused.
        var suspendedBeforePause: Bool?
        var stallHandler: (@Sendable (StallReport) -> Void)?
        var stallDelay = Duration.seconds(10)
        var stallWatch: StallWatch?
        /// The `start()` of an operation has returned whose end the program has to announce. Stays true for a while after.
        var expectsAnnouncement = false
        /// Its operations are the children of another one, which alone suspends it: see `OperationQueue.owner`.
        var hasOwner = false
        /// The value of `starts` at which a stall was reported last.
        var reportedAt: Int?
        var observers = ObserverState()
        /// The operations, for observers of `operations` that ask for values; nil while none does.
        var memberList: MemberList?
        /// What whoever has the lock has to do when it has it no more, if the queue ever had any of that.
        var errands: Errands?
        /// The operations that have keys, if there ever was one, or a limit.
        var keyed: KeyedOperations?
        /// The bound, if there ever was one.
        var bound: Bound?
        /// The rate limit, if there is one.
        var throttle: Throttle?
        /// Starts so far: tells a stall from a pause.
        var starts = 0

        init(kind: Kind) {
            self.kind = kind
            // Nothing of a host's happens in real time.
            if case .hosted = kind { stallDelay = .zero }
            guard kind.isMain else { return }
            width = 1
            schedule.setWidth(1)
            qualityOfService = .userInteractive
            name = "NSOperationQueue Main Queue"
        }
    }

    /// The one door to the queue: locks, takes in what arrived, lets `event` decide, publishes what adders have to know.
    @inline(__always)
    final func withState<Result>(_ event: (inout State) -> Result) -> Result {
        var mustCall = false
        var errands: Errands.Due?
        let result = state.withLock { state in
            drain(&state)
            let result = event(&state)
            // Whoever pushed before the new bits were there has acted on the old ones; so look again after.
            var isLate = false
            while publish(&state), !inbox.isEmpty {
                drain(&state)
                isLate = true
            }
            mustCall = isLate && state.schedule.hasStartable
            if state.errands != nil { errands = state.takeErrands() }
            return result
        }
        // What came late `event` has not seen, and who pushed it has called nobody.
        if mustCall { callWorkerIfNone() }
        if let errands { run(errands) }
        return result
    }

    /// Takes in what has arrived, now.
    final func takeIn() { withState { _ in } }

    /// Takes what arrived, or changed, from the inbox into the schedule.
    @inline(__always)
    private final func drain(_ state: inout State) {
        var node = inbox.takeAll()
        guard node != nil else { return }
        while let current = node {
            node = current._withUnsafeGuaranteedRef { operation in
                // Read before the pin is gone: from then on the next pusher owns it.
                let following = operation.next
                admit(operation, to: &state)
                return following
            }
        }
        if state.keptAlive == nil, !state.schedule.isEmpty { state.keptAlive = self }
    }

    @inline(__always)
    private final func admit(_ operation: Operation, to state: inout State) {
        let lifecycle = operation.word.update { $0.drained() }.unsafelyUnwrapped
        let isReady = lifecycle.phase == .enqueued && lifecycle.contains(.ready)
        let lane = lifecycle.effectivePriority
        let id = operation.scheduleID
        let isNew = operation.ticket.arrival == 0
        if lifecycle.containsAny([.gated, .keyed, .bounded, .unlisted]) {
            admitSpecial(operation, id, lifecycle, lane: lane, isReady: isReady, to: &state)
        } else if isNew {
            operation.ticket = state.schedule.added(id, lane: lane, isReady: isReady)
        } else {
            state.schedule.updated(operation.ticket, lane: lane, isReady: isReady)
        }
        if isNew, observersReference.isSet, !lifecycle.contains(.unlisted) { state.noteJoined(operation) }
    }

    @inline(never)
    private final func admitSpecial(
        _ operation: Operation, _ id: Schedule.ID, _ lifecycle: Lifecycle, lane: PriorityLane, isReady: Bool,
        to state: inout State
    ) {
        if lifecycle.contains(.gated) {
            // A cancelled operation needs no resources, and may wait long for room: others pass it in their lines.
            if lifecycle.isCancelled { state.noteNotReady(id) } else if isReady { state.noteOffer(id) }
        }
        if lifecycle.contains(.keyed) {
            state.admitKeyed(operation, id, lifecycle, lane: lane, isReady: isReady)
        } else if operation.ticket.arrival != 0 {
            state.schedule.updated(operation.ticket, lane: lane, isReady: isReady)
        } else if lifecycle.contains(.barrier) {
            operation.ticket = state.schedule.addedBarrier(id)
        } else {
            let kind: Schedule.Kind = lifecycle.contains(.unlisted) ? .job : .operation
            operation.ticket = state.schedule.added(id, lane: lane, isReady: isReady, kind: kind)
        }
        if lifecycle.contains(.bounded) { state.noteBounded(operation, lifecycle) }
    }

    private final func publish(_ state: inout State) -> Bool {
        let hasRoom = state.schedule.hasRoom
        return signal.publish(
            isBusy: !hasRoom && state.schedule.running > 0, isHeld: !hasRoom && state.schedule.running == 0)
    }
}

extension OperationQueue {
    /// Brings operations that the caller has pinned, linked from `first` to `last`, to the queue's notice.
    final func push(_ first: Operation, last: Operation?) {
        if observersReference.isSet { pushObserved(first, last: last) } else { inbox.push(first, last: last) }
        switch signal.advice() {
        case .nothing: return
        case .callWorker:
            // This thread runs an operation of this queue that has just ended, and is about to look itself.
            guard let worker = ThreadContext.current.worker, worker.owes(self) else { return callWorker() }
            signal.workerArrived()
            // The monitor may have collected the debt in between, and have called nobody because of the call that is taken
            // back here. Asked again after that: either the debt is seen to be gone, or the monitor sees no call.
            if !worker.owes(self) { callWorkerIfNone() }
        case .takeLock: withState { watchForStall(&$0) }
        }
    }

    /// Taken out by this thread, which then tells of it.
    @inline(never)
    private func pushObserved(_ first: Operation, last: Operation?) {
        withState { state in
            inbox.push(first, last: last)
            drain(&state)
        }
    }

    /// A slot is free and something may start: this thread takes it, if it is a worker of the queue, or another.
    func offerSlot() {
        if let worker = ThreadContext.current.worker, worker.owes(self) { return }
        callWorkerIfNone()
    }

    func callWorkerIfNone() { if signal.claimCall() { callWorker() } }

    /// For who looked after the queue and does so no longer.
    func callWorkerIfStartable() {
        if hasResumptions || withState({ $0.schedule.hasStartable }) { callWorkerIfNone() }
    }

    /// An operation that this thread has claimed.
    ///
    /// The queue holds it until it leaves. A plain block operation leaves in no other way than through this thread, so no
    /// reference is counted for it. Any other one may announce its end elsewhere before it has started, and be let go.
    struct Claim {
        let operation: Unmanaged<Operation>
        private let keeper: Operation?
        /// Another worker could start another one.
        let wantsMore: Bool
        /// It is not to start: this thread calls its `cancel()`, as the queue has promised. It has no slot.
        let isToCancel: Bool

        /// Under the queue's lock, where the operation is still a member.
        fileprivate init(_ operation: Unmanaged<Operation>, wantsMore: Bool, isToCancel: Bool = false) {
            self.operation = operation
            self.wantsMore = wantsMore
            self.isToCancel = isToCancel
            let leavesHere = !isToCancel && operation._withUnsafeGuaranteedRef { $0.isPlainBlock }
            keeper = leavesHere ? nil : operation.takeUnretainedValue()
        }

        /// For whoever keeps it longer than the claim.
        var held: Operation { keeper ?? operation.takeUnretainedValue() }

        @inline(__always)
        func withOperation<Result>(_ body: (Operation) -> Result) -> Result {
            withExtendedLifetime(keeper) { operation._withUnsafeGuaranteedRef(body) }
        }
    }

    /// Claims the best operation that may start, for a thread of the given dispatch queue, or of a pool.
    func claim(on dispatchQueue: DispatchQueue? = nil) -> Claim? {
        while true {
            let reading = readThrottle()
            let (claim, isMistaken, isOutdated): (Claim?, Bool, Bool) = withState { state in
                // A thread that was called before `underlyingQueue` was set is not the one to run this.
                guard state.underlyingQueue === dispatchQueue else { return (nil, state.schedule.hasStartable, false) }
                if let claim = self.claim(from: &state, by: reading) { return (claim, false, false) }
                return (nil, false, !state.isCurrent(reading) && state.schedule.hasStartable)
            }
            if isMistaken { callWorkerIfNone() }
            guard isOutdated else { return claim }
        }
    }

    @inline(__always)
    func claim(from state: inout State, by reading: ThrottleReading? = nil) -> Claim? {
        while state.permitsStart(by: reading), let (ticket, id) = state.schedule.next() {
            let operation = Self.member(id)
            if let lifecycle = operation._withUnsafeGuaranteedRef({ $0.word.update { $0.claimed() } }) {
                if lifecycle.containsAny([.gated, .keyed, .bounded]) { state.claimedSpecial(id, lifecycle) }
                if let throttle = state.throttle, let reading, !lifecycle.isCancelled, !lifecycle.contains(.unlisted) {
                    throttle.started(id, at: reading.time)
                }
                state.starts &+= 1
                // By its turn the operation is here; what it stands for may have left the cache long ago.
                if let upcoming = state.schedule.upcoming { cplatform_prefetch(Self.member(upcoming).toOpaque()) }
                return Claim(operation, wantsMore: state.schedule.hasStartable)
            }
            // Something holds it back since it became ready (rule D2), or it is pinned and about to be pushed.
            state.schedule.heldBack(ticket)
            state.claimFailed(id, operation._withUnsafeGuaranteedRef { $0.word.lifecycle })
            if operation._withUnsafeGuaranteedRef({ $0.word.update { $0.cancelClaimed() } }) != nil {
                return Claim(operation, wantsMore: state.schedule.hasStartable, isToCancel: true)
            }
        }
        watchForStall(&state)
        return nil
    }

    final func listed() -> [Operation] {
        // Sorted without the lock.
        withState { $0.arrivals }.sorted { $0.arrival < $1.arrival }.map(\.operation)
    }

    /// The member behind an identifier, which is `scheduleID`. It is held by the queue while it is a member, so under the lock.
    static func operation(_ id: Schedule.ID) -> Operation { member(id).takeUnretainedValue() }

    @inline(__always)
    private static func member(_ id: Schedule.ID) -> Unmanaged<Operation> {
        .fromOpaque(UnsafeRawPointer(bitPattern: id).unsafelyUnwrapped)
    }
}

extension Operation {
    /// By what its queue's schedule knows it, and the ledger of resources: see `OperationQueue.operation`.
    @inline(__always)
    final var scheduleID: Schedule.ID { UInt(bitPattern: Unmanaged.passUnretained(self).toOpaque()) }
}
