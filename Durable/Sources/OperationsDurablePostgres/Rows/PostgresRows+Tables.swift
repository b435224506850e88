#if Postgres
import DurableCore

extension PostgresRows {
    func key(_ name: KeyName) throws -> KeyRow? {
        if let known = keys[name] { return known }
        let row = try run(.key) { parameters in
            parameters.append(name.queue.rawValue)
            parameters.append(name.key)
        }.first?.keyRow(in: name.queue)
        keys[name] = .some(row)
        return row
    }

    func keys(of queue: QueueID) throws -> [KeyRow] {
        try flushKeys()
        return try run(.keys) { $0.append(queue.rawValue) }.map { $0.keyRow(in: queue) }
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
        }.first.map {
            UniqueRow(kind: kind, key: key, operation: OperationID($0.int(0)), heldUntil: $0.instant(1))
        }
    }

    func uniquePeriods(of ids: [OperationID]) throws -> [OperationID: DurableInstant] {
        try flushRecords()
        let periods = try run(.uniquePeriods) { $0.append(ids) }.map { (OperationID($0.int(0)), $0.instant(1)) }
        return Dictionary(periods.compactMap { id, end in end.map { (id, $0) } }, uniquingKeysWith: max)
    }

    func history(of ids: [OperationID]) throws -> [HistoryEntry] {
        try flushRecords()
        return try run(.history) { $0.append(ids) }.map(\.historyEntry).sorted {
            ($0.operation, $0.position) < ($1.operation, $1.position)
        }
    }

    func signal(_ name: String, for operation: OperationID) throws -> SignalRow? {
        try run(.signal) { parameters in
            parameters.append(operation.rawValue)
            parameters.append(name)
        }.first.map { SignalRow(operation: operation, name: name, number: $0.int(0), payload: $0.bytes(1)) }
    }

    func nextSignalNumber(for operation: OperationID) throws -> Int64 {
        (try run(.lastSignal) { $0.append(operation.rawValue) }.first?.optionalInt(0) ?? 0) + 1
    }

    func worker(_ id: WorkerID) throws -> WorkerRow? {
        if let known = workerRows[id] { return known }
        let row = try run(.worker) { $0.append(id.rawValue) }.first?.workerRow
        workerRows[id] = .some(row)
        return row
    }

    func workers() throws -> [WorkerRow] {
        try flushWorkers()
        return try run(.workers).map(\.workerRow)
    }

    func expiredWorkers() throws -> [WorkerID] {
        guard try isDue(\.lease) else { return [] }
        try flushWorkers()
        return try run(.expiredWorkers) { $0.append(now.microseconds) }.map { WorkerID($0.int(0)) }
    }

    func schedule(named name: String) throws -> ScheduleRow? {
        try run(.schedule) { $0.append(name) }.first?.scheduleRow
    }

    func schedules() throws -> [ScheduleRow] { try run(.schedules).map(\.scheduleRow) }

    func dueSchedules() throws -> [ScheduleRow] {
        guard try isDue(\.schedule) else { return [] }
        return try run(.dueSchedules) { $0.append(now.microseconds) }.map(\.scheduleRow).sorted {
            ExactName($0.name) < ExactName($1.name)
        }
    }

    // MARK: - Records

    func attempts(of operation: OperationID) throws -> [AttemptRow] {
        try flushRecords()
        return try run(.attempts) { $0.append(operation.rawValue) }.map(\.attemptRow)
    }

    func events(after number: Int64, limit: Int) throws -> [EventRow] {
        try flushRecords()
        return try run(.events) { parameters in
            parameters.append(number)
            parameters.append(Int64(limit))
        }.map(\.eventRow)
    }

    func removeEvents(before instant: DurableInstant, limit: Int) throws {
        try flushRecords()
        try write(.removeEvents) { $0.append(instant, limit) }
    }

    // MARK: - Changes

    func save(_ saved: Changes) throws {
        noteWakes(saved)
        for row in saved.inserted {
            operations[row.id] = row
            changes.inserted.insert(row.id)
            changes.inputs[row.id] = saved.inputs[row.id] ?? []
        }
        for row in saved.updated {
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
        try write(.removeSignal, set: saved.consumedSignals, PostgresColumn.numbers)
        try write(.insertSignals, set: saved.signals, PostgresColumn.signals)
        changes.workers.formUnion((saved.workers.map(\.id) + saved.removedWorkers))
        for row in saved.schedules { try write(.saveSchedule) { $0.append(row) } }
        try write(.removeSchedule, set: saved.removedSchedules, [PostgresColumn(text: { $0 })])
    }
}
#endif
