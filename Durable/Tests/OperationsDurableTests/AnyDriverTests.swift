import DurableCore
import Foundation
import GRDB
import OperationsTesting
import Testing

@testable import OperationsDurable

#if Postgres
@testable import OperationsDurablePostgres
#endif

/// A value that tasks share although its type does not promise it.
private struct UncheckedBox<Value>: @unchecked Sendable {
    // Sendable: the tests share only closures that open connections.
    let value: Value

    init(_ value: Value) { self.value = value }
}

/// Rule R38: any driver adds operations in its own transaction, under the rules of the store.
@Suite struct AnyDriverTests {
    static let programs = Stress.rounds(40, small: 4)
    static let firstSeed = UInt64(ProcessInfo.processInfo.environment["DURABLE_SEED"] ?? "") ?? 1

    @Test(arguments: sharedKinds)
    func `R38: an operation that another driver adds exists if and only if its transaction commits, and wakes workers`(
        _ kind: StoreKind
    ) async throws {
        try await withDatabase(kind) { database in
            let (store, connection) = (database.store, try database.connect())
            let queue = DurableQueue("q", in: store)
            try await withWorker(store, queues: ["q": .limit(1)], [Sum.self]) {
                // The worker has looked for work before the additions.
                _ = try await queue.add(Sum(a: 0, b: 0)).value
                try connection.execute("BEGIN")
                let undone = try connection.add(queue.statement(adding: Sum(a: 1, b: 1)))
                try connection.execute("ROLLBACK")
                try connection.execute("BEGIN")
                try connection.execute("SAVEPOINT part")
                _ = try connection.add(queue.statement(adding: Sum(a: 2, b: 2)))
                try connection.execute("ROLLBACK TO SAVEPOINT part")
                let first = try connection.add(queue.statement(adding: Sum(a: 3, b: 3)))
                let handle = DurableHandle<Int>(id: first, store: store)
                let second = try connection.add(queue.statement(adding: Sum(a: 4, b: 4), after: [handle]))
                #expect(try await store.records(matching: DurableFilter()).count == 1)
                try connection.execute("COMMIT")
                #expect(try await handle.value == 6)
                #expect(try await DurableHandle<Int>(id: second, store: store).value == 8)
                #expect(undone == first)
                // The third addition has no transaction around it.
                let third = try connection.add(queue.statement(adding: Sum(a: 5, b: 5)))
                #expect(try await DurableHandle<Int>(id: third, store: store).value == 10)
                #expect(try await queue.counts() == [.succeeded: 4])
            }
        }
    }

    @Test(arguments: sharedKinds)
    func `R38: the additions of another driver have the rows that the additions of the store have`(_ kind: StoreKind)
        async throws
    {
        for seed in Self.firstSeed..<Self.firstSeed + UInt64(Self.programs) {
            try await withDatabase(kind) { first in
                try await withDatabase(kind) { second in try await compare(first, second, seed) }
            }
        }
    }

    @Test(arguments: sharedKinds)
    func `R38: an invalid addition of another driver is an error, and changes nothing`(_ kind: StoreKind) async throws {
        try await withDatabase(kind) { database in
            let queue = DurableQueue("q", in: database.store)
            let first = try await queue.add(Sum(a: 1, b: 1), options: DurableOptions(unique: "u"))
            let connection = try database.connect()
            let before = try await everything(database.store)
            let long = String(repeating: "n", count: 201)
            let invalid: [[String: String]] = [
                ["queue": ""], ["name": ""], ["queue": long], ["name": long], ["limit_key": long], ["unique_key": long],
                ["queue": "a\nb"], ["unique_key": "\n"], ["input": "{"], ["input": ""],
                ["input": "'; DROP TABLE durable_meta"],
                ["input": "\"\(String(repeating: "i", count: 1 << 20))\""], ["priority": "1"], ["priority": "high"],
                ["failure_policy": "x"], ["unique_policy": "x"], ["retries": "-1"], ["retries": "many"],
                ["retry": "1,2,3"], ["retry": "1,50,0,0,0"], ["retry": "1,0,0,0,101"], ["retry": " 1,0,0,0,0"],
                ["retry": "99999999999999999999,0,0,0,0"], ["after": "99"], ["after": "x"], ["delay": "soon"],
                ["not_before": "never"], ["timeout": "0"], ["timeout": "-1"], ["deadline": "0"], ["unique_period": "0"],
                ["is_barrier": "2"], ["context": String(repeating: "c", count: 4_097)],
                ["unique_key": "u", "unique_policy": "reject"],
            ]
            for values in invalid {
                let all = ["queue": "q", "name": "sum", "input": "{\"a\":1,\"b\":1}"].merging(values) { $1 }
                let kinds: [String: AdditionColumn.Kind] = [
                    "input": .json, "priority": .number, "retries": .number, "after": .identifiers, "delay": .seconds,
                    "not_before": .date, "timeout": .seconds, "deadline": .seconds, "unique_period": .seconds,
                    "is_barrier": .boolean,
                ]
                let store = try #require(database.store as? any StatementStore)
                let statement = store.statement(
                    adding: all.map { AdditionColumn(name: $0, kind: kinds[$0] ?? .text, value: $1) })
                let label: Comment = "\(values)"
                #expect(throws: ForeignError.self, label) { try connection.add(statement) }
                #expect(try await everything(database.store) == before, label)
            }
            #expect(try await first.state == .ready)
            // Everything else is a name.
            for word in ["'", "\"", "\\", "$1", "%s", "ü", "\u{1}", String(long.dropLast()), "a b", "NULL"] {
                let options = DurableOptions(unique: word, limitKey: word)
                let other = DurableQueue(word, in: database.store)
                let id = try connection.add(other.statement(adding: Sum(a: 1, b: 1), options: options))
                #expect(try await database.store.record(of: id).queue == word)
                #expect(try await database.store.record(of: id).limitKey == word)
            }
        }
    }

