/// The state machine of one queue. Events go in, actions come out. No threads, no locks, and no calls.
///
/// The shell holds the queue's lock while it passes events. After a group of events it reads `startable` and `signal`, and
/// performs all actions when it has released the lock. Policies add events of their own: they hold members back, offer
/// them again, and throttle the queue.
public struct QueueMachine {
    public enum Event {
        /// A new operation, job or barrier is in the queue.
        case arrive(MemberReference, Schedule.Kind, Facts)
        /// The priority, the service or the readiness of a member may have changed.
        case change(MemberReference, Facts)
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

    /// The properties of an operation that the order depends on.
    public struct Facts {
        public var lane: PriorityLane
        public var service: Schedule.Service
        public var isReady: Bool

        @inlinable
        public init(lane: PriorityLane, service: Schedule.Service, isReady: Bool) {
            self.lane = lane
            self.service = service
            self.isReady = isReady
        }
    }

    /// The actions that an event requires.
    public struct Actions {
        /// Claim this operation, and start it on the thread that looks. If the claim fails, pass the event `refuse`.
        public var claim: MemberReference?
        /// The queue was empty and holds a member now: keep the queue alive.
        public var keepsAlive = false
        /// The queue is empty: resume all callers that wait for that, and release the queue.
        public var becomesIdle = false

        public static var none: Actions { Actions() }
    }

    /// The state that threads without the lock read after they have added an operation.
    public enum Signal: Sendable {
        /// A slot is free. The adding thread calls a worker.
        case open
        /// No slot is free. The thread that frees a slot looks.
        case busy
        /// No operation runs, and none may start. No worker will look, so the adding thread passes its operation itself.
        case held
    }

    /// The order of the members. Only events change it.
    public private(set) var schedule: Schedule

    public init(limit: Int) { schedule = Schedule(width: limit) }

    public mutating func handle(_ event: Event) -> Actions {
        switch event {
        case .arrive(let member, let kind, let facts):
            let wasEmpty = schedule.isEmpty
            member._withUnsafeGuaranteedRef { member in
                if kind == .barrier { return schedule.addBarrier(member) }
                schedule.add(member, lane: facts.lane, service: facts.service, isReady: facts.isReady, kind: kind)
            }
            return Actions(keepsAlive: wasEmpty)
        case .change(let member, let facts):
            member._withUnsafeGuaranteedRef {
                schedule.update($0, lane: facts.lane, service: facts.service, isReady: facts.isReady)
            }
        case .offer(let member): member._withUnsafeGuaranteedRef { schedule.queueAnew($0) }
        case .look(let services): return Actions(claim: schedule.next(for: services))
        case .refuse(let member): member._withUnsafeGuaranteedRef { schedule.holdBack($0) }
        case .putBack(let member, let lane):
            member._withUnsafeGuaranteedRef { member in
                schedule.holdBack(member)
                schedule.update(member, lane: lane, isReady: false)
            }
        case .leave(let member):
            let wasEmpty = schedule.isEmpty
            member._withUnsafeGuaranteedRef { schedule.finish($0) }
            return Actions(becomesIdle: schedule.isEmpty && !wasEmpty)
        case .setLimit(let limit): schedule.setWidth(limit)
        case .setSuspended(let isSuspended): schedule.setSuspended(isSuspended)
        case .setThrottled(let isThrottled): schedule.setThrottled(isThrottled)
        case .setOrder(let order): schedule.setOrder(order)
        case .setAging(let limit): schedule.setAging(limit: limit)
        }
        return .none
    }

    /// The services whose threads could start an operation now. The shell calls a worker for each.
    @inlinable @inline(__always) public var startable: Schedule.Services { schedule.startable }

    @inlinable @inline(__always)
    public var signal: Signal { schedule.hasRoom ? .open : schedule.running > 0 ? .busy : .held }

    /// Whether the queue has members, none of them runs, and none may start. Then only an event from outside helps.
    public var isAtRest: Bool { !schedule.isEmpty && schedule.running == 0 && !schedule.hasStartable }
}
