extension DurableMachine {
    /// Registers a worker and returns its identifier.
    ///
    /// - Parameters:
    ///   - kinds: The names of the operations that the worker runs.
    ///   - lease: The time after the last heartbeat at which the leases of the worker expire.
    ///   - process: The text that identifies the process; nil if other operations of the process are unknown.
    ///   - survived: An earlier registration of the same process, whose leases expired although the process lives.
    package mutating func register(
        _ name: String, kinds: [String], queues: [String], lease: Duration, process: String? = nil,
        survived: WorkerID? = nil
    ) throws -> WorkerID {
        try event { machine in
            if let survived {
                try machine.forgiveDeath(of: survived)
                if let process { try machine.rememberProcess(process) }
            }
            for kind in kinds { try machine.limits.checkName(kind) }
            let id = try machine.rows.reserveWorkerID()
            machine.work.changes.workers.append(
                WorkerRow(
                    id: id, name: name, leaseEnd: machine.now + lease, kinds: kinds.sorted(), queues: queues.sorted(),
                    process: process))
            machine.work.isChanged = true
            return id
        }
    }

    /// Renews all leases of the worker.
    ///
    /// - Throws: `workerExpired` if the leases have expired and another event has released the operations.
    package mutating func heartbeat(_ id: WorkerID, lease: Duration) throws {
        try event { machine in
            guard var worker = try machine.rows.worker(id) else { throw DurableError.workerExpired(id) }
            worker.leaseEnd = max(worker.leaseEnd, machine.now + lease)
            machine.work.changes.workers.append(worker)
            machine.work.isChanged = true
        }
    }

    /// Removes the worker, and makes its running operations ready without counting an attempt.
    package mutating func leave(_ id: WorkerID) throws {
        try event { machine in
            for var row in try machine.existingOperations(machine.rows.operations(.running(id))) {
                try machine.putBack(&row)
            }
            machine.work.changes.removedWorkers.append(id)
            machine.work.isChanged = true
        }
    }

    /// Releases the operations of workers whose leases have expired. Returns the workers.
    @discardableResult
    package mutating func expireLeases() throws -> [WorkerID] {
        let expired = try rows.expiredWorkers()
        guard !expired.isEmpty else { return [] }
        try event { machine in
            let workers = try expired.compactMap { try machine.rows.worker($0) }
            // A worker without operations cannot have ended its process.
            let witnesses = try workers.filter { try !machine.rows.operations(.running($0.id)).isEmpty }
            for worker in workers { try machine.releaseOperations(of: worker) }
            for worker in witnesses { try machine.forgetProcess(of: worker) }
            machine.work.changes.removedWorkers = expired
            machine.work.isChanged = true
        }
        return expired
    }

    /// Releases the running operations of the worker except those of the given leases.
    ///
    /// A worker calls the function after the reply to a claim may have been lost: the worker does not know these leases.
    package mutating func release(from worker: WorkerID, except known: Set<Lease>) throws {
        let ids = try rows.operations(.running(worker))
        if ids.isEmpty { return }
        try event { machine in
            for var row in try machine.existingOperations(ids) {
                let lease = Lease(operation: row.id, worker: worker, fence: row.fence)
                if !known.contains(lease) { try machine.putBack(&row) }
            }
        }
    }

    /// Makes a running operation ready again, or ends the operation if a caller requested its cancellation.
    mutating func putBack(_ row: inout OperationRow) throws {
        if row.isCancelRequested { try endWork(&row, as: .cancelled, reason: row.reason) } else { try makeReady(&row) }
    }

    /// Returns the running operation of a lease.
    ///
    /// - Throws: `leaseLost` if the worker does not hold the lease any more.
    mutating func leased(_ lease: Lease) throws -> OperationRow {
        try load(CollectionOfOne(lease.operation))
        guard let row = work.operations[lease.operation], row.isRunning(under: lease) else {
            throw DurableError.leaseLost(lease.operation)
        }
        return row
    }
}

extension OperationRow {
    /// Whether the operation runs, and the lease is the current lease.
    package func isRunning(under lease: Lease) -> Bool {
        state == .running && worker == lease.worker && fence == lease.fence
    }
}
