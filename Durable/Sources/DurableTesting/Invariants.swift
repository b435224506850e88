import DurableCore

/// A broken invariant of the tables.
package struct BrokenInvariant: Error, CustomStringConvertible {
    package var description: String
}

extension MemoryRows {
    /// Checks that the redundant columns equal a recount, and that each state agrees with its reasons.
    package func checkInvariants() throws {
        var counters: [Counter: Int64] = [:]
        var keys: [KeyName: KeyRow] = tables.keys.mapValues {
            var row = $0
            (row.running, row.ready, row.blocked) = (0, 0, 0)
            return row
        }
        let pending = Dictionary(grouping: tables.edges, by: \.dependent).mapValues { Int64($0.count) }
        let children = Dictionary(
            grouping: tables.operations.values.filter { !$0.state.isEnded && $0.parent != nil },
            by: { $0.parent ?? $0.id }
        ).mapValues { Int64($0.count) }
        for row in tables.operations.values {
            counters[row.counter, default: 0] += 1
            if let name = row.keyName { keys[name, default: KeyRow(name: name)].count(row.state, by: 1) }
            try require(row.pending == pending[row.id] ?? 0, "operation \(row.id) counts \(row.pending) dependencies")
            if !row.state.isEnded {
                try require(
                    row.children == children[row.id] ?? 0, "operation \(row.id) counts \(row.children) children")
            }
            try check(row)
        }
        try require(counters == tables.counters, "the counters differ from a recount")
        try require(keys.filter { !$0.value.isEmpty } == tables.keys, "the keys differ from a recount")
        for edge in tables.edges {
            try require(tables.operations[edge.dependency]?.state.isEnded == false, "\(edge) has an ended dependency")
        }
        for key in tables.keys.values { try check(key) }
        for queue in tables.queues { try check(queue) }
    }

    private func check(_ row: OperationRow) throws {
        let label = "operation \(row.id) in state \(row.state)"
        switch row.state {
        case .waiting: try require(row.pending > 0, "\(label) waits for nothing")
        case .scheduled: try require(row.wakeAt != nil && row.pending == 0, "\(label) has no wake instant")
        case .blocked: try require(row.key != nil && row.pending == 0, "\(label) has no key")
        case .ready: try require(row.pending == 0 && row.wakeAt == nil, "\(label) is not ready")
        case .running:
            try require(row.pending == 0, "\(label) precedes a dependency")
            let holder = row.worker.flatMap(worker(_:))
            try require(holder != nil, "\(label) has no worker")
        case .awaitingSignal: try require(row.signal != nil && row.pending == 0, "\(label) has no signal")
        case .finishing: try require(row.children > 0 && row.workOutcome != nil, "\(label) has no children")
        case .succeeded, .failed, .cancelled, .discarded, .crashed:
            try require(row.endedAt != nil && row.purgeAt != nil, "\(label) has no end")
        }
    }

    /// Ready operations of a key are within the limit and the rate, and precede the blocked operations.
    private func check(_ key: KeyRow) throws {
        let queue = queue(key.name.queue)
        let limit = key.limit ?? queue.limitPerKey ?? .max
        let rate = key.rate ?? queue.ratePerKey
        let allowance = rate?.allowance(filledAt: key.rateFilledAt, now: now) ?? .max
        try require(key.ready == 0 || key.ready + key.running <= limit, "key \(key.name) exceeds its limit")
        try require(key.ready <= allowance, "key \(key.name) exceeds its rate")
        try require(
            key.blocked == 0 || key.ready + key.running >= limit || key.ready >= allowance,
            "key \(key.name) blocks without need")
        let isHeldByTime = key.blocked > 0 && key.ready + key.running < limit && key.ready < rate?.count ?? 0
        try require(!isHeldByTime || key.wakeAt.map { $0 > now } == true, "key \(key.name) has no wake instant")
        let ready = operations(lastReady(of: key.name, limit: 1)).first
        let blocked = operations(firstBlocked(of: key.name, limit: 1)).first
        if let ready, let blocked {
            try require(ready.precedes(blocked), "operation \(blocked.id) is blocked behind operation \(ready.id)")
        }
    }

    private func check(_ queue: QueueRow) throws {
        let unfinished = counters(of: queue.id).filter { $0.key.epoch != Counter.ended }
        let first = unfinished.map(\.key.epoch).min() ?? queue.lastEpoch
        try require(queue.currentEpoch <= first, "queue \(queue.name) passed an unfinished epoch")
        try require(
            queue.currentEpoch == queue.lastEpoch || first == queue.currentEpoch,
            "queue \(queue.name) does not open its next epoch")
    }

    private func require(_ condition: Bool, _ text: @autoclosure () -> String) throws {
        if !condition { throw BrokenInvariant(description: text()) }
    }
}
