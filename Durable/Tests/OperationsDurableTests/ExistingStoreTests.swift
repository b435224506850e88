import DurableCore
import Foundation
import GRDB
import Testing

@testable import OperationsDurable

#if Postgres
@testable import OperationsDurablePostgres
#endif

/// Rule R36: a command opens a store that exists, and creates and changes nothing else.
@Suite struct ExistingStoreTests {
    private func open(_ path: String) async throws -> SQLiteStore {
        var configuration = SQLiteStore.Configuration()
        (configuration.createsSchema, configuration.busyTimeout) = (false, .seconds(2))
        return try await SQLiteStore(path: path, configuration: configuration)
    }

    /// Returns the names and the contents of the files beside a path.
    private func files(_ path: String) throws -> [String: Data] {
        let folder = URL(fileURLWithPath: path).deletingLastPathComponent()
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        return try names.reduce(into: [:]) { $0[$1] = try Data(contentsOf: folder.appendingPathComponent($1)) }
    }

    @Test func `R36: an absent file is an error, and no file is created`() async throws {
        try await withTemporaryFile { path in
            await #expect { try await open(path) } throws: { "\($0)".contains("No such file") }
            await #expect(throws: DurableError.self) { try await open(path + "-absent/work.db") }
            let found = try files(path)
            #expect(found.isEmpty)
        }
    }

    @Test(arguments: [
        Data(), Data("a text".utf8), Data(repeating: 0xA5, count: 10_000), Data("SQLite format 3\0".utf8),
    ])
    func `R36: a file that is no database is an error, and stays unchanged`(_ content: Data) async throws {
        try await withTemporaryFile { path in
            try content.write(to: URL(fileURLWithPath: path))
            let before = try files(path)
            await #expect(throws: DurableError.self) { try await open(path) }
            #expect(try files(path) == before)
        }
    }

    @Test(arguments: ["delete", "wal"])
    func `R36: a database of another program is no store, and stays unchanged`(_ mode: String) async throws {
        try await withTemporaryFile { path in
            do {
                let queue = try DatabaseQueue(path: path)
                try await queue.writeWithoutTransaction { database in
                    try database.execute(
                        sql: "PRAGMA journal_mode = \(mode); CREATE TABLE own(a); INSERT INTO own VALUES (1)")
                }
                try queue.close()
            }
            let before = try files(path)
            await #expect(throws: DurableError.noSchema) { try await open(path) }
            #expect(try files(path) == before)
        }
    }

    @Test(arguments: [("schema = 999", 999), ("schema = 2", 2)])
    func `R36: a newer and an older schema are errors, and nothing is migrated`(_ change: String, _ version: Int)
        async throws
    {
        try await withTemporaryFile { path in
            do {
                let store = try await SQLiteStore(path: path)
                try await store.transaction { database in
                    try database.execute(
                        sql: "UPDATE durable_meta SET value = ? WHERE name = 'schema'", arguments: [version])
                    if version > Schema.version {
                        try database.execute(
                            sql: "UPDATE durable_meta SET value = ? WHERE name = 'oldest_reader'", arguments: [version])
                    }
                }
                try await store.compact()
            }
            let before = try Data(contentsOf: URL(fileURLWithPath: path))
            let expected: DurableError =
                version > Schema.version
                ? .newerSchema(found: version, supported: Schema.version)
                : .olderSchema(found: version, supported: Schema.version)
            await #expect(throws: expected) { try await open(path) }
            #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == before)
        }
    }

    @Test func `R36: a store opens and answers while another connection holds the lock of writers`() async throws {
        try await withTemporaryFile { path in
            let first = try await SQLiteStore(path: path)
            let added = try await DurableQueue("q", in: first).add(Sum(a: 1, b: 2))
            var configuration = GRDB.Configuration()
            configuration.allowsUnsafeTransactions = true
            let other = try DatabaseQueue(path: path, configuration: configuration)
            try await other.writeWithoutTransaction { try $0.execute(sql: "BEGIN IMMEDIATE") }
            let store = try await open(path)
            #expect(try await store.record(of: added.id).name == "sum")
            await #expect { try await store.cancel([added.id]) } throws: { "\($0)".contains("held the lock") }
            try await other.writeWithoutTransaction { try $0.execute(sql: "ROLLBACK") }
            try await store.cancel([added.id])
            #expect(try await first.record(of: added.id).state == .cancelled)
        }
    }

    #if os(Linux)
    /// Returns the number of locks that this process holds on the file.
    private func locks(_ path: String) throws -> Int {
        var status = stat()
        try #require(stat(path, &status) == 0)
        let suffix = ":\(status.st_ino)"
        return WriterLock.locks().split(separator: "\n").count { line in
            let words = line.split(separator: " ")
            return words.count > 5 && words[4] == "\(getpid())" && words[5].hasSuffix(suffix)
        }
    }

    @Test func `R36: a second store of the process takes no lock away from the first one`() async throws {
        try await withTemporaryFile { path in
            let first = try await SQLiteStore(path: path)
            let held = try locks(path)
            #expect(held > 0)
            do {
                let second = try await open(path)
                #expect(try await second.snapshot().queues.isEmpty)
            }
            try #expect(locks(path) >= held)
            _ = try await DurableQueue("q", in: first).add(Sum(a: 1, b: 2))
        }
    }
    #endif

    #if Postgres
    @Test(.enabled(if: PostgresServer.isInstalled))
    func `R36: a schema of PostgreSQL without tables is no store, and stays empty`() async throws {
        try await withPostgres { server, schema in
            let url = server.url(schema: schema)
            var configuration = PostgresStore.Configuration()
            configuration.createsSchema = false
            for _ in 0..<2 {
                await #expect(throws: DurableError.noSchema) {
                    try await PostgresStore(url, configuration: configuration)
                }
            }
            let store = try await PostgresStore(url)
            let added = try await DurableQueue("q", in: store).add(Sum(a: 1, b: 2))
            let same = try await PostgresStore(url, configuration: configuration)
            #expect(same.identity == store.identity)
            #expect(try await same.record(of: added.id).name == "sum")
            let other = try server.connection(schema)
            try other.execute("UPDATE durable_meta SET number = 2 WHERE name = 'schema'")
            let older = DurableError.olderSchema(found: 2, supported: PostgresSchema.version)
            await #expect(throws: older) { try await PostgresStore(url, configuration: configuration) }
            try other.execute("UPDATE durable_meta SET number = 999 WHERE name IN ('schema', 'oldest_reader')")
            let newer = DurableError.newerSchema(found: 999, supported: PostgresSchema.version)
            await #expect(throws: newer) { try await PostgresStore(url, configuration: configuration) }
        }
    }
    #endif
}
