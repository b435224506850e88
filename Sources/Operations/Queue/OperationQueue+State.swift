import CPlatform
import Dispatch
@_spi(Hosting) import KeyValueObserving
import SchedulerCore

extension OperationQueue {
    /// The source of the threads that run the operations.
    enum Kind: Sendable {
        case pool, main
        case hosted(any QueueHost)
        /// The queue inside an operation that is in no queue yet. The inner queue is suspended until the operation is added to
        /// a queue, and then gets the kind of that queue.
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

    /// The state that the queue's lock guards.
    struct State {
        var kind: Kind
        /// The members, their order, and which of them run.
        var machine = QueueMachine(limit: OperationQueue.defaultMaxThreadCount)
        /// The value that the program has set. The machine has the effective limit.
        var width = OperationQueue.defaultMaxConcurrentOperationCount
        var qualityOfService = QualityOfService.default
        var underlyingQueue: DispatchQueue?
        var name: String?
        var idleWaiters: [Waiter] = []
        /// The queue itself while it holds operations (rule Q1).
        var keptAlive: OperationQueue?
        /// The value of `isSuspended` when the queue's progress was paused, or the value set since; nil if not paused.
        var suspendedBeforePause: Bool?
        var stallHandler: (@Sendable (StallReport) -> Void)?
        var stallDelay = Duration.seconds(10)
        var stallWatch: StallWatch?
        /// Whether `start()` has returned for an operation whose end the program has to announce. The value can stay true for
        /// a while after the end.
        var expectsAnnouncement = false
        /// Whether the operations are children of an operation, which alone suspends the queue: see `OperationQueue.owner`.
        var hasOwner = false
        /// The value of `starts` at which a stall was reported last.
        var reportedAt: Int?
        var observers = ObserverState()
        /// The rules besides dependencies, priorities and the limit. See `QueuePolicy`.
        var policies = QueuePolicies()
        /// The number of starts so far. The stall watch compares values to distinguish a stall from a short pause.
        var starts = 0

        init(kind: Kind) {
            self.kind = kind
            // A host does not run in real time.
            if case .hosted = kind { stallDelay = .zero }
            guard kind.isMain else { return }
            width = 1
            _ = machine.handle(.setLimit(1))
            qualityOfService = .userInteractive
            name = "NSOperationQueue Main Queue"
        }
    }

    /// Runs `event` under the queue's lock. All access to the state goes through this method. It drains the inbox, calls
    /// `event`, and publishes the signal for the threads that add operations.
    @inline(__always)
    final func withState<Result>(_ event: (inout State) -> Result) -> Result {
        var late = ServiceLevels()
        var actions: [PolicyAction]?
        let result = state.withLock { state in
            drain(&state)
            let result = event(&state)
            // A thread that pushed before the new bits were published has acted on the old ones, so check the inbox again.
            var isLate = false
            while publish(&state), !inbox.isEmpty {
                drain(&state)
                isLate = true
            }
            if isLate { late = startableLevels(&state) }
            if !state.policies.isEmpty { actions = state.takePolicyActions() }
            return result
        }
        // `event` has not seen the late arrivals, and the threads that pushed them have not called a worker.
        if !late.isEmpty { callWorkersUnlessLooking(late) }
        if let actions { perform(actions) }
        return result
    }

    /// Runs `event` under the queue's lock, and then calls workers for the operations that can start.
    final func withStateCallingWorkers<Result>(_ event: (inout State) -> Result) -> Result {
        let (result, levels) = withState { state in (event(&state), startableLevels(&state)) }
        callWorkersUnlessLooking(levels)
        return result
    }

    /// Returns the levels of the operations that can start. Called with the state locked.
    @inline(__always)
    final func startableLevels(_ state: inout State) -> ServiceLevels {
        // `startable` alone would copy the schedule before it finds that no operation can start.
        state.machine.schedule.hasStartable ? serviceMap.levels(of: state.machine.startable) : []
    }

    @inline(never)
    private final func perform(_ actions: [PolicyAction]) {
        HeldLocks.assertNone()
        for action in actions { action(self) }
    }

    /// Drains the inbox now.
    final func takeIn() { withState { _ in } }

    /// Moves new and changed operations from the inbox into the schedule.
    @inline(__always)
    private final func drain(_ state: inout State) {
        var node = inbox.takeAll()
        guard node != nil else { return }
        while let current = node {
            node = current._withUnsafeGuaranteedRef { operation in
                // Read before the pin is removed: after that, the next pusher owns the link.
                let following = operation.next
                admit(operation, to: &state)
                return following
            }
        }
    }

