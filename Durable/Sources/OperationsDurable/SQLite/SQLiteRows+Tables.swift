import DurableCore

extension SQLiteRows {
    func keys(_ names: [KeyName]) throws -> [KeyRow] {
        var rows: [KeyRow] = []
        for name in names { try run(.key, { $0.bind(name) }, row: { rows.append(KeyRow($0)) }) }
        return rows
    }

    func keys(of queue: QueueID) throws -> [KeyRow] {
        var rows: [KeyRow] = []
        try run(.keys, { $0.bind(1, queue.rawValue) }, row: { rows.append(KeyRow($0)) })
        return rows
    }

    func dueKeys(limit: Int) throws -> [KeyName] {
        var names: [KeyName] = []
        try run(.dueKeys, { $0.bind(now, limit) }) { query in
            names.append(KeyName(queue: QueueID(query.int(0)), key: query.text(1)))
        }
        return names
    }

    func unique(kind: KindID, key: String) throws -> UniqueRow? {
        var row: UniqueRow?
        try run(.unique) { query in
            query.bind(1, kind.rawValue)
            query.bind(2, key)
        } row: {
            row = UniqueRow($0)
        }
        return row
    }

    func uniquePeriods(of ids: [OperationID]) throws -> [OperationID: DurableInstant] {
        var periods: [OperationID: DurableInstant] = [:]
        for id in ids {
            try run(.uniquePeriod, { $0.bind(1, id.rawValue) }, row: { periods[id] = $0.optionalInstant(0) })
        }
        return periods
    }

    func history(of ids: [OperationID]) throws -> [HistoryEntry] {
        var entries: [HistoryEntry] = []
        for id in ids {
            try run(.history, { $0.bind(1, id.rawValue) }, row: { entries.append(HistoryEntry($0)) })
        }
        return entries
    }

    func signal(_ name: String, for operation: OperationID) throws -> SignalRow? {
        var row: SignalRow?
        try run(.signal) { query in
            query.bind(1, operation.rawValue)
            query.bind(2, name)
        } row: {
            row = SignalRow($0)
        }
        return row
    }

    func nextSignalNumber(for operation: OperationID) throws -> Int64 {
        var last: Int64 = 0
        try run(.lastSignal, { $0.bind(1, operation.rawValue) }, row: { last = $0.int(0) })
        return last + 1
    }

    func worker(_ id: WorkerID) throws -> WorkerRow? {
        var row: WorkerRow?
        try run(.worker, { $0.bind(1, id.rawValue) }, row: { row = WorkerRow($0) })
        return row
    }

    func workers() throws -> [WorkerRow] {
        var rows: [WorkerRow] = []
        try run(.workers, { _ in }, row: { rows.append(WorkerRow($0)) })
        return rows.map { row in
            var row = row
            row.leaseEnd = leaseEnd(of: row.id, stored: row.leaseEnd)
            return row
        }
    }

    func expiredWorkers() throws -> [WorkerID] {
        var ids: [WorkerID] = []
        try run(.expiredWorkers, { $0.bind(1, now.microseconds) }, row: { ids.append(WorkerID($0.int(0))) })
        return ids.filter { leaseEnd(of: $0, stored: DurableInstant(microseconds: .min)) < now }
    }

    func schedule(named name: String) throws -> ScheduleRow? { try schedules(.schedule) { $0.bind(1, name) }.first }

    func schedules() throws -> [ScheduleRow] { try schedules(.schedules) { _ in } }

    func dueSchedules() throws -> [ScheduleRow] { try schedules(.dueSchedules) { $0.bind(1, now) } }

    private func schedules(_ sql: SQL, _ bind: (SQLiteQuery) -> Void) throws -> [ScheduleRow] {
        var rows: [ScheduleRow] = []
        try run(sql, bind, row: { rows.append(ScheduleRow($0)) })
        return rows
    }

    func save(_ changes: Changes) throws {
        for row in changes.inserted { try insert(row, input: changes.inputs[row.id] ?? []) }
        for row in changes.updated { try run(.updateOperation) { $0.bind(row) } }
        for (id, input) in changes.replacedInputs {
            try run(.removeInput) { $0.bind(1, id.rawValue) }
            try run(.replaceInput) { query in
                query.bind(1, id.rawValue)
                query.bind(2, input.count <= Self.inlineBytes ? input : nil)
            }
            if input.count > Self.inlineBytes { try insertInput(input, of: id) }
        }
        for (id, output) in changes.outputs {
            try run(.insertOutput) { query in
                query.bind(1, id.rawValue)
                query.bind(2, output)
            }
        }
        for edge in changes.edges { try run(.insertEdge) { $0.bind(edge) } }
        for (counter, change) in changes.counters { count(counter, by: change) }
        for row in changes.queues { save(row) }
        for row in changes.keys { try save(row) }
        for row in changes.uniques { try run(.saveUnique) { $0.bind(row) } }
        for entry in changes.history { try run(.insertHistory) { $0.bind(entry) } }
        for signal in changes.consumedSignals {
            try run(.removeSignal) { query in
                query.bind(1, signal.operation.rawValue)
                query.bind(2, signal.number)
            }
        }
        for signal in changes.signals { try run(.insertSignal) { $0.bind(signal) } }
        for row in changes.workers { try run(.saveWorker) { $0.bind(row) } }
        for id in changes.removedWorkers { try run(.removeWorker) { $0.bind(1, id.rawValue) } }
        for row in changes.schedules { try run(.saveSchedule) { $0.bind(row) } }
        for name in changes.removedSchedules { try run(.removeSchedule) { $0.bind(1, name) } }
        for attempt in changes.attempts { try run(.insertAttempt) { $0.bind(attempt) } }
        for (id, count) in changes.keptAttempts {
            try run(.trimAttempts) { query in
                query.bind(1, id.rawValue)
                query.bind(2, Int64(count))
            }
        }
        for event in changes.events { try run(.insertEvent) { $0.bind(event) } }
        if let instant = changes.observedUntil { setObservedUntil(instant) }
    }

    private func insert(_ row: OperationRow, input: [UInt8]) throws {
        let isInline = input.count <= Self.inlineBytes
        try run(.insertOperation) { query in
            query.bind(row)
            query.bind(34, isInline ? input : nil)
        }
        if !isInline { try insertInput(input, of: row.id) }
    }

    private func insertInput(_ input: [UInt8], of id: OperationID) throws {
        try run(.insertInput) { query in
            query.bind(1, id.rawValue)
            query.bind(2, input)
        }
    }

    private func save(_ row: KeyRow) throws {
        if row.isEmpty {
            try run(.removeKey) { $0.bind(row.name) }
        } else {
            try run(.saveKey) { $0.bind(row) }
        }
    }

    func update(_ row: QueueRow) throws { try run(.updateQueue) { $0.bind(row) } }
}

extension SQLiteQuery {
    /// Binds the first two parameters.
    func bind(_ name: KeyName) {
        bind(1, name.queue.rawValue)
        bind(2, name.key)
    }
}
