import SchedulerCore

extension OperationQueue {
    /// Adds an operation under a key, such as a host or a tenant. The keys of a queue take turns, and of each at most so
    /// many operations run at a time as its limit says.
    ///
    /// The order between keys is that of turns, within each priority of the queue; within a key it is that of any queue.
    /// Operations without a key are in nobody's turn. Misuse M2, M3 and M12 as for `addOperation(_:)`.
    public final func addOperation(_ operation: Operation, limitKey key: String) {
        stopOnMisuse { () throws(OperationError) in try add(operation, key: key) }
    }

    /// `addOperation(_:limitKey:)` that throws misuse as an error and then has changed nothing.
    public final func tryAddOperation(_ operation: Operation, limitKey key: String) throws(OperationError) {
        try add(operation, key: key)
    }

    /// Bounds how many operations of each key run at a time; nil for any number, and turns only. Those that run go on.
    ///
    /// - Throws: `PolicyError.rateNotPositive`.
    public final func setLimitPerKey(_ limit: Int?) throws(PolicyError) {
        if let limit, limit < 1 { throw .rateNotPositive(limit) }
        changeLimits { $0.setDefaultLimit(limit) }
    }

    /// Bounds how many operations of one key run at a time; nil for as many as of any key. Those that run go on.
    ///
    /// - Throws: `PolicyError.rateNotPositive`.
    public final func setLimit(_ limit: Int?, forKey key: String) throws(PolicyError) {
        if let limit, limit < 1 { throw .rateNotPositive(limit) }
        changeLimits { $0.setLimit(limit, of: key) }
    }

    private func changeLimits(_ change: (inout Turnstile) -> Turnstile.Shift) {
        let hasStartable = withState { state in
            var keys = state.keyed ?? KeyedOperations()
            let shift = change(&keys.turnstile)
            state.keyed = keys
            state.apply(shift)
            return state.schedule.hasStartable
        }
        if hasStartable { callWorkerIfNone() }
    }
}

/// The operations of a queue that have keys. Guarded by the queue's lock; most queues have none.
struct KeyedOperations {
    var turnstile = Turnstile()
    /// The members of the queue that have keys.
    var members: [Schedule.ID: Member] = [:]

    struct Member {
        let key: String
        /// The first ticket's arrival, since a member gets a new ticket whenever its turn comes; nil before it has arrived.
        var arrival: UInt64?
        /// The segment of the schedule that it stands in.
        var segment: UInt64 = 0
    }
}

extension OperationQueue.State {
    /// An operation with a key has arrived, or has changed.
    mutating func admitKeyed(
        _ operation: Operation, _ id: Schedule.ID, _ lifecycle: Lifecycle, lane: PriorityLane, isReady: Bool
    ) {
        if operation.ticket.arrival == 0 {
            operation.ticket = schedule.added(id, lane: lane, isReady: false)
            keyed?.members[id]?.arrival = operation.ticket.arrival
            keyed?.members[id]?.segment = schedule.segment(of: operation.ticket)
        }
        guard let member = keyed?.members[id], let arrival = member.arrival else { return }
        if lifecycle.isCancelled || !isReady {
            // A cancelled operation ends at once, without a turn (rule C2).
            schedule.updated(operation.ticket, lane: lane, isReady: isReady)
            offer(keyed?.turnstile.left(id))
        } else {
            schedule.updated(operation.ticket, lane: lane, isReady: keyed?.turnstile.isOffered(id) == true)
            apply(
                keyed?.turnstile.becameReady(
                    id, key: member.key, lane: lane, arrival: arrival, segment: member.segment))
        }
    }

    fileprivate mutating func apply(_ shift: Turnstile.Shift?) {
        guard let shift else { return }
        for id in shift.retracted { retract(id) }
        for id in shift.offered { offer(id) }
    }

    /// The turn has come to this one.
    mutating func offer(_ id: Schedule.ID?) {
        guard let id else { return }
        let operation = OperationQueue.operation(id)
        operation.ticket = schedule.queuedAnew(operation.ticket)
    }

    private mutating func retract(_ id: Schedule.ID) {
        let operation = OperationQueue.operation(id)
        schedule.updated(operation.ticket, lane: operation.word.lifecycle.effectivePriority, isReady: false)
    }

    mutating func startedKeyed(_ id: Schedule.ID) { offer(keyed?.turnstile.started(id)) }

    /// It does not start now after all.
    mutating func heldBackKeyed(_ id: Schedule.ID) { offer(keyed?.turnstile.left(id)) }

    /// It leaves the queue.
    mutating func leftKeyed(_ id: Schedule.ID) {
        keyed?.members[id] = nil
        offer(keyed?.turnstile.left(id))
    }

    /// The key of an operation that has not its turn.
    func keyItWaitsFor(_ operation: Operation) -> String? {
        guard let keyed, let member = keyed.members[operation.scheduleID] else { return nil }
        return keyed.turnstile.isOffered(operation.scheduleID) ? nil : member.key
    }

    /// The operations and when they were added, in no order. O(n).
    var arrivals: [(arrival: UInt64, operation: Operation)] {
        schedule.arrivals.map { arrival, id in (keyed?.members[id]?.arrival ?? arrival, OperationQueue.operation(id)) }
    }

    /// When a member was added.
    func arrival(of operation: Operation) -> UInt64 {
        keyed?.members[operation.scheduleID]?.arrival ?? operation.ticket.arrival
    }
}

extension OperationQueue {
    private func add(_ operation: Operation, key: String) throws(OperationError) {
        try add(operation, hasPlace: false) {
            withState { state in
                if state.keyed == nil { state.keyed = KeyedOperations() }
                state.keyed?.members[operation.scheduleID] = .init(key: key)
            }
            operation.word.insert(.keyed)
        }
    }
}
