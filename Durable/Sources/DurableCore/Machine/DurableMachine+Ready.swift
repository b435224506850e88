extension DurableMachine {
    /// Gives an operation that is not running the state that its dependencies, its wake instant and its key imply.
    mutating func settle(_ row: inout OperationRow) throws {
        if row.pending > 0 {
            row.state = .waiting
            try put(row)
        } else if row.rootCause != nil, row.failurePolicy != .runAnyway {
            try end(&row, as: row.failurePolicy == .fail ? .failed : .cancelled, reason: row.reason)
        } else if let wakeAt = row.wakeAt, wakeAt > now {
            row.state = .scheduled
            row.wakeAt = row.deadline.map { min($0, wakeAt) } ?? wakeAt
            try put(row)
        } else {
            try makeReady(&row)
        }
    }

    /// Makes an operation ready, or blocked when the limit of its key is reached.
    mutating func makeReady(_ row: inout OperationRow) throws {
        (row.readyAt, row.wakeAt, row.state) = (now, nil, .ready)
        if let name = row.keyName, let limit = try limit(of: name) {
            let key = try key(name)
            if key.blocked > 0 || key.ready + key.running >= limit { row.state = .blocked }
        }
        try put(row)
    }

    /// Returns the limit of the key, if there is one.
    mutating func limit(of name: KeyName) throws -> Int64? {
        if let own = try key(name).limit { return own }
        return try queue(name.queue).limitPerKey
    }

    /// Admits the first operations of a key up to the limit of the key.
    ///
    /// Afterward, ready and running operations together are within the limit unless running operations alone exceed it,
    /// and each ready operation precedes each blocked operation.
    mutating func balance(_ name: KeyName) throws {
        let (key, limit) = (try key(name), try limit(of: name) ?? .max)
        let occupied = key.ready + key.running
        let free = limit - min(limit, occupied)
        if key.blocked > 0, free > 0 {
            let count = Int(min(free, key.blocked, 1_000))
            try setState(.ready, of: rows.firstBlocked(of: name, limit: count))
        } else if key.ready > 0, occupied > limit {
            let count = Int(min(key.ready, occupied - limit, 1_000))
            try setState(.blocked, of: rows.lastReady(of: name, limit: count))
        } else if key.blocked > 0, key.ready > 0 {
            try exchange(name)
        }
    }

    private mutating func setState(_ state: DurableState, of ids: [OperationID]) throws {
        for var row in try existingOperations(ids) {
            row.state = state
            try put(row)
        }
    }

    /// Exchanges the last ready operation with the first blocked operation if the blocked operation precedes it.
    private mutating func exchange(_ name: KeyName) throws {
        guard let first = try rows.firstBlocked(of: name, limit: 1).first,
            let last = try rows.lastReady(of: name, limit: 1).first
        else { return }
        var (blocked, ready) = (try operation(first), try operation(last))
        guard blocked.precedes(ready) else { return }
        (blocked.state, ready.state) = (.ready, .blocked)
        try put(ready)
        try put(blocked)
    }

    /// Opens the next epoch when all operations of the current epoch have ended.
    mutating func openNextEpoch(of id: QueueID) throws {
        var queue = try queue(id)
        guard queue.currentEpoch < queue.lastEpoch else { return }
        var unfinished: [Int64: Int64] = [:]
        for (counter, count) in try rows.counters(of: id) where counter.epoch != Counter.ended {
            unfinished[counter.epoch, default: 0] += count
        }
        let first = unfinished.filter { $0.value > 0 }.keys.min() ?? queue.lastEpoch
        guard first > queue.currentEpoch else { return }
        queue.currentEpoch = first
        put(queue)
        work.effects.hasReadyOperations = true
    }
}

extension OperationRow {
    /// The name of the key in the operation's queue.
    package var keyName: KeyName? { key.map { KeyName(queue: queue, key: $0) } }
}
