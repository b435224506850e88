/// Operations whose workers die, for example because the operation traps or uses all memory of its process.
///
/// A death has one cause among the operations that ran in the process. Each of them is a suspect, and runs again alone in a
/// process. A death of an operation that ran alone is its own, and clears the suspects of its earlier death. An operation never
/// ends as crashed because of a neighbor.
extension DurableMachine {
    /// Releases the operations of a worker that vanished.
    mutating func releaseOperations(of worker: WorkerRow) throws {
        let rows = try existingOperations(rows.operations(.running(worker.id)))
        let isAlone = try rows.count == 1 && isAlone(worker)
        if isAlone, let death = rows[0].death {
            try clearSuspects(of: death, except: rows[0].id)
        }
        for var row in rows {
            row.lostLeases += 1
            row.crashes += 1
            row.death = worker.id
            try record(.lostLease, of: row, reason: "the worker vanished")
            if row.isCancelRequested {
                try putBack(&row)
            } else if isAlone, row.crashes >= limits.maxCrashes {
                try endWork(&row, as: .crashed, reason: "the worker vanished in \(row.crashes) attempts")
            } else {
                let delay = OperationRow.delay(afterCrash: row.crashes)
                if delay == .zero {
                    try makeReady(&row)
                } else {
                    (row.state, row.wakeAt) = (.scheduled, now + delay)
                    try put(row)
                }
            }
        }
    }

    /// Whether no other worker of the process runs an operation, or ran one when the process died.
    private mutating func isAlone(_ worker: WorkerRow) throws -> Bool {
        guard let process = worker.certainProcess else { return false }
        return try siblings(of: worker.id, in: process).allSatisfy { try rows.operations(.running($0.id)).isEmpty }
    }

    /// Returns the other workers of a process.
    private mutating func siblings(of worker: WorkerID, in process: String) throws -> [WorkerRow] {
        try rows.workers().filter { $0.process == process && $0.id != worker }
    }

    /// Makes other workers of a process that died no witnesses: one of them may have had the operation that ended the process.
    mutating func forgetProcess(of worker: WorkerRow) throws {
        guard let process = worker.certainProcess else { return }
        for var sibling in try siblings(of: worker.id, in: process)
        where !work.changes.workers.contains(where: { $0.id == sibling.id }) {
            sibling.setDoubt(true)
            work.changes.workers.append(sibling)
        }
    }

    /// Makes the workers of a process that lives witnesses again.
    mutating func rememberProcess(_ process: String) throws {
        for var worker in try rows.workers() where worker.certainProcess == nil {
            worker.setDoubt(false)
            if worker.process == process { work.changes.workers.append(worker) }
        }
    }

    /// Undoes the suspicion after the expiry of a worker whose process lives, for example on a busy machine.
    mutating func forgiveDeath(of worker: WorkerID) throws {
        for var row in try existingOperations(rows.operations(.suspects)) where row.death == worker {
            row.crashes -= 1
            row.death = nil
            try endBackoff(of: &row)
        }
    }

    private mutating func clearSuspects(of death: WorkerID, except guilty: OperationID) throws {
        for var row in try existingOperations(rows.operations(.suspects)) where row.death == death && row.id != guilty {
            row.clear()
            try endBackoff(of: &row)
        }
    }

    /// Saves an operation that waits no longer because of a death.
    private mutating func endBackoff(of row: inout OperationRow) throws {
        if row.state == .scheduled { try makeReady(&row) } else { try put(row) }
    }

    /// The operations that a worker may claim.
    enum Admission {
        case all
        case allExcept(Set<OperationID>)
        /// One suspect, and nothing else.
        case one(OperationRow)
        case none
    }

    /// Returns the operations that a worker may claim, and saves the suspect for which its process becomes free.
    ///
    /// - Parameter slots: The number of free slots for each queue.
    mutating func admission(
        of worker: WorkerRow, slots: [(queue: String, count: Int)], kinds: [String]
    ) throws -> Admission {
        let (admission, isolates) = try decideAdmission(of: worker, slots: slots, kinds: kinds)
        if worker.isolates != isolates {
            try event { machine in
                var worker = worker
                worker.isolates = isolates
                machine.work.changes.workers.append(worker)
                machine.work.isChanged = true
            }
        }
        return admission
    }

    private mutating func decideAdmission(
        of worker: WorkerRow, slots: [(queue: String, count: Int)], kinds: [String]
    ) throws -> (Admission, isolates: OperationID?) {
        let ids = try rows.operations(.suspects)
        if ids.isEmpty { return (.all, nil) }
        let suspects = try rows.operations(ids)
        let family = try worker.certainProcess.map { try siblings(of: worker.id, in: $0) } ?? []
        let own = Set(family.map(\.id) + [worker.id])
        if suspects.contains(where: { $0.state == .running && $0.worker.map(own.contains) == true }) {
            return (.none, worker.isolates)
        }
        let candidates = try startable(suspects, slots: slots, kinds: kinds)
        guard let first = candidates.first else {
            // Another worker of the process waits until the process is free for its suspect.
            let awaited = Set(family.compactMap(\.isolates))
            if suspects.contains(where: { $0.state == .ready && awaited.contains($0.id) }) {
                return (.none, worker.isolates)
            }
            return (.allExcept(Set(ids)), nil)
        }
        if try own.allSatisfy({ try rows.operations(.running($0)).isEmpty }) { return (.one(first), nil) }
        // One process becomes free at a time. The others continue.
        let others = try rows.workers().filter { $0.leaseEnd >= now && !own.contains($0.id) }
        let isAwaited = others.contains { other in candidates.contains { $0.id == other.isolates } }
        return isAwaited ? (.allExcept(Set(ids)), worker.isolates) : (.none, first.id)
    }

    /// Returns the suspects that the worker may start now, in the order of starts.
    private mutating func startable(
        _ suspects: [OperationRow], slots: [(queue: String, count: Int)], kinds: [String]
    ) throws -> [OperationRow] {
        var found: [OperationRow] = []
        for (name, count) in slots where count > 0 {
            guard let queue = try rows.existingQueue(named: name), try allowance(of: queue) > 0 else { continue }
            for row in suspects where row.queue == queue.id && row.state == .ready && row.epoch == queue.currentEpoch {
                if kinds.containsExactly(try rows.name(of: row.kind)) { found.append(row) }
            }
        }
        return found.sorted { $0.precedes($1) }
    }
}

extension OperationRow {
    /// Whether the operation ran in a worker that died, and no attempt has ended since.
    package var isSuspect: Bool { crashes > 0 && !state.isEnded }

    /// Forgets the deaths of workers. The next attempt of the operation has neighbors.
    mutating func clear() { (crashes, death) = (0, nil) }

    /// The time before the next attempt. The first repetition is immediate: each suspect but one is innocent.
    package static func delay(afterCrash crashes: Int64) -> Duration {
        crashes < 2 ? .zero : .seconds(min(1 << min(crashes - 2, 16), 60))
    }
}
