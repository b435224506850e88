import SchedulerCore

extension OperationQueue {
    /// Adds an operation under a key, such as a host or a tenant. The keys of the queue take turns.
    ///
    /// Limits for keys restrict how many operations of a key run at a time. See ``setLimitPerKey(_:)`` and
    /// ``setLimit(_:forKey:)``.
    /// Operations of different keys with the same priority start in turn. Operations of one key start in the queue's
    /// usual order. Operations without a key bypass the rotation.
    ///
    /// The call stops the process if the operation is in a queue, executes or has finished. The call also stops the process if
    /// the queue has a capacity and is full. ``tryAddOperation(_:limitKey:)`` throws an error instead.
    public final func addOperation(_ operation: Operation, limitKey key: String) {
        stopOnMisuse { () throws(OperationError) in try add(operation, key: key) }
    }

    /// Adds an operation under a key, like `addOperation(_:limitKey:)`, and throws an error on misuse.
    ///
    /// - Throws: `OperationError`. The call has changed nothing then.
    public final func tryAddOperation(_ operation: Operation, limitKey key: String) throws(OperationError) {
        try add(operation, key: key)
    }

    /// Limits how many operations of each key run at a time. `nil` removes the limit: the keys still take turns.
    ///
    /// Running operations continue.
    ///
    /// The call stops the process if the limit is below 1.
    public final func setLimitPerKey(_ limit: Int?) {
        if let limit, limit < 1 { InvalidPolicy.limit(limit).stop() }
        changeLimits { $0.setDefaultLimit(limit) }
    }

    /// Limits how many operations of one key run at a time. `nil` restores the limit that applies to each key.
    ///
    /// Running operations continue.
    ///
    /// The call stops the process if the limit is below 1.
    public final func setLimit(_ limit: Int?, forKey key: String) {
        if let limit, limit < 1 { InvalidPolicy.limit(limit).stop() }
        changeLimits { $0.setLimit(limit, of: key) }
    }

    /// The largest number of operations of each key that run at a time; nil for no limit. See ``setLimitPerKey(_:)``.
    public final var limitPerKey: Int? { withState { $0.keyed?.turnstile.defaultLimit } }

    /// Returns the limit that applies to a key: its own limit, or the limit of each key; nil for no limit.
    public final func limit(forKey key: String) -> Int? { withState { $0.keyed?.turnstile.limit(of: key) } }

    private func changeLimits(_ change: (inout Turnstile) -> Turnstile.Shift) {
        withStateCallingWorkers { state in
            // In place: a second reference would make each change copy all members and keys.
            if state.keyed == nil { state.keyed = KeyedOperations() }
            state.apply(change(&state.keyed!.turnstile))
        }
    }
}

/// The operations of a queue that have keys. Guarded by the queue's lock; most queues have none.
struct KeyedOperations {
    var turnstile = Turnstile()
    /// The members of the queue that have keys.
    var members: [Schedule.ID: Member] = [:]

    struct Member {
        let key: String
        /// The arrival of the first ticket; nil before the member has arrived. A member gets a new ticket for each turn.
        var arrival: UInt64?
        /// The segment of the schedule that the member is in.
        var segment: UInt64 = 0
    }
}

extension OperationQueue.State {
    /// Updates an operation with a key that has arrived or has changed.
    mutating func admitKeyed(
        _ operation: Operation, _ id: Schedule.ID, _ lifecycle: Lifecycle, lane: PriorityLane, isReady: Bool
    ) {
        if operation.ticket.arrival == 0 {
            operation.ticket = schedule.added(id, lane: lane, service: operation.service, isReady: false)
            keyed?.members[id]?.arrival = operation.ticket.arrival
            keyed?.members[id]?.segment = schedule.segment(of: operation.ticket)
        }
        guard let member = keyed?.members[id], let arrival = member.arrival else { return }
        if lifecycle.isCancelled || !isReady {
            // A cancelled operation ends at once, without a turn (rule C2).
            schedule.updated(operation.ticket, lane: lane, service: operation.service, isReady: isReady)
            offer(keyed?.turnstile.left(id))
        } else {
            schedule.updated(
                operation.ticket, lane: lane, service: operation.service,
                isReady: keyed?.turnstile.isOffered(id) == true)
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

    /// Makes an operation startable, because its turn has come.
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

    /// Gives up the turn of an operation that was claimed and does not start now.
    mutating func heldBackKeyed(_ id: Schedule.ID) { offer(keyed?.turnstile.left(id)) }

    /// Removes an operation that leaves the queue.
    mutating func leftKeyed(_ id: Schedule.ID) {
        keyed?.members[id] = nil
        offer(keyed?.turnstile.left(id))
    }

    /// Returns the key of an operation that waits for its turn; nil for other operations.
    func keyItWaitsFor(_ operation: Operation) -> String? {
        guard let keyed, let member = keyed.members[operation.scheduleID] else { return nil }
        return keyed.turnstile.isOffered(operation.scheduleID) ? nil : member.key
    }

    /// The operations with the times at which they were added, in no order. O(n).
    var arrivals: [(arrival: UInt64, operation: Operation)] {
        schedule.arrivals.map { arrival, id in (keyed?.members[id]?.arrival ?? arrival, OperationQueue.operation(id)) }
    }

    /// Returns the time at which a member was added.
    func arrival(of operation: Operation) -> UInt64 {
        keyed?.members[operation.scheduleID]?.arrival ?? operation.ticket.arrival
    }
}

extension OperationQueue {
    /// - Parameter hasPlace: Whether the caller has taken a place of the queue's capacity for the operation.
    func add(_ operation: Operation, key: String, hasPlace: Bool = false) throws(OperationError) {
        try add(operation, hasPlace: hasPlace) {
            withState { state in
                if state.keyed == nil { state.keyed = KeyedOperations() }
                state.keyed?.members[operation.scheduleID] = .init(key: key)
            }
            operation.word.insert(.keyed)
        }
    }
}
