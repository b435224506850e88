#if Postgres
import DurableCore

/// The earliest instants of the tables of things that become due. One statement loads all of them.
struct PostgresWakes {
    var wake: DurableInstant?
    /// The earliest deadline, or an instant in the future that precedes it.
    var deadline: DurableInstant?
    var key: DurableInstant?
    var schedule: DurableInstant?
    /// The first end of a lease of a worker, which is no reason to wake.
    var lease: DurableInstant?
    /// Whether operations may be suspects of the death of a worker.
    var hasSuspects = false
    /// Whether the instants are exact. A change makes them lower bounds.
    var isExact = true

    /// Lowers a bound.
    mutating func include(_ instant: DurableInstant?, _ bound: WritableKeyPath<PostgresWakes, DurableInstant?>) {
        guard let instant else { return }
        self[keyPath: bound] = self[keyPath: bound].map { min($0, instant) } ?? instant
    }
}

extension PostgresRows {
    func nextWake() throws -> DurableInstant? {
        if wakes?.isExact != true {
            try flushOperations()
            try flushKeys()
            wakes = nil
        }
        let wakes = try loadedWakes()
        return [wakes.wake, wakes.deadline, wakes.key, wakes.schedule].compactMap { $0 }.min()
    }

    /// Whether something of the kind may be due.
    func isDue(_ bound: KeyPath<PostgresWakes, DurableInstant?>) throws -> Bool {
        try loadedWakes()[keyPath: bound].map { $0 <= now } ?? false
    }

    /// Whether the question may have an answer, as far as the instants show.
    func mayAnswer(_ query: OperationQuery.Kind) throws -> Bool {
        switch query {
        case .due: try isDue(\.wake)
        case .expired: try isDue(\.deadline)
        case .suspects: try loadedWakes().hasSuspects
        case .waiting, .purgeable, .running, .cancelRequests: true
        }
    }

    private func loadedWakes() throws -> PostgresWakes {
        if let wakes { return wakes }
        try flushOperations()
        try flushKeys()
        try flushWorkers()
        try validateFloors()
        let first = try firstDeadline
        let record = try run(.wakes) { parameters in
            parameters.append(floors.wake.microseconds)
            // The server finds no entry behind NULL, and reads none.
            parameters.append(first > now ? nil : first.microseconds)
        }.first
        var found = PostgresWakes()
        if let record {
            found = PostgresWakes(
                wake: record.optionalInstant(0), deadline: record.optionalInstant(1), key: record.optionalInstant(2),
                schedule: record.optionalInstant(3), lease: record.optionalInstant(4),
                hasSuspects: record.optionalInt(5) != nil)
        }
        floors.learn(wakes: [found.wake, found.key], now: now)
        if first <= now {
            try learn(firstDeadline: found.deadline)
        } else if first.microseconds < .max {
            found.deadline = first
        }
        wakes = found
        return found
    }

    /// Keeps the instants correct after changes that are not in the database yet. Called before `operations` and `keys`
    /// contain the changes.
    func noteWakes(_ saved: Changes) throws {
        guard wakes != nil else { return }
        for row in saved.inserted + saved.updated {
            let old = operations[row.id]
            if old?.wakeAt != nil || row.wakeAt != nil { wakes?.isExact = false }
            if old?.deadline != nil, try isDue(\.deadline) { wakes?.isExact = false }
            if row.isSuspect { wakes?.hasSuspects = true }
            wakes?.include(row.wakeAt, \.wake)
            wakes?.include(row.waitingDeadline, \.deadline)
        }
        for row in saved.keys {
            if let old = keys[row.name] ?? nil, old.wakeAt != nil { wakes?.isExact = false }
            if row.wakeAt != nil { wakes?.isExact = false }
            wakes?.include(row.wakeAt, \.key)
        }
        if !saved.schedules.isEmpty || !saved.removedSchedules.isEmpty { wakes?.isExact = false }
        for row in saved.schedules { wakes?.include(row.nextAt, \.schedule) }
        for row in saved.workers { wakes?.include(row.leaseEnd, \.lease) }
    }
}
#endif
