/// The reaction to a unique key that another operation of the name holds.
public enum DurableUniquePolicy: Sendable, Hashable, CaseIterable {
    /// The addition returns the operation that holds the key. This is the default.
    case keep
    /// As `keep`, and an operation that has never started takes over the input, the priority, the retry rule, the earliest start,
    /// the timeout and the deadline of the addition. All other values stay.
    case replace
    /// The addition throws `DurableError.uniqueKeyHeld`, and adds nothing.
    case reject
}

extension DurableMachine {
    /// Returns the members whose unique key an earlier member or a stored operation holds.
    mutating func uniqueHolders(_ batch: [NewOperation], kinds: [KindID]) throws -> [Int: NewOperation
        .Dependency]
    {
        var holders: [Int: NewOperation.Dependency] = [:]
        var earlier: [UniqueName: Int] = [:]
        for (index, member) in batch.enumerated() {
            guard let key = member.unique else { continue }
            let name = UniqueName(kind: kinds[index], key: ExactName(key))
            if let first = earlier[name] {
                holders[index] = .member(first)
                continue
            }
            earlier[name] = index
            guard let stored = try rows.unique(kind: kinds[index], key: key) else { continue }
            try load(CollectionOfOne(stored.operation))
            guard let holder = work.operations[stored.operation] else { continue }
            if !holder.state.isEnded || stored.heldUntil.map({ $0 > now }) == true {
                holders[index] = .existing(stored.operation)
            }
        }
        return holders
    }

    /// Checks that no held key is rejected.
    ///
    /// - Throws: `uniqueKeyHeld`, or `invalidValue` for a key that a batch has twice.
    func checkUnique(_ batch: [NewOperation], _ holders: [Int: NewOperation.Dependency]) throws(DurableError) {
        for index in holders.keys.sorted() where batch[index].uniquePolicy == .reject {
            let key = batch[index].unique ?? ""
            if case .existing(let id) = holders[index] { throw .uniqueKeyHeld(key, by: id) }
            throw .invalidValue("two operations of the batch have the unique key '\(key)'")
        }
    }

    /// Replaces dependencies on members whose unique key is held by dependencies on the holders.
    func resolve(_ members: [NewOperation], _ holders: [Int: NewOperation.Dependency]) -> [NewOperation] {
        members.indices.map { index in
            var member = members[index]
            member.after =
                holders[index] != nil
                ? []
                : member.after.map { dependency in
                    guard case .member(let index) = dependency, let holder = holders[index] else { return dependency }
                    return holder
                }
            return member
        }
    }

    /// Gives an operation that has never started the values of an addition with its unique key.
    mutating func replace(_ id: OperationID, by member: NewOperation) throws {
        try load(CollectionOfOne(id))
        guard var row = work.operations[id], row.fence == 0, !row.state.isEnded else { return }
        (row.priority, row.retry, row.context) = (member.priority, member.retry, member.context)
        row.timeout = member.timeout?.microseconds
        row.deadline = member.deadline.map { now + $0 }
        work.changes.inputs[id] = member.input
        work.isChanged = true
        let wakeAt = member.wakeAt(now: now)
        switch row.state {
        case .scheduled:
            row.wakeAt = wakeAt
            try settle(&row)
        case .ready, .blocked:
            if let wakeAt, wakeAt > now { (row.state, row.wakeAt) = (.scheduled, wakeAt) }
            try put(row)
        default:
            row.wakeAt = wakeAt
            try put(row)
        }
    }
}
