#if Postgres
import DurableCore

/// The leases that a store has seen expired. It takes a lease at a second look, some time after the first.
///
/// A lock of the rows of workers stops heartbeats, too. When the lock ends, a heartbeat that has waited for it and a look at the
/// leases race, and the server does not keep their order. So a lease that was expired at one look may be renewed at once.
struct ExpiredLeases: Sendable {
    private struct Sighting {
        let leaseEnd: DurableInstant
        let first: DurableInstant
    }

    /// The time between the first look and the taking.
    let patience: Duration
    private var sightings: [WorkerID: Sighting] = [:]

    init(patience: Duration) { self.patience = patience }

    /// Notes the workers whose leases are expired now, and returns those whose leases may be taken.
    mutating func look(at expired: [WorkerRow], now: DurableInstant) -> Set<WorkerID> {
        let before = sightings
        sightings = [:]
        var due: Set<WorkerID> = []
        for worker in expired {
            let known = before[worker.id].flatMap { $0.leaseEnd == worker.leaseEnd ? $0 : nil }
            let sighting = known ?? Sighting(leaseEnd: worker.leaseEnd, first: now)
            sightings[worker.id] = sighting
            if now - sighting.first >= patience { due.insert(worker.id) }
        }
        return due
    }
}
#endif
