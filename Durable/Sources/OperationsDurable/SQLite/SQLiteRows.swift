import DurableCore
import GRDB

/// The rows of one transaction in SQLite.
///
/// Rows that many events of a transaction change (queues, counters, reserved identifiers) stay in memory until `flush()`.
/// The events of a group therefore write each such row once.
final class SQLiteRows: DurableRows {
    let database: Database
    let now: DurableInstant
    let statements: SQLiteStatements
    private let leases: LeaseFile?
    /// The names of operations of this transaction. A restored copy of the file can have others in the next one.
    private var kinds = KindCache()

    private var queuesByID: [QueueID: QueueRow] = [:]
    private var queueIDs: [ExactName: QueueID] = [:]
    private var changedQueues: Set<QueueID> = []
    private var counterChanges = CounterChanges()
    private var numbers: [String: Int64] = [:]
    private var changedNumbers: Set<String> = []

    /// The largest number of bytes of an input in the row of its operation. A longer input has a row of its own, so that
    /// a change of state does not copy the input.
    static let inlineBytes = 512

    init(_ database: Database, now: DurableInstant, statements: SQLiteStatements, leases: LeaseFile? = nil) {
        (self.database, self.now, self.statements, self.leases) = (database, now, statements, leases)
    }

    /// Returns the later one of two ends of the leases of a worker: in the database, and in the file beside it.
    func leaseEnd(of worker: WorkerID, stored: DurableInstant) -> DurableInstant {
        stored >= now ? stored : max(stored, leases?.end(of: worker) ?? stored)
    }

    private struct KindCache {
        var ids: [ExactName: KindID] = [:]
        var names: [KindID: String] = [:]
    }

    // MARK: - Execution

    /// The number of rows that the last change of the connection has changed.
    var changeCount: Int { database.changesCount }

    /// Executes a statement, and calls `row` for each row.
    func run(_ sql: SQL, _ bind: (SQLiteQuery) -> Void, row: (SQLiteQuery) throws -> Void = { _ in }) throws {
        let query = try statements.query(sql, in: database)
        defer { query.reset() }
        bind(query)
        while try query.step() { try row(query) }
    }

    func ids(_ sql: SQL, _ bind: (SQLiteQuery) -> Void) throws -> [OperationID] {
        var ids: [OperationID] = []
        try run(sql, bind) { ids.append(OperationID($0.int(0))) }
        return ids
    }

    /// Writes the rows that the transaction keeps in memory.
    func flush() throws {
        for id in changedQueues.sorted() {
            if let row = queuesByID[id] { try update(row) }
        }
        for (counter, change) in counterChanges.changes where change != 0 {
            let row = CounterRow(counter, change)
            try run(.addCounter) { $0.bind(row) }
            if change < 0 { try run(.removeCounter) { $0.bind(row) } }
        }
        for name in changedNumbers {
            try run(.setMeta) { query in
                query.bind(1, name)
                query.bind(2, numbers[name])
            }
        }
        forget()
    }

    /// Discards the rows in memory, so that the next event loads them again.
    func forget() {
        (queuesByID, queueIDs, changedQueues) = ([:], [:], [])
        (counterChanges, numbers, changedNumbers) = (CounterChanges(), [:], [])
    }

    // MARK: - The store

    /// Checks that the schema permits this version of the library.
    ///
    /// - Throws: `DurableError.newerSchema`.
    func checkVersion() throws {
        var oldest: Int64?
        try run(.meta, { $0.bind(1, "oldest_reader") }, row: { oldest = $0.int(0) })
        try Migrator.checkVersion(oldest: oldest, database)
    }

    /// The text that identifies the store; nil if the database has no store.
    func identity() throws -> String? {
        var identity: String?
        try run(.meta, { $0.bind(1, "store") }, row: { identity = $0.optionalText(0) })
        return identity
    }

    // MARK: - Identifiers

    func reserveOperationIDs(_ count: Int) throws -> OperationID { OperationID(try reserve("next_operation", count)) }

    func reserveWorkerID() throws -> WorkerID { WorkerID(try reserve("next_worker", 1)) }

    private func reserve(_ name: String, _ count: Int) throws -> Int64 {
        let next = try number(name)
        setNumber(name, next + Int64(count))
        return next
    }

    private func number(_ name: String) throws -> Int64 {
        if let known = numbers[name] { return known }
        var found: Int64?
        try run(.meta, { $0.bind(1, name) }, row: { found = $0.int(0) })
        guard let found else { throw DurableError.noSchema }
        numbers[name] = found
        return found
    }

    private func setNumber(_ name: String, _ number: Int64) {
        numbers[name] = number
        changedNumbers.insert(name)
    }

    // MARK: - Events

    func reserveEventNumbers(_ count: Int) throws -> Int64 { try reserve("next_event", count) }

    func lastEventNumber() throws -> Int64 { try number("next_event") - 1 }

