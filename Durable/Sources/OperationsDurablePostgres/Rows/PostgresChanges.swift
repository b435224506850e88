#if Postgres
import DurableCore

/// The rows that a transaction has changed and not written.
struct PostgresChanges {
    var inserted: Set<OperationID> = []
    var updated: Set<OperationID> = []
    var inputs: [OperationID: [UInt8]] = [:]
    var replacedInputs: [OperationID: [UInt8]] = [:]
    var outputs: [OperationID: [UInt8]] = [:]
    var edges: [Edge] = []
    var keys: Set<KeyName> = []
    var uniques: [UniqueName: UniqueRow] = [:]
    var history: [HistoryName: HistoryEntry] = [:]
    var attempts: [AttemptName: AttemptRow] = [:]
    var keptAttempts: [OperationID: Int] = [:]
    var events: [EventRow] = []
    var workers: Set<WorkerID> = []

    var isEmpty: Bool {
        inserted.isEmpty && updated.isEmpty && replacedInputs.isEmpty && outputs.isEmpty && edges.isEmpty
            && keys.isEmpty && uniques.isEmpty
            && history.isEmpty && attempts.isEmpty && keptAttempts.isEmpty && events.isEmpty && workers.isEmpty
    }

    struct AttemptName: Hashable {
        var operation: OperationID
        var fence: Int64
    }

    struct HistoryName: Hashable {
        var operation: OperationID
        var position: Int64
    }
}

extension PostgresRows {
    /// Writes changed operations and their payloads.
    func flushOperations() throws {
        if !changes.inserted.isEmpty {
            try insert(changes.inserted.sorted().compactMap { operations[$0] }, changes.inputs)
            (changes.inserted, changes.inputs) = ([], [:])
        }
        if !changes.updated.isEmpty {
            let rows = changes.updated.sorted().compactMap { operations[$0] }
            try write(.updateOperations, rows: rows)
            changes.updated = []
        }
        if !changes.replacedInputs.isEmpty {
            let inputs = changes.replacedInputs.sorted { $0.key < $1.key }
            try write(.removeInputs) { $0.append(PostgresArray(inputs.map(\.key.rawValue))) }
            let columns = [
                PostgresColumn<(key: OperationID, value: [UInt8])>(int: \.key.rawValue),
                PostgresColumn(bytes: { $0.value.count <= Self.inlineBytes ? $0.value : nil }),
            ]
            try write(.replaceInputs, set: inputs, columns)
            try save(inputs.filter { $0.value.count > Self.inlineBytes }, .insertInputs)
            changes.replacedInputs = [:]
        }
        if !changes.outputs.isEmpty {
            let outputs = changes.outputs.sorted { $0.key < $1.key }
            try save(outputs, .saveOutputs)
            changes.outputs = [:]
        }
    }

    /// Inserts operations. Operations of one batch are mostly alike, and one value of a column then stands for all of them.
    private func insert(_ rows: [OperationRow], _ inputs: [OperationID: [UInt8]]) throws {
        let input = PostgresColumn<OperationRow>(bytes: { row in
            inputs[row.id].flatMap { $0.count <= Self.inlineBytes ? $0 : nil }
        })
        var others: [OperationRow] = []
        for run in OperationRow.runs(rows) {
            guard run.count >= Self.leastAlike, let first = run.first else {
                others += run
                continue
            }
            try write(.insertAlike) { parameters in
                first.write(to: &parameters)
                parameters.append(PostgresArray(run.lazy.map(\.id.rawValue)))
                parameters.append(input.array(of: run))
            }
        }
        try write(.insertOperations, rows: others, then: [input])
        let long = inputs.filter { $0.value.count > Self.inlineBytes }.sorted { $0.key < $1.key }
        try save(long, .insertInputs)
    }

    /// The least number of alike operations for which a statement of their own costs less than their columns.
    private static let leastAlike = 8

    private func save(_ payloads: [(key: OperationID, value: [UInt8])], _ sql: PostgresSQL) throws {
        for part in Self.parts(payloads, \.value.count) {
            try write(sql, set: part, [PostgresColumn(int: \.key.rawValue), PostgresColumn(bytes: \.value)])
        }
    }

    /// Divides rows into parts with at most 16 MiB of payloads each, or one row.
    ///
    /// PostgreSQL accepts no message above 1 GiB, and 1,024 requests of one group may have more.
    static func parts<Row>(_ rows: [Row], _ size: (Row) -> Int) -> [ArraySlice<Row>] {
        var parts: [ArraySlice<Row>] = []
        var (start, bytes) = (0, 0)
        for (index, row) in rows.enumerated() {
            let size = size(row)
            if bytes + size > 16 << 20, index > start {
                parts.append(rows[start..<index])
                (start, bytes) = (index, 0)
            }
            bytes += size
        }
        return parts + [rows[start...]]
    }

    func flushEdges() throws {
        try write(.insertEdges, rows: changes.edges)
        changes.edges = []
    }

    /// Writes changed unique keys, histories, records of attempts and events.
    func flushRecords() throws {
        try write(.saveUniques, rows: changes.uniques.values)
        for part in Self.parts(Array(changes.history.values), { $0.result?.count ?? 0 }) {
            try write(.insertHistory, rows: part)
        }
        try write(.saveAttempts, rows: changes.attempts.values)
        let kept = [
            PostgresColumn<(key: OperationID, value: Int)>(int: \.key.rawValue),
            PostgresColumn(int: { Int64($0.value) }),
        ]
        try write(.trimAttempts, set: changes.keptAttempts, kept)
        try write(.insertEvents, rows: changes.events)
        (changes.uniques, changes.history, changes.events) = ([:], [:], [])
        (changes.attempts, changes.keptAttempts) = ([:], [:])
    }

    /// Writes changed workers. A heartbeat outside the transaction waits from here until the commit.
    func flushWorkers() throws {
        if changes.workers.isEmpty { return }
        let ids = changes.workers.sorted()
        changes.workers = []
        try write(.saveWorkers, rows: ids.compactMap { workerRows[$0] ?? nil })
        let removed = ids.filter { workerRows[$0] == .some(nil) }
        if !removed.isEmpty { try write(.removeWorkers) { $0.append(PostgresArray(removed.lazy.map(\.rawValue))) } }
    }

    func flushKeys() throws {
        if changes.keys.isEmpty { return }
        let names = [PostgresColumn<KeyName>(int: \.queue.rawValue), PostgresColumn(text: \.key)]
        let rows = changes.keys.sorted().compactMap { keys[$0] ?? nil }
        try write(.removeKeys, set: rows.filter(\.isEmpty).map(\.name), names)
        try write(.saveKeys, rows: rows.filter { !$0.isEmpty })
        changes.keys = []
    }
}
#endif
