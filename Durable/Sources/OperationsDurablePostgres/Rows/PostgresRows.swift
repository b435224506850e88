#if Postgres
import DurableCore

/// The rows of one transaction in PostgreSQL.
///
/// Changes stay in memory until a query needs them in the database, or until `flush()`. The events of a group therefore share
/// statements. Rows stay in memory until the end of the transaction: writing transactions take turns.
///
/// Not safe for concurrent use: the queue of the connection makes all calls.
final class PostgresRows: DurableRows {
    let connection: PostgresConnection
    /// The instant of the lock or of the snapshot.
    var now: DurableInstant
    /// The names of operations, which never change once they are committed.
    var kinds = KindCache()

    /// Whether the transaction has changed tables of the store.
    private(set) var hasChanges = false
    /// Whether the transaction has recorded events, for which a caller waits in some process.
    var hasEvents = false
    /// The operations that the transaction has loaded or changed.
    var operations: [OperationID: OperationRow] = [:]
    var changes = PostgresChanges()
    /// The workers that the transaction has loaded or changed; nil for a worker that does not exist.
    var workerRows: [WorkerID: WorkerRow?] = [:]
    /// The earliest instants at which something is due; nil before the transaction loads them.
    var wakes: PostgresWakes?
    /// The keys that the transaction has loaded or changed; nil for a key without a row.
    var keys: [KeyName: KeyRow?] = [:]

    /// The places at which claims begin.
    var floors = ReadyFloors()
    /// The leases that were expired at the last look.
    var expiredLeases = ExpiredLeases(patience: .zero)
    /// Operations of which the transaction knows that no operation depends on them.
    var edgeless: Set<OperationID> = []

    private var queuesByID: [QueueID: QueueRow] = [:]
    private var queueIDs: [ExactName: QueueID] = [:]
    private var changedQueues: Set<QueueID> = []
    private var counterChanges = CounterChanges()
    /// The numbers of the store; nil before the transaction loads them.
    private var numbers: [String: Int64]?
    private var changedNumbers: [String: Int64] = [:]

    /// The largest number of bytes of an input in the row of its operation. A longer input has a row of its own, so that
    /// a change of state does not copy the input.
    static let inlineBytes = 512

    init(_ connection: PostgresConnection, now: DurableInstant) { (self.connection, self.now) = (connection, now) }

    struct KindCache {
        var ids: [ExactName: KindID] = [:]
        var names: [KindID: String] = [:]
    }

    // MARK: - Execution

    /// Executes a statement whose parameters the closure appends.
    @discardableResult
    func run(_ sql: PostgresSQL, _ append: (inout PostgresParameters) -> Void = { _ in }) throws -> PostgresResult {
        var parameters = PostgresParameters()
        append(&parameters)
        hasChanges = hasChanges || sql.isChange
        try connection.enterLibrary()
        return try connection.run(sql, parameters)
    }

    /// Executes a statement without a result. The statement waits for the next statement with a result.
    func write(_ sql: PostgresSQL, _ append: (inout PostgresParameters) -> Void) throws {
        var parameters = PostgresParameters()
        append(&parameters)
        hasChanges = true
        try connection.enterLibrary()
        connection.enqueue(sql, parameters)
    }

    /// Executes a statement without a result, with the columns of a set as arrays, unless the set is empty.
    func write<Element>(
        _ sql: PostgresSQL, set: some Collection<Element>, _ columns: [PostgresColumn<Element>]
    ) throws {
        if set.isEmpty { return }
        try write(sql) { parameters in
            for column in columns { parameters.append(column.array(of: set)) }
        }
    }

    /// Executes a statement without a result, with the columns of rows as arrays, unless the set is empty.
    ///
    /// - Parameter columns: Further columns.
    func write<Row: StoredRow>(
        _ sql: PostgresSQL, rows: some Collection<Row>, then columns: [PostgresColumn<Row>] = []
    ) throws {
        if rows.isEmpty { return }
        try write(sql) { parameters in
            for array in PostgresArrays(of: rows).arrays { parameters.append(array) }
            for column in columns { parameters.append(column.array(of: rows)) }
        }
    }

    func ids(_ sql: PostgresSQL, _ append: (inout PostgresParameters) -> Void) throws -> [OperationID] {
        try run(sql, append).map { OperationID($0.int(0)) }
    }

    /// Writes the rows that the transaction keeps in memory.
    func flush() throws {
        try flushOperations()
        try flushEdges()
        try flushRecords()
        try flushKeys()
        try flushWorkers()
        try write(.updateQueues, rows: changedQueues.sorted().compactMap { queuesByID[$0] })
        let counters = counterChanges.changes.filter { $0.value != 0 }.sorted { $0.key.order < $1.key.order }
            .map { CounterRow($0.key, $0.value) }
        try write(.addCounters, rows: counters)
        try write(.removeCounters, rows: counters.filter { $0.value < 0 && counterChanges.mayBeZero($0.counter) })
        let changed = changedNumbers.sorted { $0.key < $1.key }
        try write(.setNumbers, set: changed, [PostgresColumn(text: \.key), PostgresColumn(int: \.value)])
        forget()
    }

