extension DurableMachine {
    /// Cancels operations and their children. Returns the operations that had not ended.
    ///
    /// An operation that does not run ends at once, and never runs. A running operation ends when its worker stops the
    /// attempt.
    @discardableResult
    package mutating func cancel(_ ids: [OperationID]) throws -> [OperationID] {
        try event { machine in
            var cancelled: [OperationID] = []
            var seen: Set<OperationID> = []
            var front = try machine.existingOperations(ids)
            while !front.isEmpty {
                let parents = front.filter { $0.children > 0 }.map(\.id)
                for var row in front where !row.state.isEnded {
                    cancelled.append(row.id)
                    seen.insert(row.id)
                    switch row.state {
                    case .running, .finishing:
                        row.isCancelRequested = true
                        try machine.put(row)
                    case .waiting, .scheduled, .blocked, .ready, .awaitingSignal:
                        row.isCancelRequested = true
                        try machine.endWork(&row, as: .cancelled, reason: row.reason)
                    case .succeeded, .failed, .cancelled, .discarded, .crashed: break
                    }
                }
                front =
                    parents.isEmpty
                    ? []
                    : try machine.existingOperations(machine.rows.unfinishedChildren(of: parents.sorted()))
                        .filter { !seen.contains($0.id) }
            }
            return cancelled
        }
    }

    /// Ends operations that do not run without running them.
    ///
    /// - Throws: `operationRuns` or `operationEnded`.
    package mutating func discard(_ ids: [OperationID], reason: String) throws {
        try event { machine in
            let found = try machine.existingOperations(ids)
            for row in found { try row.checkIdle() }
            for var row in found { try machine.endWork(&row, as: .discarded, reason: reason) }
        }
    }

    /// Gives failed, crashed, cancelled and discarded operations new attempts, without a deadline. The history is kept.
    ///
    /// - Throws: `invalidValue` for an operation that has not ended or that succeeded. `cycle` if one of the operations would
    ///   wait for an operation that waits for it.
    package mutating func retry(_ ids: [OperationID]) throws {
        try event { machine in
            let found = try machine.existingOperations(ids)
            for row in found where !row.state.isEnded || row.state == .succeeded {
                throw DurableError.invalidValue("operation \(row.id) cannot be retried: \(row.state)")
            }
            for var row in found {
                (row.failures, row.lostLeases, row.rootCause, row.reason) = (0, 0, nil, nil)
                (row.endedAt, row.purgeAt, row.deadline, row.wakeAt) = (nil, nil, nil, nil)
                row.clear()
                row.epoch = try machine.epochOfRetry(of: row)
                if let parent = row.parent {
                    try machine.load(CollectionOfOne(parent))
                    if var parent = machine.work.operations[parent] {
                        if parent.state.isEnded { row.parent = nil } else { parent.children += 1 }
                        try machine.put(parent)
                    }
                }
                try machine.settle(&row)
            }
            try machine.checkNoCycle(through: ids)
        }
    }

    /// Returns the epoch of a retried operation. A barrier is a barrier again, behind all operations that have been added since.
    private mutating func epochOfRetry(of row: OperationRow) throws -> Int64 {
        var queue = try queue(row.queue)
        guard QueueRow.isBarrierEpoch(row.epoch) else { return try epoch(in: queue, waitingFor: row.parent) }
        let epoch = queue.openBarrier()
        put(queue)
        return epoch
    }

    /// Moves operations that do not run to another queue, behind its barriers. A barrier is no barrier of the other queue.
    ///
    /// - Throws: `operationRuns` or `operationEnded`, and `cycle` if one of the operations would wait for an operation that
    ///   waits for it.
    package mutating func move(_ ids: [OperationID], to name: String) throws {
        try event { machine in
            try machine.limits.checkName(name)
            let found = try machine.existingOperations(ids)
            for row in found { try row.checkIdle() }
            let queue = try machine.queue(machine.rows.queue(named: name).id)
            let moved = found.filter { $0.queue != queue.id }
            for var row in moved {
                (row.queue, row.epoch) = (queue.id, try machine.epoch(in: queue, waitingFor: row.id))
                if row.state == .blocked || row.state == .ready {
                    // The key of the new queue decides again.
                    let readyAt = row.readyAt
                    try machine.makeReady(&row)
                    row.readyAt = readyAt
                }
                try machine.put(row)
            }
            try machine.checkNoCycle(through: moved.map(\.id))
        }
    }

    /// Sets the priority of operations.
    ///
    /// - Throws: `operationEnded`.
    package mutating func setPriority(_ priority: DurablePriority, of ids: [OperationID]) throws {
        try event { machine in
            for var row in try machine.existingOperations(ids) {
                if row.state.isEnded { throw DurableError.operationEnded(row.id, row.state) }
                row.priority = priority
                try machine.put(row)
            }
        }
    }

    /// Suspends or resumes a queue. Running operations continue.
    package mutating func setSuspended(_ isSuspended: Bool, queue name: String) throws {
        try change(name) { $0.isSuspended = isSuspended }
    }

