extension DurableMachine {
    /// Adds a batch of operations, in any order of members.
    ///
    /// - Parameters:
    ///   - batch: The operations. A dependency may name another member by its index.
    ///   - lease: The lease of the running operation that adds the batch.
    /// - Returns: The identifier of each member. A member whose unique key is held has the identifier of the holder.
    /// - Throws: `DurableError` for an invalid member, a cycle, an unknown dependency or a lost lease.
    package mutating func add(_ batch: [NewOperation], by lease: Lease? = nil) throws -> [OperationID] {
        try event { machine in try machine.addMembers(batch, by: lease) }
    }

    mutating func addMembers(_ members: [NewOperation], by lease: Lease?) throws -> [OperationID] {
        for member in members { try member.check(limits) }
        var parent = try lease.map { try leased($0) }
        try checkDependencies(members, parent: parent)
        let kinds = try members.map { try rows.kind(named: $0.name) }
        let holders = try uniqueHolders(members, kinds: kinds)
        try checkUnique(members, holders)
        let batch = holders.isEmpty ? members : resolve(members, holders)
        let order = try topologicalOrder(batch)
        // A refused batch uses no identifiers, so that the reservation follows the last check.
        var next = try rows.reserveOperationIDs(0).rawValue
        var ids: [OperationID] = []
        for index in batch.indices {
            switch holders[index] {
            case .existing(let id): ids.append(id)
            case .member(let earlier): ids.append(ids[earlier])
            case nil:
                ids.append(OperationID(next))
                next += 1
            }
        }
        let new = order.filter { holders[$0] == nil }
        work.reserve(new.count)
        try load(
            keys: new.compactMap { index in
                let (queue, key) = (try rows.existingQueue(named: batch[index].queue), batch[index].key)
                return key.flatMap { key in queue.map { KeyName(queue: $0.id, key: key) } }
            })
        for index in new {
            try insert(batch[index], id: ids[index], kind: kinds[index], ids: ids, parent: parent)
            if batch[index].isChild { parent?.children += 1 }
        }
        for index in holders.keys.sorted() where members[index].uniquePolicy == .replace {
            try replace(ids[index], by: members[index])
        }
        if let parent {
            try put(parent)
            try checkNoCycle(ofChildrenIn: batch, ids, new: new, of: parent)
        }
        _ = try rows.reserveOperationIDs(batch.count - holders.count)
        return ids
    }

    private mutating func checkDependencies(_ batch: [NewOperation], parent: OperationRow?) throws {
        var existing: Set<OperationID> = []
        for member in batch {
            if member.isChild, parent == nil { throw DurableError.invalidValue("a child needs a running parent") }
            if member.isChild, member.isBarrier, let queue = try rows.existingQueue(named: member.queue),
                try firstEpoch(in: queue.id, waitingFor: parent?.id) != nil
            {
                throw DurableError.invalidValue("a barrier cannot be a child of an operation that it waits for")
            }
            for dependency in member.after {
                guard case .existing(let id) = dependency else { continue }
                if member.isChild, id == parent?.id {
                    throw DurableError.cycle(["operation \(id)", member.name, "operation \(id)"])
                }
                existing.insert(id)
            }
        }
        _ = try existingOperations(Array(existing))
    }

    private mutating func insert(
        _ member: NewOperation, id: OperationID, kind: KindID, ids: [OperationID], parent: OperationRow?
    ) throws {
        var queue = try queue(rows.queue(named: member.queue).id)
        let isAddedByOperation = parent != nil
        let parent = member.isChild ? parent : nil
        let epoch = member.isBarrier ? queue.openBarrier() : try self.epoch(in: queue, waitingFor: parent?.id)
        if member.isBarrier { put(queue) }
        var row = OperationRow(
            id: id, queue: queue.id, kind: kind, epoch: epoch, priority: member.priority,
            state: .waiting, readyAt: now, addedAt: now)
        (row.failurePolicy, row.retry, row.key, row.parent) = (
            member.failurePolicy, member.retry, member.key, parent?.id
        )
        row.context = member.context
        (row.wakeAt, row.timeout) = (member.wakeAt(now: now), member.timeout?.microseconds)
        row.deadline = member.deadline.map { now + $0 }
        if let key = member.unique {
            let heldUntil = member.uniquePeriod.map { now + $0 }
            work.changes.uniques.append(UniqueRow(kind: kind, key: key, operation: id, heldUntil: heldUntil))
        }
        work.changes.inputs[id] = member.input
        try addEdges(to: &row, after: member.after, ids: ids, keepsEdges: isAddedByOperation)
        work.inserted.insert(id)
        try settle(&row)
    }

    private mutating func addEdges(
        to row: inout OperationRow, after: [NewOperation.Dependency], ids: [OperationID], keepsEdges: Bool
    ) throws {
        var seen: Set<OperationID> = []
        for dependency in after {
            let id =
                switch dependency {
                case .existing(let id): id
                case .member(let index): ids[index]
                }
            guard seen.insert(id).inserted else { continue }
            let dependency = try operation(id)
            if dependency.state.isEnded {
                row.noteOutcome(of: dependency)
            } else {
                row.pending += 1
                let edge = Edge(dependency: id, dependent: row.id)
                work.changes.edges.append(edge)
                if keepsEdges { work.edgesOfMembers[id, default: []].append(edge) }
            }
        }
    }
}