    /// Whether `flush` would write rows.
    var hasUnwritten: Bool {
        !changes.isEmpty || !changedQueues.isEmpty || !changedNumbers.isEmpty
            || counterChanges.changes.contains { $0.value != 0 }
    }

    /// Discards the rows in memory, so that the next event loads them again.
    func forget() {
        (operations, changes, keys, workerRows, wakes) = ([:], PostgresChanges(), [:], [:], nil)
        (queuesByID, queueIDs, changedQueues, edgeless) = ([:], [:], [], [])
        (counterChanges, numbers, changedNumbers) = (CounterChanges(), nil, [:])
    }

    /// Everything in memory at one moment. The database at a savepoint and this value together are the state of the transaction.
    struct Memory {
        fileprivate var operations: [OperationID: OperationRow]
        fileprivate var changes: PostgresChanges
        fileprivate var workerRows: [WorkerID: WorkerRow?]
        fileprivate var wakes: PostgresWakes?
        fileprivate var keys: [KeyName: KeyRow?]
        fileprivate var queuesByID: [QueueID: QueueRow]
        fileprivate var queueIDs: [ExactName: QueueID]
        fileprivate var changedQueues: Set<QueueID>
        fileprivate var counterChanges: CounterChanges
        fileprivate var numbers: [String: Int64]?
        fileprivate var changedNumbers: [String: Int64]
        fileprivate var kinds: KindCache
        fileprivate var edgeless: Set<OperationID>
    }

    var memory: Memory {
        get {
            Memory(
                operations: operations, changes: changes, workerRows: workerRows, wakes: wakes, keys: keys,
                queuesByID: queuesByID, queueIDs: queueIDs, changedQueues: changedQueues,
                counterChanges: counterChanges, numbers: numbers, changedNumbers: changedNumbers, kinds: kinds,
                edgeless: edgeless)
        }
        set {
            (operations, changes, workerRows) = (newValue.operations, newValue.changes, newValue.workerRows)
            (wakes, keys, queuesByID) = (newValue.wakes, newValue.keys, newValue.queuesByID)
            (queueIDs, changedQueues) = (newValue.queueIDs, newValue.changedQueues)
            (counterChanges, numbers) = (newValue.counterChanges, newValue.numbers)
            (changedNumbers, kinds, edgeless) = (newValue.changedNumbers, newValue.kinds, newValue.edgeless)
            // No part of `Memory`, because a second reference would cost a copy of all floors.
            floors = ReadyFloors()
        }
    }

    // MARK: - Loading ahead

    /// The queues that the transaction has used. The next transaction loads them ahead.
    var usedQueues: [QueueID] { Array(queuesByID.keys.prefix(16)) }

    /// Loads rows that the events will probably need, in one message with statements that wait.
    ///
    /// - Returns: The results of the statements that waited.
    func loadAhead(_ queues: [QueueID], _ operations: [OperationID]) throws -> [PostgresResult] {
        connection.enqueue(.numbers)
        let (queueIDs, ids) = (queues.map(\.rawValue), operations.map(\.rawValue))
        for (sql, ids) in [(PostgresSQL.queuesByID, queueIDs), (.operations, ids), (.edgesFrom, ids)]
        where !ids.isEmpty {
            var parameters = PostgresParameters()
            parameters.append(PostgresArray(ids))
            connection.enqueue(sql, parameters)
        }
        var results = try connection.send()
        if !operations.isEmpty, let edges = results.popLast(), let found = results.popLast() {
            edgeless = Set(operations).subtracting(edges.map { Edge($0).dependency })
            for row in found.map({ OperationRow($0) }) { self.operations[row.id] = row }
        }
        if !queues.isEmpty, let found = results.popLast() { for row in found.map({ QueueRow($0) }) { keep(row) } }
        if let found = results.popLast() {
            numbers = Dictionary(found.map { ($0.text(0), $0.int(1)) }) { $1 }
        }
        return results
    }

    // MARK: - Identifiers

    func reserveOperationIDs(_ count: Int) throws -> OperationID { OperationID(try reserve("next_operation", count)) }

    func reserveWorkerID() throws -> WorkerID { WorkerID(try reserve("next_worker", 1)) }

    func reserveEventNumbers(_ count: Int) throws -> Int64 { try reserve("next_event", count) }

    func lastEventNumber() throws -> Int64 { try number("next_event") - 1 }

    func observedUntil() throws -> DurableInstant { DurableInstant(microseconds: try number("observed_until")) }

    func setObservedUntil(_ instant: DurableInstant) { setNumber("observed_until", instant.microseconds) }

    private func reserve(_ name: String, _ count: Int) throws -> Int64 {
        let next = try number(name)
        setNumber(name, next + Int64(count))
        return next
    }

