import SchedulerCore

extension OperationQueue {
    /// Adds an operation under a key, such as a host or a tenant. The keys of the queue take turns.
    ///
    /// Limits for keys restrict how many operations of a key run at a time. See ``setLimitPerKey(_:)`` and
    /// ``setLimit(_:forKey:)``.
    /// Operations of different keys with the same priority start in turn. Operations of one key start in the queue's
    /// usual order. Operations without a key (nil) bypass the rotation.
    ///
    /// A queue that is full or was shut down refuses the operation, which then fails. See ``addOperation(_:)-(Operation)``.
    ///
    /// The call stops the process if the operation is in a queue, executes or has finished.
    /// ``tryAddOperation(_:limitKey:)`` throws an error instead.
    public final func addOperation(_ operation: Operation, limitKey key: String?) {
        // A subclass may override the addition without a key.
        guard let key else { return addOperation(operation) }
        do { try add(operation, key: key) } catch { refuse([operation], error) }
    }

    /// Adds an operation under a key, like `addOperation(_:limitKey:)`, and throws an error on misuse.
    ///
    /// - Throws: `OperationError`. The call has changed nothing then.
    public final func tryAddOperation(_ operation: Operation, limitKey key: String?) throws(OperationError) {
        if let key { try add(operation, key: key) } else { try tryAddOperation(operation) }
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
    public final var limitPerKey: Int? { withState { $0.policies.first(KeyPolicy.self)?.turnstile.defaultLimit } }

    /// Returns the limit that applies to a key: its own limit, or the limit of each key; nil for no limit.
    public final func limit(forKey key: String) -> Int? {
        withState { $0.policies.first(KeyPolicy.self)?.turnstile.limit(of: key) }
    }

    private func changeLimits(_ change: (inout Turnstile) -> Turnstile.Shift) {
        withState { state in
            let policy = state.policy(orNew: KeyPolicy())
            policy.apply(change(&policy.turnstile), to: &state)
        }
    }
}

/// The operations of a queue that have keys, and the turns of the keys.
final class KeyPolicy: QueuePolicy {
    let rank = QueuePolicyRank.keys
    fileprivate(set) var turnstile = Turnstile()
    /// The members of the queue that have keys.
    private var members: [Schedule.ID: Member] = [:]

    private struct Member {
        let key: String
        /// The first arrival; nil before the member has arrived. A member arrives anew for each turn.
        var arrival: UInt64?
        /// The segment of the schedule that the member is in.
        var segment: UInt64 = 0
    }

    fileprivate func setKey(_ key: String, of operation: Operation) { members[operation.scheduleID] = Member(key: key) }

    var memberCount: Int { members.count }

    func key(of id: Schedule.ID) -> String? { members[id]?.key }

    /// Returns the key of an operation that waits for its turn; nil for other operations.
    func keyItWaitsFor(_ operation: Operation) -> String? {
        turnstile.isOffered(operation.scheduleID) ? nil : members[operation.scheduleID]?.key
    }

    /// Returns the first arrival of a member; nil for operations without a key.
    func arrival(of id: Schedule.ID) -> UInt64? { members[id]?.arrival }

    // A cancelled operation ends soon, and needs no turn (rule C2). A turn limits the load, and protects no resource.
    func holdsBack(_ operation: Operation, _ lifecycle: Lifecycle) -> Bool {
        lifecycle.contains(.keyed) && !lifecycle.isCancelled && !turnstile.isOffered(operation.scheduleID)
    }