    /// The counts, the last identifier, and the names of a store.
    private func everything(_ store: any DurableStore) async throws -> String {
        let snapshot = try await store.snapshot().queues
        return try await store.commit { machine in
            "\(snapshot) \(try machine.rows.reserveOperationIDs(0)) \(try machine.rows.lastEventNumber())"
        }
    }

    @Test(arguments: sharedKinds)
    func `R38: additions of many connections at once lose nothing, and hold a unique key once`(_ kind: StoreKind)
        async throws
    {
        try await withDatabase(kind) { database in
            let queue = DurableQueue("q", in: database.store)
            let plain = try queue.statement(adding: Sum(a: 1, b: 1))
            let unique = try queue.statement(adding: Sum(a: 1, b: 1), options: DurableOptions(unique: "u"))
            let connect = UncheckedBox(database.connect)
            let ids = try await withThrowingTaskGroup(of: [OperationID].self) { group in
                for _ in 0..<4 {
                    group.addTask {
                        let connection = try connect.value()
                        return try (0..<20).flatMap { _ in
                            try connection.execute("BEGIN \(kind == .sqlite ? "IMMEDIATE" : "")")
                            defer { _ = try? connection.execute("COMMIT") }
                            return [try connection.add(plain), try connection.add(unique)]
                        }
                    }
                }
                for _ in 0..<20 { try await queue.add(Sum(a: 2, b: 2)) }
                return try await group.reduce(into: []) { $0 += $1 }
            }
            #expect(ids.count == 160 && Set(ids).count == 81)
            #expect(try await queue.counts() == [.ready: 101])
        }
    }

