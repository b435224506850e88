import DurableCore
import Foundation
import GRDB
import OperationsTesting
import Testing

@testable import OperationsDurable

/// Rule R31 in SQLite: no statement of an application leads the store to other tables or settings.
@Suite struct OwnTablesTests {
    /// Completes itself in a transaction of another file.
    struct Elsewhere: DurableOperation {
        static let name = "elsewhere"
        var path: String

        func run(_ context: DurableContext) async throws -> String {
            let other = try await SQLiteStore(path: path)
            do {
                try await other.transaction { try context.complete("lost", in: $0) }
                return "accepted"
            } catch { return "\(error)" }
        }
    }

    /// Opens a connection of the application. It waits for the workers of the store, which write at any time.
    private func connection(_ path: String) throws -> DatabaseQueue {
        var configuration = Configuration()
        configuration.busyMode = .timeout(60)
        return try DatabaseQueue(path: path, configuration: configuration)
    }

    /// Calls the body in a transaction of a connection of the application.
    private func write<Reply>(_ path: String?, _ body: (Database) throws -> Reply) throws -> Reply {
        try (path.map(connection) ?? DatabaseQueue()).write(body)
    }

    private func writeWithoutTransaction(_ path: String, _ body: (Database) throws -> Void) throws {
        try connection(path).writeWithoutTransaction(body)
    }

    private func copy(_ path: String, to other: String) throws {
        try connection(path).backup(to: connection(other))
    }

    private func rows(_ path: String) throws -> [String] { try connection(path).read(rows) }

    private func rows(_ database: Database) throws -> [String] {
        let tables = ["operation", "meta", "queue", "counter", "event"]
        return try tables.flatMap { table in
            try Row.fetchAll(database, sql: "SELECT * FROM durable_\(table)").map { "\(table) \($0)" }
        }
    }

