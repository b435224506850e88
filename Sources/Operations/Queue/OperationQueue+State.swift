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
        /// The members, their order, and which of them run. Only events change it: see `handle`.
        fileprivate(set) var machine = QueueMachine(limit: OperationQueue.defaultMaxThreadCount)
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
        /// The watch of this section, which the thread starts when it has released the lock.
        var newWatch: StallWatch?
        /// Whether `start()` has returned for an operation whose end the program has to announce. The value can stay true for
        /// a while after the end.
        var expectsAnnouncement = false
        /// The value of `starts` at which a stall was reported last.
        var reportedAt: Int?
        /// The numbers of starts and of running operations at the last change, and its time.
        var rest: (starts: Int, running: Int, since: UInt64)?
        var observers = ObserverState()
        /// The rules besides dependencies, priorities and the limit. See `QueuePolicy`.
        var policies = QueuePolicies()
        /// The number of starts so far. The stall watch compares values to distinguish a stall from a short pause.
        var starts = 0
        /// Whether an event of this section may have made operations startable.
        var opens = false
        /// The consequences, if the queue has become empty in this section.
        fileprivate(set) var idle: Idle?

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
}

// MARK: - Events

extension OperationQueue.State {
    /// Passes an event to the machine. The thread does the actions that follow when it has released the lock. Only the claim,
    /// the answer to a look, is for the caller.
    @inline(__always)
    @discardableResult
    mutating func handle(_ event: QueueMachine.Event) -> MemberReference? {
        let actions = machine.handle(event)
        if actions.opens { opens = true }
        if actions.becomesIdle { becomeIdle() }
        return actions.claim
    }

    /// Members that are likely to start soon. See `Schedule.upcoming`.
    @inline(__always)
    var upcoming: (near: MemberReference?, far: MemberReference?) { mutating get { machine.upcoming } }

    @inline(never)
    private mutating func becomeIdle() {
        idle = OperationQueue.Idle(waiters: idleWaiters.takeAll(), keptAlive: keptAlive)
        keptAlive = nil
        reportedAt = nil
    }

    /// The running operations, barriers included, in no order. O(running).
    var runningOperations: [Operation] { machine.schedule.runningMembers.map(Operation.of) }
}

extension OperationQueue {
    /// Moves new and changed operations from the inbox into the schedule.
    @inline(__always)
    final func drain(_ state: inout State) { if !inbox.isEmpty { drainAll(&state) } }

    @inline(never)
    private final func drainAll(_ state: inout State) {
        var node = inbox.takeAll()
        while let current = node { node = current._withUnsafeGuaranteedRef { admit($0, to: &state) } }
    }

    /// Returns the next operation of the chain.
    private final func admit(_ operation: Operation, to state: inout State) -> Unmanaged<Operation>? {
        // Read before the pin is removed: after that, the next pusher owns the link.
        let following = operation.next
        let lifecycle = operation.word.update { $0.drained() }.unsafelyUnwrapped
        if state.policies.isEmpty, !lifecycle.containsAny(.policies) {
            arrive(operation, lifecycle, mayStart: lifecycle.isReadyInQueue, in: &state)
        } else {
            admitUnderPolicies(operation, lifecycle, to: &state)
        }
        return following
    }

    @inline(never)
    private final func admitUnderPolicies(_ operation: Operation, _ lifecycle: Lifecycle, to state: inout State) {
        if lifecycle.containsAny(.policies) { state.ensurePolicies(for: lifecycle) }
        let isReady = lifecycle.isReadyInQueue
        guard state.policies.concern(lifecycle) else {
            return arrive(operation, lifecycle, mayStart: isReady, in: &state)
        }
        let isNew = !Schedule.holds(operation)
        arrive(operation, lifecycle, mayStart: isReady && !state.policies.holdBack(operation, lifecycle), in: &state)
        state.notePoliciesChanged(operation, lifecycle, isNew: isNew)
    }

    @inline(__always)
    final func arrive(
        _ operation: Operation, _ lifecycle: Lifecycle, mayStart: Bool, in state: inout State
    ) {
        let actions = state.machine.handle(
            .arrive(
                operation.asMember, lifecycle.memberKind, lane: lifecycle.effectivePriority, service: operation.service,
                isReady: mayStart))
        if actions.keepsAlive { state.keptAlive = self }
    }
}

// MARK: - Sections

