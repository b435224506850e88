import DurableCore
import Logging
import Operations

/// The regular work of a registered worker beside its exchanges: heartbeats, leases of other workers, and old records.
struct WorkerHeart: Sendable {
    let store: any DurableStore
    let worker: WorkerID
    let configuration: DurableWorker.Configuration
    let logger: WorkerLogger
    /// Makes the worker exchange with the store. The argument is true if the leases of the worker have expired.
    let rouse: @Sendable (_ hasExpired: Bool) -> Void

    /// Works until the registration expires or the task is cancelled.
    func beat() async {
        await withTaskGroup { group in
            group.addTask { await renewLeases() }
            group.addTask { await maintain() }
        }
    }

    /// Renews the leases. No renewal waits for a transaction.
    private func renewLeases() async {
        var last: String?
        while !Task.isCancelled {
            try? await OperationClock().sleep(for: configuration.lease / 3)
            if Task.isCancelled { return }
            do {
                let obstacle = try await store.renewLeases(of: worker, for: configuration.lease)
                if let obstacle, last == nil {
                    logger.log(
                        .warning, "a long transaction delays all others", worker, ["holder": "\(obstacle)"])
                }
                last = obstacle
            } catch let error as DurableError where error == .workerExpired(worker) {
                // The next exchange finds the same, perhaps much later: it waits for transactions.
                return rouse(true)
            } catch {}
        }
    }

    /// Stores the renewed leases, releases those of other workers, and removes old records.
    private func maintain() async {
        let lease = configuration.lease
        while !Task.isCancelled {
            try? await OperationClock().sleep(for: lease / 3)
            if Task.isCancelled { return }
            do {
                try await store.commit { machine in
                    try machine.heartbeat(worker, lease: lease)
                    try machine.expireLeases()
                }
                try await purge(for: lease / 6)
            } catch let error as DurableError where error == .workerExpired(worker) || error.isExclusion {
                // The next exchange finds the same.
                return rouse(false)
            } catch {}
        }
    }

    /// Removes old records in small steps until none is left or the time has passed.
    ///
    /// One step for each heartbeat would remove 50 operations a second, and the table of a busy queue would grow for ever.
    private func purge(for time: Duration) async throws {
        let end = ContinuousClock.now + time
        while !Task.isCancelled {
            let start = ContinuousClock.now
            let isDone = try await store.commit { machine in
                let hasOldEvents = try machine.removeOldEvents()
                return try machine.purge() == 0 && !hasOldEvents
            }
            if isDone || ContinuousClock.now >= end { return }
            // Other transactions have at least half of the time.
            try await OperationClock().sleep(for: ContinuousClock.now - start)
        }
    }
}
