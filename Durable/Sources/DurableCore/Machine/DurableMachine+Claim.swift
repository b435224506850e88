/// An operation that a worker has claimed, with everything that an attempt needs.
package struct Claim: Sendable {
    package var row: OperationRow
    package var name: String
    package var queue: String
    package var input: [UInt8]
    package var history: [HistoryEntry]
    /// The instant of the claim.
    package var now: DurableInstant

    package var lease: Lease? { row.worker.map { Lease(operation: row.id, worker: $0, fence: row.fence) } }
}

extension DurableMachine {
    /// Claims operations of the queues for the worker, in the order of starts.
    ///
    /// - Parameters:
    ///   - slots: The number of free slots of the worker for each queue.
    ///   - kinds: The names of the operations that the worker runs.
    ///   - ahead: The number of operations of each queue that the worker claims although no slot is free. These operations
    ///     have no key, and their queue has neither a limit nor a rate. A claim that waits for a slot therefore delays no
    ///     other operation by a limit.
    /// - Throws: `workerExpired` if the registration of the worker has expired.
    package mutating func claim(
        for worker: WorkerID, slots: [(queue: String, count: Int)], kinds: [String], ahead: [String: Int] = [:]
    ) throws -> [Claim] {
        guard let row = try rows.worker(worker) else { throw DurableError.workerExpired(worker) }
        while try endExpired() {}
        var excluded: Set<OperationID> = []
        switch try admission(of: row, slots: slots, kinds: kinds) {
        case .all: break
        case .allExcept(let suspects): excluded = suspects
        case .one(let suspect):
            return try withPayloads(start([suspect.id], of: rows.queue(suspect.queue), for: worker, count: 1))
        case .none: return []
        }
        var claims: [Claim] = []
        for (name, count) in slots where count > 0 || ahead[name, default: 0] > 0 {
            guard let queue = try rows.existingQueue(named: name) else { continue }
            var free = min(Int64(count), try allowance(of: queue))
            let ahead = Int64(ahead[name, default: 0])
            if queue.limit == nil, queue.rate == nil, !queue.isSuspended, free < .max - ahead { free += ahead }
            guard free > 0 else { continue }
            let names = Set(kinds.map(ExactName.init))
            // A worker and a queue may both be without a limit.
            let limit = Int(free).addingReportingOverflow(excluded.count)
            let ids = try firstReady(of: queue, kinds: names, limit: limit.overflow ? .max : limit.partialValue)
                .filter { !excluded.contains($0) }.prefix(Int(free))
            claims += try start(Array(ids), of: queue, for: worker, count: count)
        }
        return try withPayloads(claims)
    }

    /// Returns the number of operations of the queue that may start now on all machines.
    mutating func allowance(of queue: QueueRow) throws -> Int64 {
        if queue.isSuspended { return 0 }
        var allowance = Int64.max
        if let limit = queue.limit { allowance = try limit - rows.runningCount(of: queue.id) }
        if let rate = queue.rate { allowance = min(allowance, rate.allowance(filledAt: queue.rateFilledAt, now: now)) }
        return allowance
    }

    /// Gives leases of ready operations to the worker.
    ///
    /// - Parameter count: The number of free slots. Operations beyond them have no key.
    private mutating func start(
        _ ids: [OperationID], of queue: QueueRow, for worker: WorkerID, count: Int
    ) throws -> [Claim] {
        if ids.isEmpty { return [] }
        var queue = queue
        return try event { machine in
            let now = machine.now
            try machine.load(ids)
            var started: [Claim] = []
            for id in ids {
                guard var row = machine.work.operations[id], row.state == .ready else { continue }
                if started.count >= count, row.key != nil { break }
                row.start(by: worker, now: now)
                try machine.put(row)
                let name = try machine.rows.name(of: row.kind)
                started.append(Claim(row: row, name: name, queue: queue.name, input: [], history: [], now: now))
            }
            if let rate = queue.rate, !started.isEmpty {
                queue.rateFilledAt = rate.filledAt(
                    afterStarts: Int64(started.count), filledAt: queue.rateFilledAt, now: now)
                machine.put(queue)
            }
            return started
        }
    }

    /// Returns the first instant at which the rate of one of the queues permits a start again; nil if no rate prevents a start.
    package mutating func nextStart(ofQueues names: [String]) throws -> DurableInstant? {
        var next: DurableInstant?
        for name in names {
            guard let queue = try rows.existingQueue(named: name), let rate = queue.rate,
                rate.allowance(filledAt: queue.rateFilledAt, now: now) <= 0
            else { continue }
            let instant = rate.instant(permitting: 1, filledAt: queue.rateFilledAt, now: now)
            next = min(next ?? instant, instant)
        }
        return next
    }

    /// Returns the first ready operations of the current epoch among the lanes of the given kinds.
    private mutating func firstReady(
        of queue: QueueRow, kinds: Set<ExactName>, limit: Int
    ) throws -> [OperationID] {
        var entries: [ReadyEntry] = []
        var lanes = 0
        for (counter, count) in try rows.counters(of: queue.id, epoch: queue.currentEpoch)
        where count > 0 && counter.state == .ready {
            guard kinds.contains(ExactName(try rows.name(of: counter.kind))) else { continue }
            entries += try rows.ready(queue: queue.id, epoch: counter.epoch, kind: counter.kind, limit: limit)
            lanes += 1
        }
        if lanes > 1 { entries.sort() }
        return entries.prefix(limit).map(\.id)
    }

    private mutating func withPayloads(_ claims: [Claim]) throws -> [Claim] {
        guard !claims.isEmpty else { return [] }
        let inputs = try rows.inputs(of: claims.map(\.row.id).sorted())
        let resumed = claims.filter { $0.row.historyCount > 0 }.map(\.row.id).sorted()
        let history = resumed.isEmpty ? [:] : Dictionary(grouping: try rows.history(of: resumed), by: \.operation)
        return claims.map { claim in
            var claim = claim
            claim.input = inputs[claim.row.id] ?? []
            claim.history = (history[claim.row.id] ?? []).sorted { $0.position < $1.position }
            return claim
        }
    }
}

extension OperationRow {
    /// Gives the lease to the worker.
    mutating func start(by worker: WorkerID, now: DurableInstant) {
        (state, self.worker, startedAt) = (.running, worker, now)
        fence += 1
    }
}