    @Test(arguments: sharedKinds)
    func `R38: the statements of the README add operations`(_ kind: StoreKind) async throws {
        try await withDatabase(kind) { database in
            let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent(
                "../../README.md")
            let blocks = try String(contentsOf: file, encoding: .utf8).split(separator: "```sql\n").dropFirst()
                .compactMap { $0.split(separator: "```").first }
            try #require(blocks.count == 2)
            let connection = try database.connect()
            if let schema = database.schema { try connection.execute("SET search_path = \(schema)") }
            for statement in blocks[database.isPostgres ? 0 : 1].split(separator: ";") where statement.count > 1 {
                try connection.execute(String(statement))
            }
            let counts = try await DurableQueue("photos", in: database.store).counts()
            #expect(counts == (database.isPostgres ? [.ready: 2, .waiting: 1] : [.scheduled: 1]))
            let records = try await database.store.records(matching: DurableFilter())
            #expect(
                records.allSatisfy { $0.name == "resize" && String(decoding: $0.input, as: UTF8.self).contains(".jpg") }
            )
        }
    }

    #if Postgres
    @Test(.enabled(if: PostgresServer.isInstalled))
    func `R38: a role that may only call the function adds, and no name of a session leads to other tables`()
        async throws
    {
        try await withPostgres { server, schema in
            let store = try await PostgresStore(server.url(schema: schema))
            let queue = DurableQueue("q", in: store)
            let owner = try ForeignPostgres(server.url(schema: schema))
            try owner.execute("CREATE ROLE \(schema)_guest LOGIN")
            try owner.execute("CREATE SCHEMA \(schema)_trap AUTHORIZATION \(schema)_guest")
            let guest = try ForeignPostgres(server.url(schema: "\(schema)_trap", user: "\(schema)_guest"))
            let statement = try queue.statement(adding: Sum(a: 1, b: 1))
            #expect(throws: ForeignError.self) { try guest.add(statement) }
            try owner.execute("GRANT USAGE ON SCHEMA \(schema) TO \(schema)_guest")
            #expect(throws: ForeignError.self) { try guest.add(statement) }
            try owner.execute("GRANT EXECUTE ON FUNCTION \(schema).durable_add TO \(schema)_guest")
            for table in ["durable_meta", "durable_operation", "durable_queue", "durable_counter"] {
                try guest.execute("CREATE TEMP TABLE \(table)(name text, number bigint, text text)")
                try guest.execute("CREATE TABLE \(schema)_trap.\(table)(name text, number bigint, text text)")
            }
            try guest.execute(
                "CREATE FUNCTION \(schema)_trap.coalesce(bigint, bigint) RETURNS bigint LANGUAGE sql AS 'SELECT 9::bigint'"
            )
            try guest.execute(
                "CREATE FUNCTION \(schema)_trap.pg_notify(text, text) RETURNS void LANGUAGE sql AS 'SELECT 1 / 0'")
            for path in ["pg_temp, \(schema)_trap", "\(schema)_trap, pg_catalog", "''"] {
                try guest.execute("SET search_path = \(path)")
                try guest.execute("SET row_security = off")
                let id = try guest.add(statement)
                #expect(try await store.record(of: id).state == .ready)
                #expect(try guest.execute("SELECT current_setting('search_path')") == (path == "''" ? "\"\"" : path))
            }
            // A mark of the session does not replace the lock.
            let other = try ForeignPostgres(server.url(schema: schema))
            try other.execute("BEGIN")
            _ = try other.add(statement)
            try guest.execute("BEGIN")
            try guest.execute("SET LOCAL lock_timeout = '100ms'")
            try guest.execute("SELECT set_config('durable.additions', txid_current()::text, true)")
            #expect(try guest.error(statement.sql, statement.parameters).code == "55P03")
            try guest.execute("ROLLBACK")
            try other.execute("COMMIT")
            #expect(try guest.error("SELECT number FROM \(schema).durable_meta").code == "42501")
            #expect(try await queue.counts() == [.ready: 4])
            try owner.execute("DROP SCHEMA \(schema)_trap CASCADE")
        }
    }

    @Test(.enabled(if: PostgresServer.isInstalled))
    func `R38: the function refuses transactions in which it could add wrongly, and the store continues`() async throws
    {
        try await withPostgres { server, schema in
            let store = try await PostgresStore(server.url(schema: schema))
            let queue = DurableQueue("q", in: store)
            let statement = try queue.statement(adding: Sum(a: 1, b: 1))
            let connection = try ForeignPostgres(server.url(schema: schema))
            for (mode, code) in [
                ("ISOLATION LEVEL REPEATABLE READ", "0A000"), ("ISOLATION LEVEL SERIALIZABLE", "0A000"),
                ("READ ONLY", "25006"),
            ] {
                try connection.execute("BEGIN \(mode)")
                #expect(try connection.error(statement.sql, statement.parameters).code == code, "\(mode)")
                try connection.execute("ROLLBACK")
            }
            for prelude in ["SELECT 1", "RESET ALL", "SET LOCAL durable.additions = ''"] {
                await #expect(throws: PostgresError.self, "\(prelude)") {
                    try await store.transaction { transaction in
                        try transaction.execute(prelude)
                        try transaction.execute(statement.sql, statement.parameters.map { .text($0 ?? "") })
                    }
                }
            }
            try await queue.add(Sum(a: 1, b: 1))
            // A new store has the place of this one.
            try connection.execute("ALTER SCHEMA \(schema) RENAME TO \(schema)_old")
            try connection.execute("CREATE SCHEMA \(schema)")
            let next = try await PostgresStore(server.url(schema: schema))
            let error = try connection.error("SELECT \(schema)_old.durable_add('q', 'sum')")
            #expect(error.text.contains("those of another store"))
            #expect(try await next.snapshot().queues.isEmpty)
            try connection.execute("DROP SCHEMA \(schema)_old CASCADE")
        }
    }
    #endif

    @Test func `R38: neither temporary tables nor the conflict policy of a statement change an addition in SQLite`()
        async throws
    {
        try await withDatabase(.sqlite) { database in
            let queue = DurableQueue("q", in: database.store)
            let connection = try database.connect()
            for table in ["durable_meta", "durable_operation", "durable_queue", "durable_kind", "durable_add"] {
                try connection.execute("CREATE TEMP TABLE \(table)(id, name, value, input, queue)")
            }
            for setting in ["recursive_triggers = ON", "foreign_keys = ON"] {
                try connection.execute("PRAGMA \(setting)")
            }
            let options = DurableOptions(unique: "u", limitKey: "k")
            let statement = try queue.statement(adding: Sum(a: 1, b: 1), options: options)
            var ids: Set<OperationID> = []
            for policy in ["INSERT", "INSERT OR REPLACE", "INSERT OR IGNORE", "INSERT OR ABORT", "REPLACE"] {
                let sql = statement.sql.replacing("INSERT", with: policy)
                ids.insert(try connection.add(DurableStatement(sql: sql, parameters: statement.parameters)))
                try await queue.add(Sum(a: 2, b: 2))
            }
            #expect(ids.count == 1)
            #expect(try await queue.counts() == [.scheduled: 1, .ready: 5])
            // The statements of an application in a transaction of the store may use the view too.
            try await (database.store as? SQLiteStore)?.transaction { transaction in
                try queue.add(Sum(a: 3, b: 3), in: transaction)
                try transaction.execute(sql: "INSERT INTO main.durable_add(queue, name) VALUES ('r', 'other')")
                try queue.add(Sum(a: 3, b: 3), in: transaction)
            }
            #expect(try await queue.counts() == [.scheduled: 1, .ready: 7])
            #expect(try await DurableQueue("r", in: database.store).counts() == [.ready: 1])
            #expect(throws: ForeignError.self) {
                try connection.execute("INSERT INTO main.durable_add(queue, name) VALUES ('a' || char(0), 'n')")
            }
            // Such a connection permits no function of JSON in a trigger.
            try connection.execute("PRAGMA trusted_schema = OFF")
            #expect(throws: ForeignError.self) { try connection.add(statement) }
            #expect(try await queue.counts() == [.scheduled: 1, .ready: 7])
        }
    }

    private func compare(_ own: SharedDatabase, _ other: SharedDatabase, _ seed: UInt64) async throws {
        var numbers = SeededGenerator(seed: seed)
        let connection = try other.connect()
        var workers: [WorkerID] = []
        for database in [own, other] {
            workers.append(
                try await database.store.commit { machine in
                    try machine.setLimitPerKey(1, queue: "q0")
                    return try machine.register(
                        "w", kinds: ["sum", "note"], queues: ["q0", "q1"], lease: .seconds(3_600))
                })
            _ = try await database.store.commit { try $0.observeEvents() }
        }
        var ids: [OperationID] = []
        for step in 0..<60 {
            let label: Comment = "seed \(seed), step \(step)"
            if Int.random(in: 0..<3, using: &numbers) == 0 {
                let isSuccess = Bool.random(using: &numbers)
                for (database, worker) in zip([own, other], workers) {
                    try await database.store.commit { try run(&$0, worker, isSuccess) }
                }
            } else {
                let (name, options, after) = choice(&numbers, ids)
                let text = "\(step)" + String(repeating: " x", count: [0, 700].randomElement(using: &numbers) ?? 0)
                func handles(_ store: any DurableStore) -> [DurableHandle<Void>] {
                    after.map { DurableHandle(id: $0, store: store) }
                }
                var added: [Result<OperationID, any Error>] = []
                let queue = DurableQueue(name, in: own.store)
                do {
                    let note = Note(journal: "", word: text)
                    added.append(.success(try await queue.add(note, after: handles(own.store), options: options).id))
                } catch { added.append(.failure(error)) }
                do {
                    let statement = try DurableQueue(name, in: other.store).statement(
                        adding: Note(journal: "", word: text), after: handles(other.store), options: options)
                    added.append(.success(try connection.add(statement)))
                } catch { added.append(.failure(error)) }
                let found = added.map { try? $0.get() }
                try #require(found[0] == found[1], "\(label) \(added)")
                if let id = found[0], !ids.contains(id) { ids.append(id) }
            }
            for database in [own, other] { _ = try await database.store.commit { while try $0.wakeDue() {} } }
            let (a, b) = (try await state(own.store, ids), try await state(other.store, ids))
            try #require(a == b, label)
        }
    }

    private func choice(
        _ numbers: inout SeededGenerator, _ ids: [OperationID]
    ) -> (queue: String, DurableOptions, [OperationID]) {
        var options = DurableOptions()
        func one(in count: Int) -> Bool { Int.random(in: 0..<count, using: &numbers) == 0 }
        options.priority = DurablePriority.allCases.randomElement(using: &numbers) ?? .normal
        options.dependencyFailurePolicy = DurableFailurePolicy.allCases.randomElement(using: &numbers) ?? .runAnyway
        if one(in: 3) { options.retry = .exponential(retries: 3) }
        if one(in: 5) { options.delay = .seconds(3_600) }
        if one(in: 9) { options.notBefore = Date(timeIntervalSince1970: 7_000_000_000.123456) }
        if one(in: 9) { options.notBefore = Date(timeIntervalSince1970: -5) }
        if one(in: 3) {
            options.unique = "u\(Int.random(in: 0..<3, using: &numbers))"
            options.uniquePolicy = DurableUniquePolicy.allCases.randomElement(using: &numbers) ?? .keep
            if one(in: 3) { options.uniquePeriod = .seconds(3_600) }
        }
        if one(in: 3) { options.limitKey = "k'\"\\ü" }
        if one(in: 5) { options.timeout = .microseconds(1_500_001) }
        if one(in: 5) { options.deadline = .seconds(10_000) }
        options.isBarrier = one(in: 9)
        let after =
            one(in: 2)
            ? []
            : (0..<Int.random(in: 0..<4, using: &numbers)).compactMap { _ in
                ids.randomElement(using: &numbers)
            }
        return (["q0", "q1"].randomElement(using: &numbers) ?? "q0", options, after)
    }

    /// Everything of operations that does not depend on the instant of the addition.
    private func state(_ store: any DurableStore, _ ids: [OperationID]) async throws -> [String] {
        try await store.commit { machine in
            var texts: [String] = []
            for row in try machine.rows.operations(ids.sorted()) {
                let kind = try machine.rows.name(of: row.kind)
                let queue = try machine.rows.queue(row.queue).name
                let input =
                    try machine.rows.inputs(of: [row.id])[row.id].map { String(decoding: $0, as: UTF8.self) } ?? ""
                let edges = try machine.rows.edges(to: [row.id])
                let wake = row.wakeAt.map {
                    $0.microseconds > 6_000_000_000_000_000 ? "\($0.microseconds)" : "relative"
                }
                let deadline = row.deadline.map { (($0.microseconds - row.addedAt.microseconds) / 60_000_000) }
                texts.append(
                    """
                    \(row.id) \(kind) \(queue) \(row.epoch) \(row.priority) \(row.state) \(row.pending) \(row.failurePolicy) \
                    \(row.rootCause as Any) \(row.key ?? "-") \(row.fence) \(row.retry) \(row.timeout ?? 0) \(row.reason ?? "-") \
                    \(row.context ?? "-") wake \(wake ?? "-") deadline \(deadline ?? 0) \(edges.map(\.dependency)) \(input)
                    """)
            }
            for queue in try machine.rows.queues().sorted(by: { $0.name < $1.name }) {
                texts.append("\(queue.name) \(queue.currentEpoch) \(queue.lastEpoch)")
                let counters = try machine.rows.counters(of: queue.id).filter { $0.value != 0 }
                texts += counters.map { "\(queue.name) \($0.key.epoch) \($0.key.state) \($0.value)" }.sorted()
                texts += try machine.rows.keys(of: queue.id).map {
                    "\($0.name.key) \($0.running) \($0.ready) \($0.blocked)"
                }
            }
            for key in 0..<3 {
                let unique = try machine.rows.unique(kind: machine.rows.kind(named: "note"), key: "u\(key)")
                texts.append("\(unique?.operation as Any) \(unique?.heldUntil == nil)")
            }
            return texts
        }
    }

    /// Runs the first operation of each queue.
    private func run(_ machine: inout DurableMachine, _ worker: WorkerID, _ isSuccess: Bool) throws {
        let claims = try machine.claim(for: worker, slots: [("q0", 1), ("q1", 1)], kinds: ["note"])
        let results = claims.compactMap(\.lease).map { lease in
            Completion(
                lease: lease, result: isSuccess ? .succeeded(output: []) : .failed(reason: "so", isRetryable: false))
        }
        _ = try machine.complete(results)
    }
}
