import DurableCore

/// A broken invariant of the tables.
package struct BrokenInvariant: Error, CustomStringConvertible {
    package var description: String
}

extension MemoryRows {
    /// Checks that the redundant columns equal a recount, and that each state agrees with its reasons.
    package func checkInvariants() throws {
        var machine = DurableMachine(rows: self, limits: DurableLimits())
        if let problem = try machine.problems(limit: 1).first { throw BrokenInvariant(description: problem) }
        for key in tables.keys.values {
            try require(!key.isEmpty, "key \(key.name) is stored without need")
            try check(key)
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
        let ready = operations(lastReady(of: [KeyShare(key.name, count: 1)])).first
        let blocked = operations(firstBlocked(of: [KeyShare(key.name, count: 1)])).first
        if let ready, let blocked {
            try require(ready.precedes(blocked), "operation \(blocked.id) is blocked behind operation \(ready.id)")
        }
    }

    private func require(_ condition: Bool, _ text: @autoclosure () -> String) throws {
        if !condition { throw BrokenInvariant(description: text()) }
    }
}
