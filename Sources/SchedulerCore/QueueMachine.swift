/// The state machine of one queue. Events go in, actions come out. No threads, no locks, and no calls.
///
/// The shell holds the queue's lock while it passes events. After a group of events it reads `startable` and `signal`, and
/// performs all actions when it has released the lock. Policies add events of their own: they hold members back, offer
/// them again, and throttle the queue.
public struct QueueMachine {
    public enum Event {
        /// A new operation, job or barrier is in the queue. Or the priority, the service or the readiness of a member may
        /// have changed.
        case arrive(MemberReference, Schedule.Kind, lane: PriorityLane, service: Schedule.Service, isReady: Bool)
        /// The turn of a member has come that a policy has held back. The member goes to the end of the line.
        case offer(MemberReference)
        /// A thread looks for an operation of these services. The action `claim` is the answer.
        case look(Schedule.Services)
        /// The claimed operation cannot start: it is no longer ready.
        case refuse(MemberReference)
        /// An operation that has not ended returns its slot, and waits.
        case putBack(MemberReference, lane: PriorityLane)
        /// A member has ended, started or not.
        case leave(MemberReference)
        case setLimit(Int)
        case setSuspended(Bool)
        case setThrottled(Bool)
        case setOrder(Schedule.Order)
        /// The number of times in a row that a priority may be passed over; nil for no limit.
        case setAging(limit: Int?)
    }

    /// The actions that an event requires.
    public struct Actions {
        /// Claim this operation, and start it on the thread that looks. If the claim fails, pass the event `refuse`.
        public var claim: MemberReference?
        /// The queue was empty and holds a member now: keep the queue alive.
        public var keepsAlive: Bool
        /// The queue is empty: resume all callers that wait for that, and release the queue.
        public var becomesIdle: Bool
        /// Other members may be able to start now: call workers for `startable`.
        public var opens: Bool

        @inlinable
        public init(
            claim: MemberReference? = nil, keepsAlive: Bool = false, becomesIdle: Bool = false, opens: Bool = false
        ) {
            self.claim = claim
            self.keepsAlive = keepsAlive
            self.becomesIdle = becomesIdle
            self.opens = opens
        }

        @inlinable public static var none: Actions { Actions() }
    }

    /// The state that threads without the lock read after they have added an operation.
    public enum Signal: Sendable {
        /// A slot is free. The adding thread calls a worker.
        case open
        /// No member may start. The thread that frees a slot, or ends the hold, looks.
        case busy
        /// No member may start, and there is none. The adding thread takes the lock: its operation keeps the queue alive, and the
        /// queue may be at rest with it.
        case empty
    }

    /// The order of the members. Only events change it.
    @inlinable public var schedule: Schedule { _read { yield members } }
    @usableFromInline var members: Schedule

    public init(limit: Int) { members = Schedule(width: limit) }

    // Inlined, so that only the case of the caller is left.
    @inlinable @inline(__always)
    public mutating func handle(_ event: Event) -> Actions {
        switch event {
        case .arrive(let member, let kind, let lane, let service, let isReady):
            let wasEmpty = members.isEmpty
            member._withUnsafeGuaranteedRef {
                members.arrive($0, kind, lane: lane, service: service, isReady: isReady)
            }
            return Actions(keepsAlive: wasEmpty && !members.isEmpty)
        case .look(let services): return Actions(claim: members.next(for: services))
        case .refuse(let member):
            member._withUnsafeGuaranteedRef { members.refuse($0) }
            return .none
        case .offer(let member): member._withUnsafeGuaranteedRef { members.queueAnew($0) }
        case .putBack(let member, let lane):
            member._withUnsafeGuaranteedRef { member in
                members.holdBack(member)
                members.update(member, lane: lane, isReady: false)
            }
        case .leave(let member):
            let wasEmpty = members.isEmpty
            member._withUnsafeGuaranteedRef { members.finish($0) }
            return Actions(becomesIdle: members.isEmpty && !wasEmpty, opens: true)
        case .setLimit(let limit): members.setWidth(limit)
        case .setSuspended(let isSuspended): members.setSuspended(isSuspended)
        case .setThrottled(let isThrottled): members.setThrottled(isThrottled)
        case .setOrder(let order): members.setOrder(order)
        case .setAging(let limit): members.setAging(limit: limit)
        }
        return Actions(opens: true)
    }

    /// The services whose threads could start an operation now. The shell calls a worker for each.
    @inlinable @inline(__always) public var startable: Schedule.Services { mutating get { members.startable } }

    /// Members that are likely to start soon. See `Schedule.upcoming`.
    @inlinable @inline(__always)
    public var upcoming: (near: MemberReference?, far: MemberReference?) { mutating get { members.upcoming } }

    @inlinable @inline(__always)
    public var signal: Signal { members.hasRoom ? .open : members.isEmpty ? .empty : .busy }

    /// Whether the queue has members, and none of them may start.
    @inlinable public var isBlocked: Bool { !members.isEmpty && !members.hasStartable }
}