    private func number(_ name: String) throws -> Int64 {
        guard let number = try storedNumber(name) else { throw DurableError.noSchema }
        return number
    }

    /// Returns a number that the store has after its first change; 0 before.
    func numberIfAny(_ name: String) throws -> Int64 { try storedNumber(name) ?? 0 }

    func setNumber(_ name: String, _ number: Int64) { changedNumbers[name] = number }

    private func storedNumber(_ name: String) throws -> Int64? {
        if let changed = changedNumbers[name] { return changed }
        if numbers == nil {
            let all = try run(.numbers).map { ($0.text(0), $0.int(1)) }
            numbers = Dictionary(all) { $1 }
        }
        return numbers?[name]
    }

    /// Keeps the floors of claims correct. Called before `operations` contains the change.
    func noteFloor(_ row: OperationRow) throws {
        guard floors.note(row, replacing: operations[row.id], now: now) else { return }
        setNumber("early_ready", try numberIfAny("early_ready") + 1)
    }

    // MARK: - Queues and kinds

    func queue(named name: String) throws -> QueueRow {
        if let known = try existingQueue(named: name) { return known }
        try write(.insertQueue) { $0.append(name) }
        guard let row = try existingQueue(named: name) else { throw DurableError.unknownQueue(name) }
        return row
    }

    func existingQueue(named name: String) throws -> QueueRow? {
        if let id = queueIDs[ExactName(name)] { return queuesByID[id] }
        guard let row = try run(.queueByName, { $0.append(name) }).first.map({ QueueRow($0) }) else { return nil }
        keep(row)
        return row
    }

    func queue(_ id: QueueID) throws -> QueueRow {
        if let known = queuesByID[id] { return known }
        guard let row = try run(.queueByID, { $0.append(id.rawValue) }).first.map({ QueueRow($0) }) else {
            throw DurableError.unknownQueue("\(id)")
        }
        keep(row)
        return row
    }

    private func keep(_ row: QueueRow) {
        queuesByID[row.id] = row
        queueIDs[ExactName(row.name)] = row.id
    }

    func queues() throws -> [QueueRow] { try run(.queues).map { QueueRow($0) }.map { queuesByID[$0.id] ?? $0 } }

    func save(_ row: QueueRow) {
        keep(row)
        changedQueues.insert(row.id)
    }

    func kind(named name: String) throws -> KindID {
        if let known = kinds.ids[ExactName(name)] { return known }
        let record = try run(.kindByName) { $0.append(name) }.first ?? run(.insertKind) { $0.append(name) }.first
        let found = KindID(record?.int(0) ?? 0)
        (kinds.ids[ExactName(name)], kinds.names[found]) = (found, name)
        return found
    }

    func name(of kind: KindID) throws -> String {
        if let known = kinds.names[kind] { return known }
        let name = try run(.kindByID) { $0.append(kind.rawValue) }.first?.text(0) ?? ""
        (kinds.ids[ExactName(name)], kinds.names[kind]) = (kind, name)
        return name
    }

    // MARK: - Counters

    func count(_ counter: Counter, by change: Int64) { counterChanges.count(counter, by: change) }

    func counters(of queue: QueueID) throws -> [Counter: Int64] {
        let stored = try run(.counters) { $0.append(queue.rawValue) }.map(Self.counter)
        return counterChanges.counters(of: queue, stored: Dictionary(stored) { $1 })
    }

    func counters(of queue: QueueID, epoch: Int64) throws -> [Counter: Int64] {
        try counterChanges.counters(of: EpochName(queue: queue, epoch: epoch), load: storedCounters)
    }

    private static func counter(_ record: PostgresRecord) -> (Counter, Int64) {
        let row = CounterRow(record)
        return (row.counter, row.value)
    }

    private func storedCounters(of name: EpochName) throws -> [Counter: Int64] {
        let stored = try run(.epochCounters) { parameters in
            parameters.append(name.queue.rawValue)
            parameters.append(name.epoch)
        }.map(Self.counter)
        return Dictionary(stored) { $1 }
    }

    func firstEpoch(of queue: QueueID, from epoch: Int64) throws -> Int64? {
        try counterChanges.firstEpoch(of: queue, from: epoch, load: storedCounters) { epoch in
            try run(.firstEpoch) { parameters in
                parameters.append(queue.rawValue)
                parameters.append(epoch)
            }.first?.optionalInt(0)
        }
    }

    func runningCount(of queue: QueueID) throws -> Int64 {
        try counterChanges.runningCount(of: queue) {
            try run(.runningCount) { $0.append(queue.rawValue) }.first?.optionalInt(0) ?? 0
        }
    }
}

extension Counter {
    /// The position in the order in which a transaction locks the rows of counters.
    fileprivate var order: (Int64, Int64, Int64, Int64) { (queue.rawValue, epoch, kind.rawValue, state.rawValue) }
}
#endif