    func changed(_ operation: Operation, _ lifecycle: Lifecycle, isNew: Bool, in state: inout OperationQueue.State) {
        let id = operation.scheduleID
        guard lifecycle.contains(.keyed), var member = members[id] else { return }
        if member.arrival == nil {
            member.arrival = operation.arrival
            member.segment = state.machine.schedule.segment(of: operation)
            members[id] = member
        }
        if lifecycle.isCancelled || !lifecycle.isReadyInQueue {
            offer(turnstile.left(id), in: &state)
        } else if let arrival = member.arrival {
            apply(
                turnstile.becameReady(
                    id, key: member.key, lane: lifecycle.effectivePriority, arrival: arrival, segment: member.segment),
                to: &state)
            if !turnstile.isOffered(id) { waitsForTurn(id, lifecycle, in: &state) }
        }
    }

    fileprivate func apply(_ shift: Turnstile.Shift, to state: inout OperationQueue.State) {
        for id in shift.retracted {
            let operation = OperationQueue.operation(id)
            let lifecycle = operation.word.lifecycle
            state.handle(
                .arrive(
                    operation.asMember, .operation, lane: lifecycle.effectivePriority, service: operation.service,
                    isReady: false))
            waitsForTurn(id, lifecycle, in: &state)
        }
        for id in shift.offered { offer(id, in: &state) }
    }

    /// Ends the offer of resources to a ready operation that waits for its turn. Only gated operations have requirements.
    private func waitsForTurn(_ id: Schedule.ID, _ lifecycle: Lifecycle, in state: inout OperationQueue.State) {
        if lifecycle.contains(.gated) { state.policies.first(ResourceOffers.self)?.hasNoTurn(id) }
    }

    /// Makes an operation startable, because its turn has come.
    private func offer(_ id: Schedule.ID?, in state: inout OperationQueue.State) {
        guard let id else { return }
        state.handle(.offer(OperationQueue.operation(id).asMember))
    }

    func claimed(
        _ operation: Operation, _ lifecycle: Lifecycle, at reading: PolicyReading?, in state: inout OperationQueue.State
    ) {
        if lifecycle.contains(.keyed) { offer(turnstile.started(operation.scheduleID), in: &state) }
    }

    // An operation gives up its turn when it does not start now, and when it leaves.

    func notClaimed(_ operation: Operation, _ lifecycle: Lifecycle, in state: inout OperationQueue.State) {
        if lifecycle.contains(.keyed) { offer(turnstile.left(operation.scheduleID), in: &state) }
    }

    func putBack(_ operation: Operation, _ lifecycle: Lifecycle, hasBegun: Bool, in state: inout OperationQueue.State) {
        notClaimed(operation, lifecycle, in: &state)
    }

    func leaves(_ operation: Operation, _ lifecycle: Lifecycle, in state: inout OperationQueue.State) {
        guard lifecycle.contains(.keyed) else { return }
        members[operation.scheduleID] = nil
        offer(turnstile.left(operation.scheduleID), in: &state)
    }
}

extension OperationQueue {
    /// An operation with the time at which it was added. Not a tuple, whose arrays the runtime copies and destroys by metadata.
    struct Arrival {
        let arrival: UInt64
        let operation: Operation
    }
}

extension OperationQueue.State {
    /// The operations with the times at which they were added, in no order. O(n).
    var arrivals: [OperationQueue.Arrival] {
        let keys = policies.first(KeyPolicy.self)
        return machine.schedule.operations.map { member in
            let operation = Operation.of(member)
            let arrival = keys?.arrival(of: operation.scheduleID) ?? operation.arrival
            return OperationQueue.Arrival(arrival: arrival, operation: operation)
        }
    }
}

extension QueuePolicies {
    /// Returns the time at which a member was added.
    func arrival(of operation: Operation) -> UInt64 {
        first(KeyPolicy.self)?.arrival(of: operation.scheduleID) ?? operation.arrival
    }
}

extension OperationQueue {
    func add(
        _ operation: Operation, key: String, check: () throws(OperationError) -> Void = {}
    ) throws(OperationError) {
        try add(operation, check: check) {
            withState { state in state.policy(orNew: KeyPolicy()).setKey(key, of: operation) }
            operation.word.insert(.keyed)
        }
    }
}
