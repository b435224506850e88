#if Postgres
import DurableCore
import Foundation
import Testing

@testable import OperationsDurable
@testable import OperationsDurablePostgres

@Suite(.enabled(if: PostgresServer.isInstalled)) struct PostgresStoreTests {
    private func withStore(_ body: (PostgresServer, String, PostgresStore) async throws -> Void) async throws {
        try await withPostgres { server, schema in
            let store = try await PostgresStore(server.url(schema: schema))
            _ = try await store.transaction { try $0.execute("CREATE TABLE effect(number bigint, word text)") }
            try await body(server, schema, store)
        }
    }

    private func effects(_ store: PostgresStore) async throws -> [Int64] {
        try await store.transaction { try $0.execute("SELECT number FROM effect ORDER BY number") }
            .compactMap { $0.int("number") }
    }

    @Test func `the connection for notices stays open between waits`() async throws {
        try await withStore { server, schema, store in
            let connection = try server.connection()
            let sessions = {
                let rows = try connection.run(
                    text: "SELECT pid::text FROM pg_stat_activity WHERE application_name = $1", [.text(schema)])
                return Set(rows.map { $0.text(0) })
            }
            let others = try sessions()
            let first = store.notices.addListener { _ in }
            // Its last statement is LISTEN for a second only. Then it is the question whether the server still answers.
            try await poll("the store listens") { try sessions() != others }
            let listening = try sessions().subtracting(others)
            store.notices.removeListener(first)
            let second = store.notices.addListener { _ in }
            defer { store.notices.removeListener(second) }
            let worker = try await PostgresStore(server.url(schema: schema))
            let handle = try await DurableQueue("q", in: store).add(Sum(a: 1, b: 2))
            try await withWorker(worker, [Sum.self]) {
                let value = try await handle.value
                #expect(value == 3)
            }
            #expect(try sessions().isSuperset(of: listening) && listening.count == 1)
        }
    }

    // MARK: - Transactions of the application

    @Test func `R2: an addition in a transaction of PostgreSQL exists if and only if the transaction commits`()
        async throws
    {
        try await withStore { _, _, store in
            let queue = DurableQueue("q", in: store)
            let kept = try await store.transaction { transaction in
                try transaction.execute("INSERT INTO effect VALUES ($1, $2)", [1, "it's"])
                return try queue.add(Sum(a: 1, b: 2), in: transaction)
            }
            await #expect(throws: TestFailure.self) {
                try await store.transaction { transaction in
                    try transaction.execute("INSERT INTO effect VALUES ($1, $2)", [2, nil])
                    try queue.add(Note(journal: "", word: ""), in: transaction)
                    throw TestFailure()
                }
            }
            #expect(try await effects(store) == [1])
            #expect(try await queue.counts() == [.ready: 1])
            #expect(try await kept.state == .ready)
            // The name of the operation that was rolled back is unknown, and gets a number again.
            try await queue.add(Note(journal: "", word: ""))
            #expect(try await store.snapshot().queues[0].counts == ["sum": [.ready: 1], "note": [.ready: 1]])
        }
    }

    @Test func `an error of one transaction undoes nothing of the other requests of its group`() async throws {
        try await withStore { _, _, store in
            let queue = DurableQueue("q", in: store)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<40 {
                    group.addTask {
                        if number % 2 == 0 {
                            try await queue.add(Sum(a: number, b: 0))
                        } else {
                            await #expect(throws: PostgresError.self) {
                                try await store.transaction { transaction in
                                    try transaction.execute(
                                        "INSERT INTO effect VALUES ($1, 'a')", [.int(Int64(number))])
                                    try transaction.execute("SELECT 1 / $1::bigint", [0])
                                }
                            }
                        }
                    }
                }
                try await group.waitForAll()
            }
            #expect(try await effects(store) == [])
            #expect(try await queue.counts() == [.ready: 20])
        }
    }

    @Test func `the closure of a transaction cannot end the transaction`() async throws {
        try await withStore { _, _, store in
            for statement in ["COMMIT", " rollback", "; end", "BEGIN", "/* a /* b */ */COMMIT", "-- a\n;commit"] {
                await #expect(
                    throws: PostgresError(
                        sqlState: "2D000", message: "the store begins and ends the transaction")
                ) {
                    try await store.transaction { try $0.execute(statement) }
                }
            }
            // An error that the closure hides still undoes its statements.
            await #expect(throws: PostgresError.self) {
                try await store.transaction { transaction in
                    try transaction.execute("INSERT INTO effect VALUES (1, 'a')")
                    _ = try? transaction.execute("SELECT 1 / $1::bigint", [0])
                }
            }
            let found = try await effects(store)
            #expect(found.isEmpty)
        }
    }

    @Test func `values of all types pass through a statement`() async throws {
        try await withStore { _, _, store in
            let rows = try await store.transaction { transaction in
                try transaction.execute(
                    "SELECT $1::text AS a, $2::bigint AS b, $3::float8 AS c, $4::boolean AS d, $5::bytea AS e, $6::text AS f",
                    ["x'\"y", -5, 2.5, true, .bytes([0, 255, 7]), nil])
            }
            #expect(rows.count == 1)
            #expect(rows[0].columns == ["a", "b", "c", "d", "e", "f"])
            #expect((rows[0]["a"], rows[0].int("b"), rows[0]["c"], rows[0]["d"]) == ("x'\"y", -5, "2.5", "t"))
            #expect(rows[0].bytes("e") == [0, 255, 7])
            #expect(rows[0]["f"] == nil && rows[0]["g"] == nil && rows[0][0] == "x'\"y")
        }
    }

    @Test func `R10: an effect and its completion in PostgreSQL commit together, and never twice`() async throws {
        try await withStore { _, _, store in
            let queue = DurableQueue("q", in: store)
            let handle = try await queue.add(Twice(journal: "R10 twice"))
            try await withWorker(store, [Twice.self]) { try await handle.value }
            #expect(try await effects(store) == [1])
            #expect(Journal.named("R10 twice").all == ["refused"])
        }
    }

    /// Completes itself in two transactions.
    struct Twice: DurableOperation {
        static let name = "twice"
        var journal: String

        func run(_ context: DurableContext) async throws {
            let store = try #require(context.attempt.store as? PostgresStore)
            for _ in 0..<2 {
                do {
                    try await store.transaction { transaction in
                        try transaction.execute("INSERT INTO effect VALUES (1, 'a')")
                        try context.complete(in: transaction)
                    }
                } catch DurableError.leaseLost { Journal.named(journal).append("refused") }
            }
        }
    }

    @Test func `a transaction of another store is refused`() async throws {
        try await withStore { server, schema, store in
            let other = DurableQueue("q", in: try await PostgresStore(server.url(schema: schema)))
            await #expect(throws: DurableError.noSchema) {
                try await store.transaction { _ = try other.add(Sum(a: 1, b: 2), in: $0) }
            }
        }
    }

    // MARK: - Schema

    @Test func `R26: stores that open one database at the same time migrate it once and keep its rows`() async throws {
        try await withPostgres { server, schema in
            let stores = try await withThrowingTaskGroup(of: PostgresStore.self) { group in
                for _ in 0..<6 { group.addTask { try await PostgresStore(server.url(schema: schema)) } }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(Set(stores.map(\.identity)).count == 1)
            #expect(stores[0].identity.count == 32)
            let sum = try await DurableQueue("q", in: stores[0]).add(Sum(a: 1, b: 2))
            let later = try await PostgresStore(server.url(schema: schema))
            #expect(later.identity == stores[0].identity)
            #expect(try await later.explain(sum.id).state == .ready)
        }
    }

    @Test func `R26: a newer schema in PostgreSQL is refused unless it permits this version`() async throws {
        try await withPostgres { server, schema in
            _ = try await PostgresStore(server.url(schema: schema))
            let connection = try server.connection(schema)
            _ = try connection.run(
                text: "UPDATE durable_meta SET number = 99 WHERE name IN ('schema', 'oldest_reader')", [])
            await #expect(throws: DurableError.newerSchema(found: 99, supported: PostgresSchema.version)) {
                try await PostgresStore(server.url(schema: schema))
            }
            _ = try connection.run(
                text: "UPDATE durable_meta SET number = $1 WHERE name = 'oldest_reader'",
                [.int(Int64(PostgresSchema.version))])
            _ = try await PostgresStore(server.url(schema: schema))
        }
    }

    @Test func `a search path without a schema is reported`() async throws {
        let server = try PostgresServer.shared.get()
        let error = await #expect(throws: DurableError.self) {
            try await PostgresStore(server.url(schema: "nowhere"))
        }
        #expect(error == .unavailable("PostgreSQL error 3F000: no schema of the search path exists"))
    }

    // MARK: - Credentials and values

    @Test func `R29: no message and no description contains a part of the address`() async throws {
        try await withPostgres { server, schema in
            let secret = "sesame"
            _ = try server.connection().run(text: "DROP ROLE IF EXISTS guarded", [])
            _ = try server.connection().run(text: "CREATE ROLE guarded LOGIN PASSWORD 'right'", [])
            let refused = "the database is unavailable: the server refused the password"
            let addresses = [
                (server.url(schema: schema, user: "guarded", password: secret), refused),
                ("postgresql://user:\(secret)", nil), ("postgresql://user:a@\(secret)@localhost:1/db", nil),
                ("postgresql://user:a/\(secret)@localhost/db", nil), ("postgresql://[\(secret)", nil),
                ("postgresql:///db?\(secret)=1", nil), ("password='\(secret)", nil), (secret, nil),
                ("postgresql:///?host=%2F\(secret)&password=\(secret)", nil),
                ("http://user:\(secret)@localhost/db", nil),
            ]
            for (address, expected) in addresses {
                let error = await #expect(throws: DurableError.self) { try await PostgresStore(address) }
                var text = "\(String(describing: error)) \(String(reflecting: error))"
                dump(error, to: &text)
                #expect(!text.contains(secret), "\(text)")
                if let expected { #expect(error?.description == expected) }
            }
            let store = try await PostgresStore(server.url(schema: schema, password: secret))
            var text = "\(store) \(String(reflecting: store))"
            dump(store, to: &text)
            #expect(!text.contains(secret))
        }
    }

    @Test func `a schema whose name has quotes has tables of its own`() async throws {
        try await withPostgres { server, schema in
            let name = "\"\(schema)' \"\"; $1\""
            _ = try server.connection().run(text: "CREATE SCHEMA \(name)", [])
            defer { _ = try? server.connection().run(text: "DROP SCHEMA \(name) CASCADE", []) }
            let allowed = CharacterSet.alphanumerics
            let path = name.replacing("\\", with: "\\\\").replacing(" ", with: "\\ ")
            let encoded = try #require(path.addingPercentEncoding(withAllowedCharacters: allowed))
            let store = try await PostgresStore(server.url(schema: encoded))
            let handle = try await DurableQueue("q", in: store).add(Sum(a: 1, b: 2))
            try await withWorker(store, [Sum.self]) {
                let value = try await handle.value
                #expect(value == 3)
            }
            let other = try await PostgresStore(server.url(schema: schema))
            #expect(try await other.snapshot().queues.isEmpty)
        }
    }

    @Test func `a text that is no address is refused`() async throws {
        let refusal = DurableError.unavailable("the address is not a valid address of PostgreSQL")
        for address in ["nonsense", "http://localhost/db", "postgresql://[", "host=a\0b"] {
            await #expect(throws: refusal) { try await PostgresStore(address) }
        }
    }

    @Test func `R28: a server that is away at the start is reported`() async throws {
        let directory = FileManager.default.temporaryDirectory.path
        let error = await #expect(throws: DurableError.self) {
            try await PostgresStore("postgresql:///postgres?host=\(directory)&port=1")
        }
        #expect(error == .unavailable("no server accepts connections at the address"))
    }

    @Test func `R26: all statements of a worker of version 1 run on this schema in PostgreSQL`() async throws {
        try await withPostgres { server, schema in
            _ = try await PostgresStore(server.url(schema: schema))
            let connection = try server.connection(schema)
            for (name, text) in PostgresVersion1.statements {
                #expect(throws: Never.self, "\(name)") {
                    _ = try connection.run(text: "PREPARE version1_\(name) AS \(text)", [])
                }
            }
        }
    }

    @Test func `R30: names with quotes and reasons with a zero byte are values and not SQL`() async throws {
        try await withStore { _, _, store in
            let name = "q'); DROP TABLE durable_operation; --\\ \" $1"
            let queue = DurableQueue(name, in: store)
            var options = DurableOptions()
            (options.unique, options.limitKey) = (name, "a'b")
            try await queue.setLimitPerKey(1)
            let first = try await queue.add(Sum(a: 1, b: 2), options: options)
            let second = try await queue.add(Sum(a: 3, b: 4), options: options)
            #expect(first.id == second.id)
            try await withWorker(store, queues: [name: .limit(1)], [Sum.self]) {
                let value = try await first.value
                #expect(value == 3)
            }
            try await store.discard([queue.add(Sum(a: 0, b: 0)).id], reason: "a\0b")
            #expect(try await queue.counts() == [.succeeded: 1, .discarded: 1])
        }
    }

    // MARK: - Notices

    @Test func `a notice survives its text`() throws {
        var effects = Effects()
        (effects.hasReadyOperations, effects.hasNewWakes) = (true, true)
        effects.ended = [OperationID(5), OperationID(70)]
        let notice = PostgresNotice(schema: -9, sender: 3, effects: effects)
        #expect(PostgresNotice(text: notice.text) == notice)
        effects.ended = Set((1...5_000).map { OperationID($0) })
        let long = PostgresNotice(schema: -9, sender: 3, effects: effects).text
        #expect(long.utf8.count < 8_000)
        #expect(PostgresNotice(text: long)?.isIncomplete == true)
        for text in ["", "a b c d", "1 2 r", "1 2 r 3 4"] { #expect(PostgresNotice(text: text) == nil) }
    }

    @Test func `R27: two stores of one database of PostgreSQL see the changes of each other`() async throws {
        try await withStore { server, schema, first in
            var configuration = PostgresStore.Configuration()
            configuration.pollInterval = .seconds(3_600)
            let second = try await PostgresStore(server.url(schema: schema), configuration: configuration)
            let queue = DurableQueue("q", in: first)
            var worker = DurableWorker.Configuration()
            worker.idleInterval = .seconds(3_600)
            try await withWorker(second, [Sum.self], configuration: worker) {
                for number in 0..<5 {
                    let value = try await queue.add(Sum(a: number, b: 1)).value
                    #expect(value == number + 1)
                }
            }
        }
    }

    @Test func `R24: events of one store of PostgreSQL arrive at another store`() async throws {
        try await withStore { server, schema, first in
            var configuration = PostgresStore.Configuration()
            configuration.pollInterval = .seconds(3_600)
            let second = try await PostgresStore(server.url(schema: schema), configuration: configuration)
            var events = try await second.events().makeAsyncIterator()
            let queue = DurableQueue("q", in: first)
            let sum = try await queue.add(Sum(a: 1, b: 2))
            #expect(try await events.next()?.state == .ready)
            // The start of an operation wakes no worker, and is an event nevertheless.
            try await withWorker(first, [Sum.self]) { _ = try await sum.value }
            #expect(try await events.next()?.state == .running)
            #expect(try await events.next()?.state == .succeeded)
        }
    }

    @Test func `a process that is frozen within a transaction delays the others for a limited time`() async throws {
        try await withStore { server, schema, store in
            let (frozen, observer) = (try server.connection(schema), try server.connection(schema))
            try frozen.execute("BEGIN")
            var key = PostgresParameters()
            key.append(frozen.lockKey)
            try frozen.run(.migrationLock, key)
            let process = try frozen.run(text: "SELECT pg_backend_pid()", []).text(0, 0)
            async let addition = DurableQueue("q", in: store).add(Sum(a: 1, b: 2))
            let blocked = "SELECT count(*) FROM pg_stat_activity WHERE \(process) = ANY(pg_blocking_pids(pid))"
            try await poll("the addition waits for the lock") {
                try observer.run(text: blocked, []).text(0, 0) == "1"
            }
            // A timeout before this point could end the session on a slow machine before it has the lock.
            try frozen.execute("SET idle_in_transaction_session_timeout = 100")
            // The addition waits until the server ends the session of the frozen process.
            let sum = try await addition
            #expect(try await sum.state == .ready)
            #expect(throws: PostgresFailure.self) { try frozen.commit() }
        }
    }

    @Test func `a lock that another process holds too long is reported, and nothing is added`() async throws {
        try await withStore { server, schema, store in
            var configuration = PostgresStore.Configuration()
            configuration.lockTimeout = .milliseconds(50)
            let second = try await PostgresStore(server.url(schema: schema), configuration: configuration)
            let holder = try server.connection(schema)
            try holder.execute("BEGIN")
            var key = PostgresParameters()
            key.append(holder.lockKey)
            try holder.run(.migrationLock, key)
            await #expect(throws: DurableError.self) { try await DurableQueue("q", in: second).add(Sum(a: 1, b: 2)) }
            try holder.rollBack()
            #expect(try await store.snapshot().queues.isEmpty)
        }
    }
}
#endif
