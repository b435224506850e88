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
            try put(row)
        } else {
            try makeReady(&row)
        }
    }

    /// Makes an operation ready, or blocked when the limit or the rate of its key is reached.
    mutating func makeReady(_ row: inout OperationRow) throws {
        (row.readyAt, row.wakeAt, row.state) = (now, nil, .ready)
        if let name = row.keyName {
            let key = try key(name)
            if key.blocked > 0 { row.state = .blocked } else if try room(in: key) <= 0 { row.state = .blocked }
        }
        try put(row)
    }

    /// Returns the number of further operations of the key that may become ready. The number is negative if too many are.
    private mutating func room(in key: KeyRow) throws -> Int64 {
        let queue = try queue(key.name.queue)
        var room = Int64.max
        if let limit = key.limit ?? queue.limitPerKey { room = limit - key.ready - key.running }
        if let rate = key.rate ?? queue.ratePerKey {
            room = min(room, rate.allowance(filledAt: key.rateFilledAt, now: now) - key.ready)
        }
        return room
    }

    /// Admits the first operations of keys up to the limits and the rates of the keys.
    ///
    /// Afterward, ready and running operations together are within the limit unless running operations alone exceed it.
    /// Ready operations are within the allowance of the rate. Each ready operation precedes each blocked operation.
    ///
    /// The number of statements does not depend on the number of keys: a new limit of a queue may concern all keys at once.
    mutating func balance(_ names: [KeyName]) throws {
        try load(keys: names)
        var (admitted, returned, full): ([KeyShare], [KeyShare], [KeyShare]) = ([], [], [])
        for name in names {
            let key = try key(name)
            let room = try room(in: key)
            if key.blocked > 0, room > 0 {
                admitted.append(KeyShare(name, count: min(room, key.blocked, 1_000)))
            } else if key.ready > 0, room < 0 {
                returned.append(KeyShare(name, count: min(key.ready, -room, 1_000)))
            } else if key.blocked > 0, key.ready > 0 {
                full.append(KeyShare(name, count: 1))
            }
        }
        if !admitted.isEmpty { try setState(.ready, of: rows.firstBlocked(of: admitted)) }
        if !returned.isEmpty { try setState(.blocked, of: rows.lastReady(of: returned)) }
        if !full.isEmpty { try exchange(full) }
        for name in names { try setWake(of: name) }
    }

    /// Keeps the instant at which the rate of a key admits the next blocked operation. Forgets a full allowance.
    private mutating func setWake(of name: KeyName) throws {
        var row = try key(name)
        let queue = try queue(name.queue)
        let rate = row.rate ?? queue.ratePerKey
        if rate == nil || row.rateFilledAt.map({ $0 <= now }) == true { row.rateFilledAt = nil }
        row.wakeAt = nil
        if let rate, row.rateFilledAt != nil {
            if row.blocked > 0, row.ready < rate.count {
                row.wakeAt = rate.instant(permitting: row.ready + 1, filledAt: row.rateFilledAt, now: now)
            } else if row.isUnused {
                row.wakeAt = row.rateFilledAt
            }
        }
        // An instant that has passed means that the limit of the key holds the operations back, and not the rate.
        if let wakeAt = row.wakeAt, wakeAt <= now { row.wakeAt = nil }
        if try row != key(name) { put(row) }
    }

    /// Counts a start in the rate of the operation's key.
    mutating func chargeRate(of row: OperationRow) throws {
        guard let name = row.keyName else { return }
        var key = try key(name)
        guard let rate = try key.rate ?? queue(name.queue).ratePerKey else { return }
        key.rateFilledAt = rate.filledAt(afterStarts: 1, filledAt: key.rateFilledAt, now: now)
        put(key)
    }

    private mutating func setState(_ state: DurableState, of ids: [OperationID]) throws {
        for var row in try existingOperations(ids) {
            row.state = state
            try put(row)
        }
    }

    /// Exchanges the last ready operation of a key with the first blocked operation if the blocked operation precedes it.
    private mutating func exchange(_ shares: [KeyShare]) throws {
        let blocked = try existingOperations(rows.firstBlocked(of: shares))
        let last = try existingOperations(rows.lastReady(of: shares)).map { ($0.keyName, $0) }
        let ready = Dictionary(last) { $1 }
        for var first in blocked {
            guard var last = ready[first.keyName], first.precedes(last) else { continue }
            (first.state, last.state) = (.ready, .blocked)
            try put(last)
            try put(first)
        }
    }

    /// Makes the first epoch with unfinished operations the current epoch.
    ///
    /// The current epoch is usually the next one. It is an earlier one if an operation was put in front of a barrier that waits
    /// for it.
    ///
    /// - Parameter changed: The first epoch whose operations changed. Earlier epochs than this one and the current one have no
    ///   unfinished operations.
    mutating func openNextEpoch(of id: QueueID, changed: Int64) throws {
        var queue = try queue(id)
        guard queue.currentEpoch < queue.lastEpoch else { return }
        let first = try rows.firstEpoch(of: id, from: min(changed, queue.currentEpoch)) ?? queue.lastEpoch
        guard first != queue.currentEpoch else { return }
        queue.currentEpoch = first
        put(queue)
        work.effects.hasReadyOperations = true
    }
}

extension OperationRow {
    /// The name of the key in the operation's queue.
    package var keyName: KeyName? { key.map { KeyName(queue: queue, key: $0) } }
}