    @inline(__always)
    private final func admit(_ operation: Operation, to state: inout State) {
        let lifecycle = operation.word.update { $0.drained() }.unsafelyUnwrapped
        let isReady = lifecycle.phase == .enqueued && lifecycle.contains(.ready)
        if lifecycle.containsAny(.policies) { state.ensurePolicies(for: lifecycle) }
        let hasPolicies = state.policies.concern(lifecycle)
        let isNew = hasPolicies && !Schedule.holds(operation)
        let mayStart = isReady && !(hasPolicies && state.isHeldBack(operation, lifecycle))
        let lane = lifecycle.effectivePriority
        let facts = QueueMachine.Facts(lane: lane, service: operation.service, isReady: mayStart)
        let actions = state.machine.handle(.arrive(operation.asMember, lifecycle.memberKind, facts))
        if actions.keepsAlive { state.keptAlive = self }
        guard hasPolicies else { return }
        state.notePolicies(
            PolicyChange(operation: operation, lifecycle: lifecycle, lane: lane, isReady: isReady, isNew: isNew))
    }

    private final func publish(_ state: inout State) -> Bool {
        let present = state.machine.signal
        return signal.publish(isBusy: present == .busy, isHeld: present == .held)
    }
}

extension OperationQueue.State {
    /// The running members, barriers included, in no order. O(running).
    var runningOperations: [Operation] { machine.schedule.runningMembers.map(Operation.of) }
}

extension OperationQueue {
    /// Pushes operations that the caller has pinned, linked from `first` to `last`, and calls a worker if one is needed.
    final func push(_ first: Operation, last: Operation?) {
        // Read while the pin lasts: it ends with the push.
        let level = serviceMap.level(of: first.service)
        if observersReference.isSet { pushObserved(first, last: last) } else { inbox.push(first, last: last) }
        if signal.needsStep(for: level) { step(for: level) }
    }

    /// Calls a worker after a push, or takes the lock.
    @inline(never)
    private final func step(for level: ServiceLevel) {
        if !signal.isHeld, thisThreadLooksSoon { return }
        switch signal.advice(for: level) {
        case .nothing: return
        case .callWorker: callWorker(level)
        case .takeLock: withState { watchForStall(&$0) }
        }
    }

    /// Whether this thread is a worker that is going to look into the queue itself.
    final var thisThreadLooksSoon: Bool {
        ThreadContext.withCurrent { $0.worker?.looksSoon(into: self) == true }
    }

    /// Pushes operations and drains the inbox in one section, so that this thread then notifies the observers.
    @inline(never)
    private func pushObserved(_ first: Operation, last: Operation?) {
        withState { state in
            inbox.push(first, last: last)
            drain(&state)
        }
    }

    /// Calls a worker of each of the levels, unless one was called.
    final func callWorkers(_ levels: ServiceLevels) {
        if !levels.isEmpty { for level in levels.levels { callWorkerIfNone(level) } }
    }

    /// Calls workers, unless this thread is a worker that is going to look into the queue itself.
    final func callWorkersUnlessLooking(_ levels: ServiceLevels) {
        if !levels.isEmpty, !thisThreadLooksSoon { callWorkers(levels) }
    }

    func callWorkerIfNone(_ level: ServiceLevel) { if signal.claimCall(level) { callWorker(level) } }

    /// Calls workers for operations that can start or resume. For a worker that leaves the queue or stops attending it.
    func callWorkersIfStartable() {
        callWorkers(withState { startableLevels(&$0) })
        if hasResumptions { callWorkerIfNone(level) }
    }

    /// An operation that this thread has claimed.
    ///
    /// The queue holds the operation until it leaves. Only this thread makes a plain block operation leave that runs at once,
    /// so the claim counts no reference for it; `admitAndStart` does. Another operation may end on another thread before it
    /// has started, and be released.
    struct Claim {
        let operation: Unmanaged<Operation>
        /// Whether the claim has a reference.
        let isRetained: Bool
        /// Whether this thread must call `cancel()`, as the queue has promised, and not start the operation. The operation has
        /// no slot.
        let isToCancel: Bool

        /// Must be called under the queue's lock, where the operation is still a member.
        @inline(__always)
        fileprivate init(_ operation: Unmanaged<Operation>, isToCancel: Bool = false) {
            isRetained = isToCancel || !operation._withUnsafeGuaranteedRef { $0.isPlainBlock }
            self.operation = isRetained ? operation.retain() : operation
            self.isToCancel = isToCancel
        }

        /// Ends the use of the operation. Called once.
        @inline(__always)
        func release() { if isRetained { operation.release() } }

        /// Ends the use of the claim, and returns the operation.
        func takeOperation() -> Operation {
            isRetained ? operation.takeRetainedValue() : operation.takeUnretainedValue()
        }
    }

    /// The result of a look for work under the queue's lock.
    struct Look {
        var claim: Claim?
        /// The levels whose workers could start other operations.
        var more = ServiceLevels()
    }

    /// The threads for which a look claims an operation.
    enum Looker {
        /// A worker of a pool, which runs operations of its own level.
        case worker(ServiceLevel)
        /// A thread of Dispatch, of a host, or the main thread.
        case other(DispatchQueue?)
    }

