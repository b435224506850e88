extension DurableMachine {
    /// The largest number of dependencies and children that an explanation lists.
    private static let listed = 10

    /// Returns the reasons for which an operation does not run. The call changes nothing.
    ///
    /// - Throws: `unknownOperation`.
    package mutating func explain(_ id: OperationID) throws -> DurableExplanation {
        guard let row = try rows.operations([id]).first else { throw DurableError.unknownOperation(id) }
        let name = try rows.name(of: row.kind)
        var reasons: [DurableExplanation.Reason]
        switch row.state {
        case .waiting: reasons = try dependencies(of: row)
        case .scheduled:
            let wakeAt = row.wakeAt ?? now
            reasons = [row.failures > 0 ? .retriesAt(wakeAt, lastError: row.reason ?? "") : .startsAt(wakeAt)]
            // The next worker makes the operation ready.
            if wakeAt <= now { reasons += try absentWorkers(of: row, name: name) }
        case .blocked: reasons = try keyObstacles(of: row) + obstacles(of: row, name: name)
        case .ready:
            let obstacles = try obstacles(of: row, name: name)
            reasons = obstacles.isEmpty ? [.waitsForSlot] : obstacles
        case .running:
            let worker = try row.worker.flatMap { try rows.worker($0) }
            let label = worker.map { $0.name.isEmpty ? "\($0.id)" : $0.name } ?? ""
            reasons =
                [.runs(worker: label, since: row.startedAt)] + (row.isCancelRequested ? [.cancelRequested] : [])
            if let end = worker?.leaseEnd, end < now {
                reasons.append(.leaseExpired(at: end))
                reasons += try absentWorkers(of: row, name: name)
            }
        case .awaitingSignal: reasons = [.awaitsSignal(row.signal ?? "", until: row.wakeAt)]
        case .finishing:
            reasons = try rows.unfinishedChildren(of: [id]).prefix(Self.listed).map { .waitsForChild($0) }
        case .succeeded, .failed, .cancelled, .discarded, .crashed:
            reasons = [.ended(row.state, reason: row.reason ?? "")]
        }
        if row.isSuspect { reasons.append(.runsAlone(crashes: Int(row.crashes))) }
        return DurableExplanation(id: id, name: name, state: row.state, reasons: reasons)
    }

    private mutating func dependencies(of row: OperationRow) throws -> [DurableExplanation.Reason] {
        let ids = try rows.edges(to: [row.id]).map(\.dependency)
        let listed = try rows.operations(Array(ids.prefix(Self.listed)))
        var reasons: [DurableExplanation.Reason] = try listed.map {
            .waitsFor($0.id, name: try rows.name(of: $0.kind), state: $0.state)
        }
        if ids.count > listed.count { reasons.append(.waitsForMore(count: ids.count - listed.count)) }
        return reasons
    }

    /// Returns the limit and the rate of the key, if they prevent that a blocked operation becomes ready.
    private mutating func keyObstacles(of row: OperationRow) throws -> [DurableExplanation.Reason] {
        guard let name = row.keyName else { return [] }
        let key = try rows.keys([name]).first ?? KeyRow(name: name)
        let queue = try rows.queue(row.queue)
        var reasons: [DurableExplanation.Reason] = []
        if let limit = key.limit ?? queue.limitPerKey, key.ready + key.running >= limit {
            reasons.append(.limitOfKey(name.key, limit: Int(limit)))
        }
        if let rate = key.rate ?? queue.ratePerKey, key.ready >= rate.allowance(filledAt: key.rateFilledAt, now: now) {
            let next = rate.instant(permitting: 1, filledAt: key.rateFilledAt, now: now)
            reasons.append(.rateOfKey(name.key, until: next))
        }
        return reasons
    }

    /// Returns everything of the queue and the workers that prevents the start of a ready operation.
    private mutating func obstacles(of row: OperationRow, name: String) throws -> [DurableExplanation.Reason] {
        let queue = try rows.queue(row.queue)
        var reasons: [DurableExplanation.Reason] = []
        if queue.isSuspended { reasons.append(.queueSuspended(queue.name)) }
        if row.epoch > queue.currentEpoch {
            let earlier = try rows.counters(of: row.queue).filter { counter, _ in
                counter.epoch != Counter.ended && counter.epoch < row.epoch
            }
            reasons.append(.barrier(queue: queue.name, unfinished: Int(earlier.values.reduce(0, +))))
        }
        if let limit = queue.limit, try rows.runningCount(of: row.queue) >= limit {
            reasons.append(.limitOfQueue(queue.name, limit: Int(limit)))
        }
        if let rate = queue.rate, rate.allowance(filledAt: queue.rateFilledAt, now: now) == 0 {
            let next = rate.instant(permitting: 1, filledAt: queue.rateFilledAt, now: now)
            reasons.append(.rateOfQueue(queue.name, until: next))
        }
        return try reasons + absentWorkers(of: row, name: name)
    }

    /// Returns the reason if no worker with a lease runs operations of the queue and the name.
    private mutating func absentWorkers(of row: OperationRow, name: String) throws -> [DurableExplanation.Reason] {
        let queue = try rows.queue(row.queue).name
        let workers = try rows.workers().filter { $0.leaseEnd >= now && $0.queues.containsExactly(queue) }
        if workers.isEmpty { return [.noWorkerServes(queue: queue)] }
        return workers.contains { $0.kinds.containsExactly(name) } ? [] : [.noWorkerRegisters(name)]
    }
}