    /// Sets the largest number of running operations of the queue on all machines. Nil removes the limit.
    package mutating func setLimit(_ limit: Int?, queue name: String) throws {
        if let limit, limit < 0 { throw DurableError.invalidValue("a limit is below zero") }
        try change(name) { $0.limit = limit.map(Int64.init) }
    }

    /// Sets the rate of starts of the queue on all machines. Nil removes the rate.
    package mutating func setRate(_ rate: RateRule?, queue name: String) throws {
        try rate?.check()
        // The same rate set again forgets no start.
        try change(name) { if $0.rate != rate { ($0.rate, $0.rateFilledAt) = (rate, nil) } }
    }

    /// Sets the limit of each key of the queue that has no limit of its own. Nil removes the limit.
    package mutating func setLimitPerKey(_ limit: Int?, queue name: String) throws {
        if let limit, limit < 0 { throw DurableError.invalidValue("a limit is below zero") }
        try event { machine in
            try machine.limits.checkName(name)
            var queue = try machine.queue(machine.rows.queue(named: name).id)
            queue.limitPerKey = limit.map(Int64.init)
            machine.put(queue)
            for key in try machine.rows.keys(of: queue.id) { machine.work.unbalancedKeys.insert(key.name) }
        }
    }

    /// Sets the limit of one key of the queue. Nil makes the queue's limit per key apply.
    package mutating func setLimit(_ limit: Int?, key: String, queue name: String) throws {
        if let limit, limit < 0 { throw DurableError.invalidValue("a limit is below zero") }
        try event { machine in
            try machine.limits.checkName(name)
            try machine.limits.checkName(key)
            let queue = try machine.rows.queue(named: name)
            var row = try machine.key(KeyName(queue: queue.id, key: key))
            row.limit = limit.map(Int64.init)
            machine.put(row)
        }
    }

    /// Sets the rate of starts of each key of the queue that has no rate of its own. Nil removes the rate.
    ///
    /// A new rate applies at once: the starts before the change do not count.
    package mutating func setRatePerKey(_ rate: RateRule?, queue name: String) throws {
        try rate?.check()
        try event { machine in
            try machine.limits.checkName(name)
            var queue = try machine.queue(machine.rows.queue(named: name).id)
            let isNew = queue.ratePerKey != rate
            queue.ratePerKey = rate
            machine.put(queue)
            for var key in try machine.rows.keys(of: queue.id) {
                if key.rate == nil, isNew { key.rateFilledAt = nil }
                machine.put(key)
            }
        }
    }

    /// Sets the rate of starts of one key of the queue. Nil makes the queue's rate per key apply.
    package mutating func setRate(_ rate: RateRule?, key: String, queue name: String) throws {
        try rate?.check()
        try event { machine in
            try machine.limits.checkName(name)
            try machine.limits.checkName(key)
            let queue = try machine.rows.queue(named: name)
            var row = try machine.key(KeyName(queue: queue.id, key: key))
            if (row.rate ?? queue.ratePerKey) != (rate ?? queue.ratePerKey) { row.rateFilledAt = nil }
            row.rate = rate
            machine.put(row)
        }
    }

    private mutating func change(_ name: String, _ body: (inout QueueRow) -> Void) throws {
        try event { machine in
            try machine.limits.checkName(name)
            var queue = try machine.queue(machine.rows.queue(named: name).id)
            body(&queue)
            machine.put(queue)
            machine.work.effects.hasReadyOperations = true
        }
    }

    /// Removes ended operations with all their records. Returns these operations.
    package mutating func delete(_ ids: [OperationID]) throws -> [OperationID] {
        try event { machine in
            let ended = try machine.rows.operations(ids).filter(\.state.isEnded)
            for row in ended { machine.work.changes.counters[row.counter, default: 0] -= 1 }
            machine.work.isChanged = true
            let removed = ended.map(\.id).sorted()
            try machine.rows.remove(removed)
            return removed
        }
    }

    /// Removes operations whose retention period has passed, at most `limit`. An operation stays while its unique key holds.
    ///
    /// - Returns: The number of operations that the call looked at; 0 if none is left.
    @discardableResult
    package mutating func purge(limit: Int = 500) throws -> Int {
        let ids = try rows.operations(.purgeable(limit: limit))
        guard !ids.isEmpty else { return 0 }
        return try event { machine in
            let periods = try machine.rows.uniquePeriods(of: ids)
            var removed: [OperationID] = []
            for var row in try machine.existingOperations(ids) {
                if let end = periods[row.id], end > machine.now {
                    row.purgeAt = end
                    try machine.put(row)
                } else {
                    machine.work.changes.counters[row.counter, default: 0] -= 1
                    removed.append(row.id)
                }
                machine.work.isChanged = true
            }
            try machine.rows.remove(removed)
            return ids.count
        }
    }
}

extension OperationRow {
    fileprivate func checkIdle() throws(DurableError) {
        if state.isEnded { throw .operationEnded(id, state) }
        if state == .running || state == .finishing { throw .operationRuns(id) }
    }
}
