#if Postgres
import DurableCore

/// The rows that a transaction has changed and not written.
struct PostgresChanges {
    var inserted: Set<OperationID> = []
    var updated: Set<OperationID> = []
    var inputs: [OperationID: [UInt8]] = [:]
    var outputs: [OperationID: [UInt8]] = [:]
    var edges: [Edge] = []
    var keys: Set<KeyName> = []
    var uniques: [UniqueName: UniqueRow] = [:]
    var history: [HistoryEntry] = []
    var attempts: [AttemptName: AttemptRow] = [:]
    var keptAttempts: [OperationID: Int] = [:]
    var events: [EventRow] = []

    struct AttemptName: Hashable {
        var operation: OperationID
        var fence: Int64
    }

    struct UniqueName: Hashable {
        var kind: KindID
        var key: String
    }
}

extension PostgresRows {
    /// Writes changed operations and their payloads.
    func flushOperations() throws {
        if !changes.inserted.isEmpty {
            let rows = changes.inserted.sorted().compactMap { operations[$0] }
            let inputs = changes.inputs
            let input = PostgresColumn<OperationRow>(bytes: { row in
                inputs[row.id].flatMap { $0.count <= Self.inlineBytes ? $0 : nil }
            })
            try run(.insertOperations, set: rows, PostgresColumn.operations + [input])
            let long = inputs.filter { $0.value.count > Self.inlineBytes }.sorted { $0.key < $1.key }
            try run(.insertInputs, set: long, [PostgresColumn(int: \.key.rawValue), PostgresColumn(bytes: \.value)])
            (changes.inserted, changes.inputs) = ([], [:])
        }
        if !changes.updated.isEmpty {
            let rows = changes.updated.sorted().compactMap { operations[$0] }
            try run(.updateOperations, set: rows, PostgresColumn.operations)
            changes.updated = []
        }
        if !changes.outputs.isEmpty {
            let outputs = changes.outputs.sorted { $0.key < $1.key }
            try run(.saveOutputs, set: outputs, [PostgresColumn(int: \.key.rawValue), PostgresColumn(bytes: \.value)])
            changes.outputs = [:]
        }
    }

    func flushEdges() throws {
        try run(.insertEdges, set: changes.edges, PostgresColumn.edges)
        changes.edges = []
    }

    /// Writes changed unique keys, histories, records of attempts and events.
    func flushRecords() throws {
        try run(.saveUniques, set: changes.uniques.values, PostgresColumn.uniques)
        try run(.insertHistory, set: changes.history, PostgresColumn.history)
        try run(.saveAttempts, set: changes.attempts.values, PostgresColumn.attempts)
        let kept = [
            PostgresColumn<(key: OperationID, value: Int)>(int: \.key.rawValue),
            PostgresColumn(int: { Int64($0.value) }),
        ]
        try run(.trimAttempts, set: changes.keptAttempts, kept)
        try run(.insertEvents, set: changes.events, PostgresColumn.events)
        (changes.uniques, changes.history, changes.events) = ([:], [], [])
        (changes.attempts, changes.keptAttempts) = ([:], [:])
    }

    func flushKeys() throws {
        if changes.keys.isEmpty { return }
        let rows = changes.keys.sorted { ($0.queue, $0.key) < ($1.queue, $1.key) }.compactMap { keys[$0] ?? nil }
        try run(.removeKeys, set: rows.filter(\.isEmpty), PostgresColumn.names)
        try run(.saveKeys, set: rows.filter { !$0.isEmpty }, PostgresColumn.keys)
        changes.keys = []
    }
}
#endif