// A section of the lock drains the inbox, passes events, and publishes the signal for the threads that add operations. When
// the thread has released the lock, it performs the actions that follow.
extension OperationQueue {
    /// The work that follows from the events of a section.
    struct Actions {
        /// The levels whose workers could start operations.
        let calls: ServiceLevels
        let idle: Idle?
        let watch: StallWatch?
        let policies: [PolicyAction]
    }

    /// The callers that waited for the queue to become empty, and the reference of the queue to itself, which ends.
    struct Idle {
        let waiters: [Waiter]
        let keptAlive: OperationQueue?

        var hasTask: Bool { waiters.contains { $0.isTask } }
    }

    /// Passes events under the queue's lock, and performs the actions that follow.
    @inline(__always)
    final func withState<Result>(_ events: (inout State) -> Result) -> Result {
        let state = beginSection()
        let result = events(&state.pointee)
        if let actions = endSection(state) { perform(actions) }
        return result
    }

    /// Takes the lock. The caller passes events, and calls `endSection` in the same function.
    @inline(__always)
    final func beginSection() -> UnsafeMutablePointer<State> {
        let state = state.lock()
        drain(&state.pointee)
        return state
    }

    /// Releases the lock. Returns the actions for `perform`; nil for none.
    @inline(__always)
    final func endSection(_ state: UnsafeMutablePointer<State>) -> Actions? {
        // A thread that pushed before the new bits were published has acted on the old ones, so check the inbox again.
        if publish(&state.pointee), !inbox.isEmpty { drainLate(&state.pointee) }
        let actions = state.pointee.mayHaveActions ? takeActions(&state.pointee) : nil
        self.state.unlock()
        return actions
    }

    /// The events have not seen the late arrivals, and the threads that pushed them have not called a worker.
    @inline(never)
    private final func drainLate(_ state: inout State) {
        repeat {
            drain(&state)
            watchForStall(&state)
            state.opens = true
        } while publish(&state) && !inbox.isEmpty
    }

    @inline(__always)
    private final func publish(_ state: inout State) -> Bool {
        let present = state.machine.signal
        return signal.publish(isBusy: present == .busy, isEmpty: present == .empty)
    }

    @inline(never)
    private final func takeActions(_ state: inout State) -> Actions? {
        let calls = state.opens ? startableLevels(&state) : []
        let idle = state.idle.take()
        let watch = state.newWatch.take()
        let policies = state.policies.isEmpty ? [] : state.takePolicyActions()
        state.opens = false
        return calls.isEmpty && idle == nil && watch == nil && policies.isEmpty
            ? nil : Actions(calls: calls, idle: idle, watch: watch, policies: policies)
    }

    /// Performs the actions of a section. The only place that does.
    ///
    /// - Parameter more: The levels that the thread looks after itself when the call has returned. Actions of policies may wait for
    ///   their operations. The thread has promised to look, but the monitor may have taken the promise before the section, and
    ///   found nothing to start.
    @inline(never)
    final func perform(_ actions: Actions, more: ServiceLevels = []) {
        HeldLocks.assertNone()
        if let watch = actions.watch { Monitor.shared.start(watch) }
        let calls = actions.policies.isEmpty ? actions.calls : actions.calls.union(more)
        if !calls.isEmpty, !thisThreadLooksSoon { callWorkers(calls) }
        for action in actions.policies { action(self) }
        if let idle = actions.idle { for waiter in idle.waiters { waiter.wake() } }
    }

    /// Returns the levels of the operations that can start. Called with the state locked.
    @inline(__always)
    final func startableLevels(_ state: inout State) -> ServiceLevels {
        // `startable` alone would copy the schedule before it finds that no operation can start.
        state.machine.schedule.hasStartable ? serviceMap.levels(of: state.machine.startable) : []
    }

    /// Drains the inbox now.
    final func takeIn() { withState { _ in } }

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
    static func operation(_ member: MemberReference) -> Unmanaged<Operation> { .fromOpaque(member.toOpaque()) }
}

extension Lifecycle {
    /// Whether the operation waits in a queue and is ready.
    @inline(__always)
    var isReadyInQueue: Bool { phase == .enqueued && contains(.ready) }

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

extension OperationQueue.State {
    @inline(__always)
    fileprivate var mayHaveActions: Bool { opens || idle != nil || newWatch != nil || !policies.isEmpty }
}