    @Test func `R31: an addition in a transaction of another file is refused, and nothing is written`() async throws {
        try await withTemporaryFile { path in
            let store = try await SQLiteStore(path: path)
            let queue = DurableQueue("q", in: store)
            try await queue.add(Sum(a: 1, b: 2))
            _ = try await DurableQueue("q", in: SQLiteStore(path: path + ".other")).add(Sum(a: 3, b: 4))
            // A copy has the same identity.
            try copy(path, to: path + ".copy")
            try write(path + ".empty") { try $0.execute(sql: "CREATE TABLE a(b)") }
            for suffix in [".other", ".copy", ".empty"] {
                let before = try? rows(path + suffix)
                #expect(throws: DurableError.noSchema, "\(suffix)") {
                    try write(path + suffix) { _ = try queue.add(Sum(a: 5, b: 6), in: $0) }
                }
                #expect((try? rows(path + suffix)) == before, "\(suffix)")
            }
            #expect(throws: DurableError.noSchema) {
                try write(nil) { _ = try queue.add(Sum(a: 5, b: 6), in: $0) }
            }
            // The file of the store under another name of a schema is not the main file.
            try writeWithoutTransaction(path + ".other") { database in
                try database.execute(sql: "ATTACH ? AS jobs", arguments: [path])
                #expect(throws: DurableError.noSchema) {
                    try database.inTransaction {
                        _ = try queue.add(Sum(a: 5, b: 6), in: database)
                        return .commit
                    }
                }
            }
            #expect(try await queue.counts() == [.ready: 1])
            // A hard link has a log of its own.
            try await store.compact()
            try FileManager.default.linkItem(atPath: path, toPath: path + ".hard")
            #expect(throws: DurableError.noSchema) {
                try write(path + ".hard") { _ = try queue.add(Sum(a: 5, b: 6), in: $0) }
            }
            try FileManager.default.removeItem(atPath: path + ".hard")
            // Another name of the file is the file.
            try FileManager.default.createSymbolicLink(atPath: path + ".link", withDestinationPath: path)
            try write(path + ".link") { _ = try queue.add(Sum(a: 7, b: 8), in: $0) }
            #expect(try await queue.counts() == [.ready: 2])
        }
    }

    @Test func `R31: a completion in a transaction of another file is refused, and changes neither store`() async throws
    {
        try await withTemporaryFile { path in
            let (store, other) = (try await SQLiteStore(path: path), try await SQLiteStore(path: path + ".other"))
            let queue = DurableQueue("q", in: store)
            let victim = try await DurableQueue("q", in: other).add(Sum(a: 1, b: 2))
            let handle = try await queue.add(Elsewhere(path: path + ".other"))
            #expect(handle.id == victim.id)
            try await withWorker(store, [Elsewhere.self]) {
                let answer = try await handle.value
                #expect(answer == "\(DurableError.noSchema)")
            }
            #expect(try await victim.state == .ready)
        }
    }

    @Test func `R31: an addition without a transaction is refused, because each statement would commit alone`()
        async throws
    {
        try await withTemporaryFile { path in
            let queue = DurableQueue("q", in: try await SQLiteStore(path: path))
            try writeWithoutTransaction(path) { database in
                #expect(throws: DurableError.invalidValue("the connection has no open transaction")) {
                    try queue.add(Sum(a: 1, b: 2), in: database)
                }
            }
            #expect(try await queue.counts() == [:])
        }
    }

    @Test func `R31: a connection of the application with temporary tables of the store's names adds to the store`()
        async throws
    {
        try await withTemporaryFile { path in
            let queue = DurableQueue("q", in: try await SQLiteStore(path: path))
            try write(path) { database in
                for table in ["operation", "meta", "queue", "kind", "counter", "event"] {
                    try database.execute(
                        sql: "CREATE TEMP TABLE durable_\(table) AS SELECT * FROM main.durable_\(table)")
                }
                try queue.add(Sum(a: 1, b: 2), in: database)
            }
            #expect(try await queue.counts() == [.ready: 1])
        }
    }

    // MARK: - Random programs

    private static let statements = [
        "CREATE TEMP TABLE durable_operation(id)", "CREATE TEMP TABLE durable_meta(name, value)",
        "CREATE TEMP VIEW durable_counter AS SELECT 1 AS queue", "CREATE TEMP TABLE \"durable_kind\"(id, name)",
        "CREATE TEMP TRIGGER hidden AFTER INSERT ON main.durable_operation BEGIN DELETE FROM durable_operation; END",
        "ATTACH 'OTHER' AS other", "ATTACH ':memory:' AS memory", "DETACH main", "PRAGMA query_only = ON",
        "PRAGMA locking_mode = EXCLUSIVE", "PRAGMA busy_timeout = 0", "PRAGMA synchronous = OFF",
        "PRAGMA main.synchronous = 0", "PRAGMA journal_mode = DELETE", "PRAGMA journal_mode = OFF",
        "PRAGMA wal_autocheckpoint = 0", "PRAGMA temp_store = FILE", "PRAGMA max_page_count = 1",
        "PRAGMA writable_schema = ON", "PRAGMA foreign_keys = ON", "PRAGMA recursive_triggers = ON",
        "PRAGMA reverse_unordered_selects = ON", "PRAGMA cache_size = 1", "PRAGMA case_sensitive_like = ON",
        "EXPLAIN PRAGMA query_only = ON", "PRAGMA wal_checkpoint(TRUNCATE)", "VACUUM", "BEGIN", "COMMIT", "END",
        "ROLLBACK", "ROLLBACK; BEGIN", "ROLLBACK; BEGIN IMMEDIATE; INSERT INTO effect VALUES (1)", "SAVEPOINT grdb",
        "SAVEPOINT durable", "RELEASE grdb", "ROLLBACK TO grdb", "RELEASE durable", "SELECT * FROM absent",
        "INSERT INTO effect VALUES (1)", "INSERT OR ROLLBACK INTO once VALUES (1)", "REINDEX", "ANALYZE",
        "PRAGMA short_column_names = OFF", "PRAGMA full_column_names = ON", "PRAGMA trusted_schema = OFF",
        "PRAGMA count_changes = ON", "PRAGMA legacy_alter_table = ON", "PRAGMA schema_version = 77",
        "ALTER TABLE durable_operation RENAME TO gone", "DROP TABLE durable_event", "DROP VIEW durable_add",
        "CREATE TRIGGER swallow BEFORE INSERT ON durable_operation BEGIN SELECT RAISE(IGNORE); END",
        "ALTER TABLE durable_edge ADD COLUMN extra", "CREATE TABLE IF NOT EXISTS durable_goods(a)",
        "CREATE INDEX IF NOT EXISTS extra ON durable_operation(reason)",
    ]

    /// Checks that the connection has the settings of the store, and nothing else.
    private func expectClean(_ store: SQLiteStore, _ text: Comment) async throws {
        try await store.transaction { database in
            let expected: [(String, String)] = [
                ("query_only", "0"), ("locking_mode", "normal"), ("journal_mode", "wal"), ("synchronous", "2"),
                ("wal_autocheckpoint", "4000"), ("writable_schema", "0"), ("cache_size", "-16384"), ("temp_store", "2"),
                ("short_column_names", "1"), ("full_column_names", "0"), ("trusted_schema", "1"),
                ("recursive_triggers", "0"),
            ]
            for (name, value) in expected {
                let found = try Row.fetchOne(database, sql: "PRAGMA \(name)").map { "\($0[0] as DatabaseValue)" }
                #expect(found?.replacing("\"", with: "") == value, "\(name): \(text)")
            }
            #expect(try Int.fetchOne(database, sql: "PRAGMA max_page_count") ?? 0 > 1_000_000, text)
            #expect(
                try Int.fetchOne(
                    database, sql: "SELECT count(*) FROM temp.sqlite_master WHERE substr(name, 1, 7) <> 'sqlite_'")
                    == 0, text)
            let files = try Row.fetchAll(database, sql: "PRAGMA database_list").map { $0["name"] as String }
            #expect(!files.contains("other") && !files.contains("memory"), text)
        }
    }

    @Test(arguments: 1...UInt64(Stress.rounds(240, least: 12)))
    func `R31: no statement of an application leads the store of a file to other tables, settings or losses`(
        _ seed: UInt64
    ) async throws {
        try await withTemporaryFile { path in
            var random = SeededGenerator(seed: seed)
            let other = try await SQLiteStore(path: path + ".other")
            try await DurableQueue("q", in: other).add(Sum(a: 0, b: 0))
            let untouched = try rows(path + ".other")
            let store = try await SQLiteStore(path: path)
            try await store.transaction { database in
                try database.execute(sql: "CREATE TABLE effect(number); CREATE TABLE once(id INTEGER PRIMARY KEY)")
                try database.execute(sql: "INSERT INTO once VALUES (1)")
            }
            let queue = DurableQueue("q", in: store)
            var count = 0
            for round in 0..<12 {
                var program: [String?] = (0...Int.random(in: 0..<4, using: &random)).map { _ in
                    Self.statements.randomElement(using: &random)?.replacing("OTHER", with: path + ".other")
                }
                program.insert(nil, at: Int.random(in: 0...program.count, using: &random))
                let (isCaught, mustFail) = (Bool.random(using: &random), Int.random(in: 0..<4, using: &random) == 0)
                let text: Comment = "seed \(seed), round \(round): \(program)"
                // An addition of the same group, before and after the statements.
                async let first = queue.add(Sum(a: round, b: 0))
                async let hostile = store.transaction { [program] database in
                    for statement in program {
                        guard let statement else {
                            try queue.add(Sum(a: round, b: 1), in: database)
                            continue
                        }
                        do { try database.execute(sql: statement) } catch { if !isCaught { throw error } }
                    }
                    if mustFail { throw TestFailure() }
                }
                async let last = queue.add(Sum(a: round, b: 2))
                _ = try await (first, last)
                count += 2
                if (try? await hostile) != nil { count += 1 }
                #expect(try await queue.counts() == [.ready: count], text)
                try await expectClean(store, text)
                // A process with a connection of its own can write.
                try write(path) { try $0.execute(sql: "INSERT INTO effect VALUES (2)") }
            }
            #expect(try rows(path + ".other") == untouched)
        }
    }

    @Test(arguments: [
        ["ALTER TABLE durable_operation RENAME TO gone", "CREATE TABLE durable_operation AS SELECT * FROM gone"],
        ["CREATE TRIGGER swallow BEFORE INSERT ON durable_operation BEGIN SELECT RAISE(IGNORE); END"],
        ["DROP TABLE durable_event"], ["ALTER TABLE durable_edge ADD COLUMN extra"],
    ])
    func `R31: a transaction that changes the tables of the store is refused, and one that makes others is not`(
        _ program: [String]
    ) async throws {
        try await withTemporaryFile { path in
            let store = try await SQLiteStore(path: path)
            let queue = DurableQueue("q", in: store)
            await #expect(throws: DurableError.invalidValue("the statements change the tables of the store")) {
                try await store.transaction { database in
                    for statement in program { try database.execute(sql: statement) }
                }
            }
            try await queue.add(Sum(a: 1, b: 2))
            try await store.transaction { database in
                try database.execute(
                    sql: "CREATE TABLE durable_goods(a); CREATE VIEW v AS SELECT id FROM durable_operation")
                try queue.add(Sum(a: 3, b: 4), in: database)
            }
            #expect(try await queue.counts() == [.ready: 2])
            let names = try await store.transaction { database in
                try String.fetchAll(
                    database,
                    sql: "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') AND name GLOB 'durable_*'")
            }
            #expect(Set(names) == Set(Table.names + ["durable_goods"]))
        }
    }

    @Test func `R31: the names of columns that an application chooses do not stop the process`() async throws {
        try await withTemporaryFile { path in
            let store = try await SQLiteStore(path: path)
            try await store.transaction { database in
                try database.execute(
                    sql: "PRAGMA short_column_names = OFF; PRAGMA full_column_names = ON; CREATE TEMP TABLE x(a)")
            }
            try await expectClean(store, "names of columns")
        }
    }

    // MARK: - Files

    @Test(arguments: ["-wal", "-shm"], [false, true])
    func `R39: a file beside the open database that was removed or replaced is an error of each request`(
        _ suffix: String, _ isReplaced: Bool
    ) async throws {
        try await withTemporaryFile { path in
            let store = try await SQLiteStore(path: path)
            let queue = DurableQueue("q", in: store)
            try await queue.add(Sum(a: 1, b: 2))
            try FileManager.default.moveItem(atPath: path + suffix, toPath: path + ".away")
            if isReplaced { try FileManager.default.copyItem(atPath: path + ".away", toPath: path + suffix) }
            let requests: [@Sendable () async throws -> Void] = [
                { try await queue.add(Sum(a: 3, b: 4)) }, { _ = try await queue.counts() },
                { try await store.transaction { _ in } },
            ]
            for request in requests {
                let error = await #expect(throws: DurableError.self) { try await request() }
                #expect(
                    "\(try #require(error))".contains("'work.db\(suffix)' of the open database was removed or replaced")
                )
            }
            if isReplaced { try FileManager.default.removeItem(atPath: path + suffix) }
            try FileManager.default.moveItem(atPath: path + ".away", toPath: path + suffix)
            try await queue.add(Sum(a: 5, b: 6))
            #expect(try await queue.counts() == [.ready: 2])
        }
    }

    // MARK: - Versions

    @Test func `R35: a program that a newer version excludes changes nothing, and its worker stops with the error`()
        async throws
    {
        try await withTemporaryFile { path in
            let store = try await SQLiteStore(path: path)
            let queue = DurableQueue("q", in: store)
            let held = try await queue.add(Held(journal: "excluded"))
            let worker = try DurableWorker(store, queues: ["q": .limit(2)], operations: [Held.self])
            let running = Task { try await worker.run() }
            try await poll("the operation runs") { Journal.named("excluded").count("start") == 1 }
            try write(path) { database in
                try database.execute(sql: "UPDATE durable_meta SET value = 9 WHERE name IN ('schema', 'oldest_reader')")
            }
            let error = DurableError.newerSchema(found: 9, supported: Schema.version)
            await #expect(throws: error) { try await queue.add(Sum(a: 1, b: 2)) }
            await #expect(throws: error) { try await store.transaction { _ = try queue.add(Sum(a: 1, b: 2), in: $0) } }
            #expect(throws: error) { try write(path) { _ = try queue.add(Sum(a: 1, b: 2), in: $0) } }
            Journal.named("excluded").append("open")
            await #expect(throws: error) { try await running.value }
            #expect(try await held.state == .running)
        }
    }
}
