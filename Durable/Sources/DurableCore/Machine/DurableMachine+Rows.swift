extension DurableMachine {
    /// Loads the operations that are not loaded yet, with one query.
    mutating func load(_ ids: some Sequence<OperationID>) throws {
        let missing = Set(ids).filter { work.operations[$0] == nil }
        guard !missing.isEmpty else { return }
        let found = try rows.operations(missing.sorted())
        for row in found { work.operations[row.id] = row }
        // A change of the operations changes the counts of their keys.
        try load(keys: found.lazy.compactMap(\.keyName))
    }

    /// Loads the keys that are not loaded yet, with one query.
    mutating func load(keys names: some Sequence<KeyName>) throws {
        let missing = Set(names.filter { work.keys[$0] == nil })
        guard !missing.isEmpty else { return }
        for name in missing { work.keys[name] = KeyRow(name: name) }
        for row in try rows.keys(missing.sorted()) { work.keys[row.name] = row }
    }

    /// Returns an operation, or throws `unknownOperation`.
    mutating func operation(_ id: OperationID) throws -> OperationRow {
        try load(CollectionOfOne(id))
        guard let row = work.operations[id] else { throw DurableError.unknownOperation(id) }
        return row
    }

    /// Returns the loaded operations in ascending order. Throws `unknownOperation` for the first that does not exist.
    mutating func existingOperations(_ ids: [OperationID]) throws -> [OperationRow] {
        try load(ids)
        return try Set(ids).sorted().map { id in
            guard let row = work.operations[id] else { throw DurableError.unknownOperation(id) }
            return row
        }
    }

    mutating func queue(_ id: QueueID) throws -> QueueRow {
        if let known = work.queues[id] { return known }
        let row = try rows.queue(id)
        work.queues[id] = row
        return row
    }

    mutating func existingQueue(named name: String) throws -> QueueRow {
        guard let row = try rows.existingQueue(named: name) else { throw DurableError.unknownQueue(name) }
        return try queue(row.id)
    }

    mutating func put(_ row: QueueRow) {
        work.queues[row.id] = row
        work.changedQueues.insert(row.id)
        work.isChanged = true
    }

    mutating func key(_ name: KeyName) throws -> KeyRow {
        try load(keys: CollectionOfOne(name))
        return work.keys[name] ?? KeyRow(name: name)
    }

    mutating func put(_ row: KeyRow) {
        if row.wakeAt != nil { work.effects.hasNewWakes = true }
        work.keys[row.name] = row
        work.changedKeys.insert(row.name)
        work.unbalancedKeys.insert(row.name)
        work.isChanged = true
    }

    /// Stores the new state of an operation, and keeps the counters and the key.
    mutating func put(_ row: OperationRow) throws {
        let old = work.operations[row.id]
        if old == row { return }
        if !work.inserted.contains(row.id) { work.updated.insert(row.id) }
        try change(from: old, to: row)
    }

    private mutating func change(from old: OperationRow?, to row: OperationRow) throws {
        work.isChanged = true
        work.operations[row.id] = row
        if old?.counter != row.counter {
            if let old { work.changes.counters[old.counter, default: 0] -= 1 }
            work.changes.counters[row.counter, default: 0] += 1
            try touch(row)
            if let old { try touch(old) }
        }
        try countKey(from: old, to: row)
        if row.wakeAt != nil, old?.wakeAt != row.wakeAt { work.effects.hasNewWakes = true }
        if row.deadline != nil, old?.deadline != row.deadline { work.effects.hasNewWakes = true }
        if row.isCancelRequested, old?.isCancelRequested == false { work.effects.hasCancelRequests = true }
        guard old?.state != row.state else { return }
        if row.state == .running { try chargeRate(of: row) }
        try note(row)
        if row.state == .ready || old?.state == .running { work.effects.hasReadyOperations = true }
        if row.state.isEnded { work.effects.ended.insert(row.id) }
    }

    private mutating func touch(_ row: OperationRow) throws {
        let queue = try queue(row.queue)
        guard queue.currentEpoch < queue.lastEpoch else { return }
        work.touchedQueues[queue.id] = min(work.touchedQueues[queue.id] ?? row.epoch, row.epoch)
    }

    private mutating func countKey(from old: OperationRow?, to row: OperationRow) throws {
        if let old, let key = old.key {
            var counts = try self.key(KeyName(queue: old.queue, key: key))
            counts.count(old.state, by: -1)
            put(counts)
        }
        if let key = row.key {
            var counts = try self.key(KeyName(queue: row.queue, key: key))
            counts.count(row.state, by: 1)
            put(counts)
        }
    }
}
