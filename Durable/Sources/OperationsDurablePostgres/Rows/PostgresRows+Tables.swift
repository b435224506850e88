#if Postgres
import DurableCore

extension PostgresRows {
    func keys(_ names: [KeyName]) throws -> [KeyRow] {
        let missing = names.filter { keys[$0] == nil }
        if !missing.isEmpty {
            for name in missing { keys[name] = .some(nil) }
            let found = try run(.keysByName) { parameters in
                parameters.append(PostgresArray(missing.lazy.map(\.queue.rawValue)))
                parameters.append(PostgresArray(.text, missing.lazy.map(\.key)) { $0.append($1) })
            }
            for row in found.map({ KeyRow($0) }) { keys[row.name] = row }
        }
        return names.compactMap { keys[$0] ?? nil }
    }

    func keys(of queue: QueueID) throws -> [KeyRow] {
        try flushKeys()
        return try run(.keys) { $0.append(queue.rawValue) }.map { KeyRow($0) }
    }

    func dueKeys(limit: Int) throws -> [KeyName] {
        guard try isDue(\.key) else { return [] }
        try flushKeys()
        return try run(.dueKeys) { $0.append(now, limit) }.map {
            KeyName(queue: QueueID($0.int(0)), key: $0.text(1))
        }
    }

    func unique(kind: KindID, key: String) throws -> UniqueRow? {
        if let changed = changes.uniques[UniqueName(kind: kind, key: ExactName(key))] { return changed }
        return try run(.unique) { parameters in
            parameters.append(kind.rawValue)
            parameters.append(key)
        }.first.map { UniqueRow($0) }
    }

    func uniquePeriods(of ids: [OperationID]) throws -> [OperationID: DurableInstant] {
        try flushRecords()
        let periods = try run(.uniquePeriods) { $0.append(ids) }.map { (OperationID($0.int(0)), $0.optionalInstant(1)) }
        return Dictionary(periods.compactMap { id, end in end.map { (id, $0) } }, uniquingKeysWith: max)
    }

    func history(of ids: [OperationID]) throws -> [HistoryEntry] {
        try flushRecords()
        return try run(.history) { $0.append(ids) }.map { HistoryEntry($0) }.sorted {
            ($0.operation, $0.position) < ($1.operation, $1.position)
        }
    }

    func signal(_ name: String, for operation: OperationID) throws -> SignalRow? {
        try run(.signal) { parameters in
            parameters.append(operation.rawValue)
            parameters.append(name)
        }.first.map { SignalRow($0) }
    }

    func nextSignalNumber(for operation: OperationID) throws -> Int64 {
        (try run(.lastSignal) { $0.append(operation.rawValue) }.first?.optionalInt(0) ?? 0) + 1
    }

    func worker(_ id: WorkerID) throws -> WorkerRow? {
        if let known = workerRows[id] { return known }
        let row = try run(.worker) { $0.append(id.rawValue) }.first.map { WorkerRow($0) }
        workerRows[id] = .some(row)
        return row
    }

    func workers() throws -> [WorkerRow] {
        try flushWorkers()
        return try run(.workers).map { WorkerRow($0) }
    }

    func expiredWorkers() throws -> [WorkerID] {
        let seen = try isDue(\.lease) ? workers().filter { $0.leaseEnd < now } : []
        let due = expiredLeases.look(at: seen, now: now)
        guard !due.isEmpty else { return [] }
        return try run(.expiredWorkers) { $0.append(now.microseconds) }.map { WorkerID($0.int(0)) }.filter(due.contains)
    }

    func schedule(named name: String) throws -> ScheduleRow? {
        try run(.schedule) { $0.append(name) }.first.map { ScheduleRow($0) }
    }

    func schedules() throws -> [ScheduleRow] { try run(.schedules).map { ScheduleRow($0) } }

    func dueSchedules() throws -> [ScheduleRow] {
        guard try isDue(\.schedule) else { return [] }
        return try run(.dueSchedules) { $0.append(now.microseconds) }.map { ScheduleRow($0) }.sorted {
            ExactName($0.name) < ExactName($1.name)
        }
    }

    // MARK: - Records

    func attempts(of operation: OperationID) throws -> [AttemptRow] {
        try flushRecords()
        return try run(.attempts) { $0.append(operation.rawValue) }.map { AttemptRow($0) }
    }

    func events(after number: Int64, limit: Int) throws -> [EventRow] {
        try flushRecords()
        return try run(.events) { parameters in
            parameters.append(number)
            parameters.append(Int64(limit))
        }.map { EventRow($0) }
    }

    func removeEvents(before instant: DurableInstant, limit: Int) throws {
        try flushRecords()
        try write(.removeEvents) { $0.append(instant, limit) }
    }

    // MARK: - Changes

    func save(_ saved: Changes) throws {
        try noteWakes(saved)
        try noteDeadlines(of: saved.inserted)
        try noteDeadlines(of: saved.updated)
        operations.reserveCapacity(operations.count + saved.inserted.count)
        changes.inserted.reserveCapacity(changes.inserted.count + saved.inserted.count)
        changes.inputs.reserveCapacity(changes.inputs.count + saved.inserted.count)
        for row in saved.inserted {
            operations[row.id] = row
            changes.inserted.insert(row.id)
            changes.inputs[row.id] = saved.inputs[row.id] ?? []
        }
        for row in saved.updated {
            try noteFloor(row)
            operations[row.id] = row
            if !changes.inserted.contains(row.id) { changes.updated.insert(row.id) }
        }
        for (id, input) in saved.replacedInputs {
            if changes.inserted.contains(id) { changes.inputs[id] = input } else { changes.replacedInputs[id] = input }
        }
        changes.outputs.merge(saved.outputs) { $1 }
        changes.edges += saved.edges
        for edge in saved.edges { edgeless.remove(edge.dependency) }
        for (counter, change) in saved.counters { count(counter, by: change) }
        for row in saved.queues { save(row) }
        for row in saved.keys {
            keys[row.name] = row
            changes.keys.insert(row.name)
        }
        for row in saved.uniques { changes.uniques[row.name] = row }
        for entry in saved.history {
            let name = PostgresChanges.HistoryName(operation: entry.operation, position: entry.position)
            changes.history[name, default: entry].result = entry.result
        }
        for row in saved.attempts {
            changes.attempts[PostgresChanges.AttemptName(operation: row.operation, fence: row.fence)] = row
        }
        changes.keptAttempts.merge(saved.keptAttempts) { $1 }
        changes.events += saved.events
        hasEvents = hasEvents || !saved.events.isEmpty
        if let instant = saved.observedUntil { setObservedUntil(instant) }
        for row in saved.workers { workerRows[row.id] = .some(row) }
        for id in saved.removedWorkers { workerRows[id] = .some(nil) }
        let numbers = [PostgresColumn<SignalRow>(int: \.operation.rawValue), PostgresColumn(int: \.number)]
        try write(.removeSignal, set: saved.consumedSignals, numbers)
        try write(.insertSignals, rows: saved.signals)
        changes.workers.formUnion((saved.workers.map(\.id) + saved.removedWorkers))
        try write(.saveSchedules, rows: saved.schedules)
        try write(.removeSchedule, set: saved.removedSchedules, [PostgresColumn(text: { $0 })])
    }
}
#endif