    func observedUntil() throws -> DurableInstant {
        DurableInstant(microseconds: try number("observed_until"))
    }

    func setObservedUntil(_ instant: DurableInstant) { setNumber("observed_until", instant.microseconds) }

    func events(after number: Int64, limit: Int) throws -> [EventRow] {
        var rows: [EventRow] = []
        try run(.events) { query in
            query.bind(1, number)
            query.bind(2, Int64(limit))
        } row: {
            rows.append(EventRow($0))
        }
        return rows
    }

    func removeEvents(before instant: DurableInstant, limit: Int) throws {
        try run(.removeEvents) { $0.bind(instant, limit) }
    }

    func attempts(of operation: OperationID) throws -> [AttemptRow] {
        var rows: [AttemptRow] = []
        try run(.attempts, { $0.bind(1, operation.rawValue) }, row: { rows.append(AttemptRow($0)) })
        return rows
    }

    // MARK: - Queues and kinds

    func queue(named name: String) throws -> QueueRow {
        if let known = try existingQueue(named: name) { return known }
        try run(.insertQueue) { $0.bind(1, name) }
        guard let row = try existingQueue(named: name) else { throw DurableError.unknownQueue(name) }
        return row
    }

    func existingQueue(named name: String) throws -> QueueRow? {
        if let id = queueIDs[ExactName(name)] { return queuesByID[id] }
        try run(.queueByName, { $0.bind(1, name) }, row: { self.keep(QueueRow($0)) })
        return queueIDs[ExactName(name)].flatMap { queuesByID[$0] }
    }

    func queue(_ id: QueueID) throws -> QueueRow {
        if let known = queuesByID[id] { return known }
        try run(.queueByID, { $0.bind(1, id.rawValue) }, row: { self.keep(QueueRow($0)) })
        guard let row = queuesByID[id] else { throw DurableError.unknownQueue("\(id)") }
        return row
    }

    func queues() throws -> [QueueRow] {
        var rows: [QueueRow] = []
        try run(.queues, { _ in }, row: { rows.append(QueueRow($0)) })
        return rows.map { queuesByID[$0.id] ?? $0 }
    }

    private func keep(_ row: QueueRow) {
        queuesByID[row.id] = row
        queueIDs[ExactName(row.name)] = row.id
    }

    func save(_ row: QueueRow) {
        keep(row)
        changedQueues.insert(row.id)
    }

    func kind(named name: String) throws -> KindID {
        if let known = kinds.ids[ExactName(name)] { return known }
        var id: KindID?
        try run(.kindByName, { $0.bind(1, name) }, row: { id = KindID($0.int(0)) })
        if id == nil {
            try run(.insertKind) { $0.bind(1, name) }
            id = KindID(database.lastInsertedRowID)
        }
        let found = id ?? KindID(0)
        (kinds.ids[ExactName(name)], kinds.names[found]) = (found, name)
        return found
    }

    func name(of kind: KindID) throws -> String {
        if let known = kinds.names[kind] { return known }
        var name = ""
        try run(.kindByID, { $0.bind(1, kind.rawValue) }, row: { name = $0.text(0) })
        (kinds.ids[ExactName(name)], kinds.names[kind]) = (kind, name)
        return name
    }

    // MARK: - Counters

    func count(_ counter: Counter, by change: Int64) { counterChanges.count(counter, by: change) }

    func counters(of queue: QueueID) throws -> [Counter: Int64] {
        counterChanges.counters(of: queue, stored: try stored(.counters) { $0.bind(1, queue.rawValue) })
    }

    func counters(of queue: QueueID, epoch: Int64) throws -> [Counter: Int64] {
        try counterChanges.counters(of: EpochName(queue: queue, epoch: epoch), load: storedCounters)
    }

    private func storedCounters(of name: EpochName) throws -> [Counter: Int64] {
        try stored(.epochCounters) { query in
            query.bind(1, name.queue.rawValue)
            query.bind(2, name.epoch)
        }
    }

    private func stored(_ sql: SQL, _ bind: (SQLiteQuery) -> Void) throws -> [Counter: Int64] {
        var found: [Counter: Int64] = [:]
        try run(sql, bind) { query in
            let row = CounterRow(query)
            found[row.counter] = row.value
        }
        return found
    }

    func firstEpoch(of queue: QueueID, from epoch: Int64) throws -> Int64? {
        try counterChanges.firstEpoch(of: queue, from: epoch, load: storedCounters) { epoch in
            var found: Int64?
            try run(.firstEpoch) { query in
                query.bind(1, queue.rawValue)
                query.bind(2, epoch)
            } row: {
                found = $0.optionalInt(0)
            }
            return found
        }
    }

    func runningCount(of queue: QueueID) throws -> Int64 {
        try counterChanges.runningCount(of: queue) {
            var count: Int64 = 0
            try run(.runningCount, { $0.bind(1, queue.rawValue) }, row: { count = $0.int(0) })
            return count
        }
    }
}
