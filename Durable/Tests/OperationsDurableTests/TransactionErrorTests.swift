import DurableCore
import GRDB
import OperationsDurable
import Testing

#if Postgres
import OperationsDurablePostgres
#endif

/// Errors of the statements of an application in a transaction of the store.
@Suite struct TransactionErrorTests {
    /// Executes a statement and completes itself in one transaction.
    struct Effect: DurableOperation {
        static let name = "effect"
        var sql: String

        func run(_ context: DurableContext) async throws {
            let sql = sql
            if let store = context.store as? SQLiteStore {
                try await store.transaction { database in
                    try database.execute(sql: sql)
                    try context.complete(in: database)
                }
            }
            #if Postgres
            if let store = context.store as? PostgresStore {
                try await store.transaction { transaction in
                    try transaction.execute(sql)
                    try context.complete(in: transaction)
                }
            }
            #endif
        }
    }

    private static let tables = [
        "CREATE TABLE once(id BIGINT PRIMARY KEY)", "INSERT INTO once VALUES (1)",
        "CREATE TABLE late(id BIGINT REFERENCES once(id) DEFERRABLE INITIALLY DEFERRED)",
    ]
    private static let refused = [
        "INSERT INTO once VALUES (1)", "INSERT INTO unknown VALUES (1)",
        // Checked when the transaction commits.
        "INSERT INTO late VALUES (7)",
    ]

    private func execute(_ sql: String, _ store: any DurableStore) async throws {
        if let store = store as? SQLiteStore { try await store.transaction { try $0.execute(sql: sql) } }
        #if Postgres
        if let store = store as? PostgresStore { _ = try await store.transaction { try $0.execute(sql) } }
        #endif
    }

    @Test(arguments: StoreKind.allCases.filter { $0 != .memory })
    func `R19: an operation fails if the database refuses a statement or the commit of its transaction`(
        _ kind: StoreKind
    ) async throws {
        try await withStore(kind) { test in
            for sql in Self.tables { try await execute(sql, test.store) }
            let queue = DurableQueue("q", in: test.store)
            let accepted = try await queue.add(Effect(sql: "INSERT INTO late VALUES (1)"))
            let refused = try await queue.add(contentsOf: Self.refused.map { Effect(sql: $0) })
            try await withWorker(test.store, [Effect.self]) {
                try await accepted.value
                for operation in refused { try await operation.reaches(.failed) }
            }
            for operation in refused {
                let outcomes = try await test.store.attempts(of: operation.id).map(\.outcome)
                #expect(outcomes == [.failed], "\(operation.id)")
            }
        }
    }

    @Test func `the caller of a transaction receives the error of its statement or of its commit`() async throws {
        try await withStore(.sqlite) { test in
            for sql in Self.tables { try await execute(sql, test.store) }
            let codes: [ResultCode] = [.SQLITE_CONSTRAINT_PRIMARYKEY, .SQLITE_ERROR, .SQLITE_CONSTRAINT_FOREIGNKEY]
            for (sql, code) in zip(Self.refused, codes) {
                let error = await #expect(throws: DatabaseError.self) { try await execute(sql, test.store) }
                #expect(error?.extendedResultCode == code)
            }
            let rolledBack = await #expect(throws: DatabaseError.self) {
                try await execute("INSERT OR ROLLBACK INTO once VALUES (1)", test.store)
            }
            #expect(rolledBack?.resultCode == .SQLITE_CONSTRAINT)
        }
    }

    @Test
    func `R28: a statement of a transaction that finds a full disk reports that the database is away`() async throws {
        try await withStore(.sqlite) { test in
            let store = try test.sqlite
            try await execute("CREATE TABLE big(content BLOB)", store)
            let error = await #expect(throws: DurableError.self) {
                try await store.transaction { database in
                    let pages = try Int.fetchOne(database, sql: "PRAGMA page_count") ?? 0
                    try database.execute(sql: "PRAGMA max_page_count = \(pages)")
                    try database.execute(sql: "INSERT INTO big VALUES (zeroblob(200000))")
                }
            }
            #expect("\(try #require(error))".contains("full"))
        }
    }

    #if Postgres
    @Test(arguments: PostgresServer.isInstalled ? ["23505", "23503", "42P01", "25P02", "25P02 and an addition"] : [])
    func `the caller of a transaction of PostgreSQL receives the error of its statement or of its commit`(
        _ state: String
    ) async throws {
        try await withStore(.postgres) { test in
            for sql in Self.tables { try await execute(sql, test.store) }
            let store = try #require(test.store as? PostgresStore)
            let error = await #expect(throws: PostgresError.self) {
                try await store.transaction { transaction in
                    switch state {
                    case "23505": try transaction.execute(Self.refused[0])
                    case "42P01": try transaction.execute(Self.refused[1])
                    case "23503": try transaction.execute(Self.refused[2])
                    // The closure hides the error, and the server permits no further statement.
                    default:
                        _ = try? transaction.execute(Self.refused[0])
                        if state != "25P02" {
                            try DurableQueue("q", in: store).add(Sum(a: 1, b: 1), in: transaction)
                        }
                    }
                }
            }
            #expect(error?.sqlState == String(state.prefix(5)))
        }
    }
    #endif
}