    /// Looks for the next operation that may start on this thread, and claims it.
    ///
    /// - Parameter arrives: Whether the thread is a worker that has claimed the call of a worker (`Signal`). The claim ends in
    ///   this look.
    func look(for looker: Looker, arrives: Bool = false) -> Look {
        var arrives = arrives
        while true {
            let reading = readPolicyClock()
            let (look, isOutdated): (Look, Bool) = withState { state in
                // A thread that was called before a change of `underlyingQueue` must not run the operation.
                guard state.underlyingQueue === looker.dispatchQueue else {
                    if arrives, let level = looker.level { signal.workerArrived(level) }
                    return (Look(more: startableLevels(&state)), false)
                }
                var look = self.look(into: &state, for: looker.services(by: serviceMap), by: reading)
                if arrives, let level = looker.level {
                    signal.workerArrived(level)
                    // Threads that pushed since the look have called no worker.
                    drain(&state)
                    look.more = startableLevels(&state)
                    arrives = false
                }
                return (look, look.claim == nil && !state.isCurrent(reading) && state.machine.schedule.hasStartable)
            }
            guard isOutdated else { return look }
        }
    }

    @inline(__always)
    func look(into state: inout State, for services: Schedule.Services, by reading: PolicyReading? = nil) -> Look {
        let claim = claim(from: &state, for: services, by: reading)
        if claim == nil { watchForStall(&state) }
        return Look(claim: claim, more: startableLevels(&state))
    }

    @inline(__always)
    private func claim(
        from state: inout State, for services: Schedule.Services, by reading: PolicyReading?
    ) -> Claim? {
        while state.policies.isEmpty || state.policiesPermitStart(at: reading),
            let member = state.machine.handle(.look(services)).claim
        {
            let operation = Self.operation(member)
            if let lifecycle = operation._withUnsafeGuaranteedRef({ $0.word.update { $0.claimed() } }) {
                if state.policies.concern(lifecycle) {
                    operation._withUnsafeGuaranteedRef { state.notePoliciesClaimed($0, lifecycle, at: reading) }
                }
                state.starts &+= 1
                // The operation may have left the cache long ago. The prefetch is complete by the turn of the operation.
                if let upcoming = state.machine.schedule.upcoming { cplatform_prefetch(upcoming.toOpaque()) }
                return Claim(operation)
            }
            // A dependency was added after the operation became ready (rule D2), or the operation is pinned and about to
            // be pushed.
            operation._withUnsafeGuaranteedRef { operation in
                _ = state.machine.handle(.refuse(member))
                let lifecycle = operation.word.lifecycle
                if state.policies.concern(lifecycle) { state.notePoliciesNotClaimed(operation, lifecycle) }
            }
            if operation._withUnsafeGuaranteedRef({ $0.word.update { $0.cancelClaimed() } }) != nil {
                return Claim(operation, isToCancel: true)
            }
        }
        return nil
    }

    final func listed() -> [Operation] {
        // Sorted without the lock.
        withState { $0.arrivals }.sorted { $0.arrival < $1.arrival }.map(\.operation)
    }

    /// Returns the member with a `scheduleID`. Must be called under the lock: the queue holds the operation only while it is
    /// a member.
    static func operation(_ id: Schedule.ID) -> Operation {
        Unmanaged.fromOpaque(UnsafeRawPointer(bitPattern: id).unsafelyUnwrapped).takeUnretainedValue()
    }

    @inline(__always)
    private static func operation(_ member: MemberReference) -> Unmanaged<Operation> { .fromOpaque(member.toOpaque()) }
}

extension Lifecycle {
    /// The kind of the operation as a member of a queue.
    @inline(__always)
    fileprivate var memberKind: Schedule.Kind {
        guard contains(.unlisted) else { return .operation }
        return contains(.barrier) ? .barrier : .job
    }
}

extension Operation {
    /// The operation as a member of the queue's machine.
    @inline(__always)
    final var asMember: MemberReference { .fromOpaque(Unmanaged.passUnretained(self).toOpaque()) }

    /// The operation that is a member of a schedule. Only operations are.
    @inline(__always)
    static func of(_ member: ScheduleMember) -> Operation { unsafeDowncast(member, to: Operation.self) }

    /// The identifier of the operation in policies and in the ledger of resources: see `OperationQueue.operation`.
    @inline(__always)
    final var scheduleID: Schedule.ID { UInt(bitPattern: Unmanaged.passUnretained(self).toOpaque()) }
}

extension OperationQueue.Looker {
    fileprivate var dispatchQueue: DispatchQueue? { if case .other(let queue) = self { queue } else { nil } }

    fileprivate var level: ServiceLevel? { if case .worker(let level) = self { level } else { nil } }

    @inline(__always)
    fileprivate func services(by map: ServiceMap) -> Schedule.Services {
        switch self {
        case .worker(let level): map.services(of: level)
        case .other: .all
        }
    }
}
