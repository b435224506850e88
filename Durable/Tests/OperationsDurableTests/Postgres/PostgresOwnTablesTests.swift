#if Postgres
import DurableCore
import Foundation
import OperationsTesting
import Testing

@testable import OperationsDurable
@testable import OperationsDurablePostgres

/// Rule R31 in PostgreSQL: no statement of an application leads the store to other tables, another role or other settings.
@Suite(.enabled(if: PostgresServer.isInstalled)) struct PostgresOwnTablesTests {
    /// Two schemas with stores. The functions and operators of the second schema differ from those of the server.
    private struct Places {
        let server: PostgresServer
        let own: String
        let other: String
        let store: PostgresStore
        let observer: PostgresConnection

        init(_ server: PostgresServer, _ schema: String) async throws {
            (self.server, own, other) = (server, schema, "\(schema)_other")
            observer = try server.connection(schema)
            try observer.execute("SET application_name = 'observer'")
            try observer.executeAll("CREATE SCHEMA \(other); CREATE ROLE \(schema)_role; CREATE ROLE \(schema)_owner")
            let neighbor = try await PostgresStore(server.url(schema: other))
            try await DurableQueue("q", in: neighbor).add(Sum(a: 0, b: 0))
            try observer.executeAll(
                """
                CREATE FUNCTION \(other).never(bigint, bigint) RETURNS boolean LANGUAGE sql AS 'SELECT false';
                CREATE OPERATOR \(other).= (LEFTARG = bigint, RIGHTARG = bigint, FUNCTION = \(other).never);
                CREATE FUNCTION \(other).unnest(bigint[]) RETURNS SETOF bigint LANGUAGE sql AS 'SELECT 999999::bigint';
                CREATE FUNCTION \(other).set_config(text, text, boolean) RETURNS text LANGUAGE sql AS 'SELECT $2';
                CREATE TABLE \(own).effect(number bigint); CREATE TABLE \(other).effect(number bigint);
                CREATE TABLE \(own).trap(number bigint);
                CREATE FUNCTION \(own).spring() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
                PERFORM pg_catalog.set_config('search_path', '\(other), pg_catalog', false);
                PERFORM pg_catalog.set_config('app.tenant', 'trap', false); PERFORM pg_advisory_lock(77);
                EXECUTE 'DEALLOCATE ALL'; EXECUTE 'SET ROLE \(schema)_role'; RETURN NULL; END $$;
                CREATE CONSTRAINT TRIGGER late AFTER INSERT ON \(own).trap DEFERRABLE INITIALLY DEFERRED
                FOR EACH ROW EXECUTE FUNCTION \(own).spring();
                GRANT USAGE ON SCHEMA \(own), \(other) TO \(own)_role;
                GRANT INSERT ON \(own).effect, \(other).effect TO \(own)_role
                """)
            store = try await PostgresStore(server.url(schema: schema))
        }

        /// The rows of the neighbor that a wrong addition would change.
        func untouched() throws -> String {
            let text = """
                SELECT (SELECT count(*) FROM \(other).durable_operation), \
                (SELECT string_agg(name || number, ',' ORDER BY name) FROM \(other).durable_meta WHERE number IS NOT NULL), \
                (SELECT string_agg(c::text, ',') FROM \(other).durable_counter c)
                """
            let result = try observer.run(text: text, [])
            return (0..<3).map { result.text(0, $0) }.joined(separator: "; ")
        }

        /// The settings and traces that the statements of the next application find in the session.
        func traces() async throws -> [String?] {
            let rows = try await store.transaction { transaction in
                try transaction.execute(
                    """
                    SELECT current_setting('search_path') AS a, current_user = session_user AS b, \
                    current_setting('statement_timeout') AS c, current_setting('enable_seqscan') AS d, \
                    coalesce(current_setting('app.tenant', true), '') AS e, \
                    (SELECT count(*) FROM pg_class WHERE relnamespace = pg_my_temp_schema()) AS f, \
                    (SELECT count(*) FROM pg_listening_channels()) AS g, \
                    (SELECT count(*) FROM pg_prepared_statements WHERE from_sql) AS h, \
                    (SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid()) AS i, \
                    current_setting('synchronous_commit') AS j, current_setting('transaction_isolation') AS k, \
                    current_setting('client_encoding') AS l, (SELECT count(*) FROM pg_cursors WHERE is_holdable) AS m, \
                    current_setting('row_security') AS n, session_user AS o, current_setting('lock_timeout') AS p
                    """)
            }
            return (0..<16).map { rows[0][$0] }
        }
    }

    private func withPlaces(_ body: (Places) async throws -> Void) async throws {
        try await withPostgres { server, schema in
            let places = try await Places(server, schema)
            let result: Result<Void, any Error>
            do { result = .success(try await body(places)) } catch { result = .failure(error) }
            _ = try? places.observer.executeAll("DROP SCHEMA \(places.other) CASCADE")
            try result.get()
        }
    }

    /// Statements that an application may run, with OWN and OTHER for the schemas, and KEY for the key of the lock.
    private static let statements = [
        "SET search_path = OTHER", "SET LOCAL search_path = OTHER, pg_catalog", "SET search_path = ''",
        "SELECT pg_catalog.set_config('search_path', 'OTHER, pg_catalog', false)", "SET ROLE OWN_role",
        "SET LOCAL ROLE OWN_role", "SET SESSION AUTHORIZATION OWN_role", "RESET ROLE", "RESET ALL",
        "SET row_security = on", "SET synchronous_commit = off", "SET LOCAL synchronous_commit = off",
        "SET client_encoding = 'LATIN1'", "SET client_encoding = 'SQL_ASCII'", "SET statement_timeout = 1",
        "SET lock_timeout = 1", "SET idle_in_transaction_session_timeout = 60000", "SET TimeZone = 'Asia/Kolkata'",
        "SET bytea_output = 'escape'", "SET DateStyle = 'SQL, DMY'", "SET standard_conforming_strings = off",
        "SET default_transaction_isolation = 'serializable'", "SET default_transaction_read_only = on",
        "SET default_transaction_deferrable = on", "SET TRANSACTION READ ONLY", "SET transaction_read_only = on",
        "SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY", "SET session_replication_role = replica",
        "SET enable_indexscan = off", "SET app.tenant = 'x'", "SET exit_on_error = off", "SET durable.session = 'x'",
        "SET LOCAL durable.session = 'x'", "RESET durable.session", "SET transform_null_equals = on",
        "SET array_nulls = off", "SET quote_all_identifiers = on", "SET plan_cache_mode = force_custom_plan",
        "CREATE TEMP TABLE durable_operation(id bigint)",
        "CREATE TEMP TABLE durable_meta(name text, number bigint, text text)",
        "CREATE TEMP VIEW durable_counter AS SELECT 1 AS queue", "CREATE TEMP TABLE effect(number bigint)",
        "CREATE FUNCTION pg_temp.unnest(bigint[]) RETURNS SETOF bigint LANGUAGE sql AS 'SELECT 1::bigint'",
        "DISCARD PLANS", "DISCARD TEMP", "DISCARD ALL", "DISCARD SEQUENCES", "DEALLOCATE ALL",
        "DEALLOCATE durable_lock",
        "DO $$ BEGIN EXECUTE 'DEALLOCATE durable_numbers'; EXECUTE 'PREPARE durable_numbers AS SELECT 1'; END $$",
        "DO $$ BEGIN EXECUTE 'PREPARE durable_purgeable(bigint, bigint) AS SELECT 1::bigint'; END $$",
        "DO $$ BEGIN EXECUTE 'DEALLOCATE ALL'; EXECUTE 'PREPARE durable_lock(bigint, text) AS SELECT 1'; END $$",
        "PREPARE durable_lock AS SELECT 1", "LISTEN durable_change", "UNLISTEN *", "NOTIFY durable_change, 'a b c d'",
        "SELECT pg_advisory_lock(KEY)", "SELECT pg_advisory_lock(5)", "SELECT pg_advisory_unlock_all()",
        "SELECT pg_advisory_unlock(KEY)", "SELECT pg_advisory_xact_lock(6)", "SAVEPOINT durable", "BEGIN", "COMMIT",
        "START TRANSACTION", "ROLLBACK TO SAVEPOINT durable", "RELEASE SAVEPOINT durable", "ABORT",
        "DO $$ BEGIN COMMIT; END $$", "DO $$ BEGIN PERFORM 1 / 0; EXCEPTION WHEN OTHERS THEN NULL; END $$",
        "SELECT 1 / 0",
        "DECLARE held CURSOR WITH HOLD FOR SELECT 1", "SET CONSTRAINTS ALL IMMEDIATE", "SELECT 1\0 + 1",
        "INSERT INTO OWN.effect VALUES (1)", "INSERT INTO OWN.trap VALUES (1)", "SELECT nextval('absent')",
        "ALTER SCHEMA OWN RENAME TO OWN_moved", "SET LOCAL jit = on", "LOCK TABLE OWN.effect",
        "COPY OWN.effect FROM STDIN",
        "CREATE OR REPLACE FUNCTION OWN.unnest(bigint[]) RETURNS SETOF bigint LANGUAGE sql AS 'SELECT 999999::bigint'",
        "CREATE OR REPLACE FUNCTION OWN.concat(text, bigint) RETURNS text LANGUAGE sql AS 'SELECT NULL'",
        "CREATE OR REPLACE FUNCTION OWN.max(bigint) RETURNS bigint LANGUAGE sql AS 'SELECT 5::bigint'",
        "ALTER TABLE OWN.durable_operation RENAME TO gone", "ALTER TABLE OTHER.durable_edge INHERIT OWN.durable_edge",
        "CREATE RULE swallow AS ON INSERT TO OWN.durable_operation DO INSTEAD NOTHING",
        "ALTER TABLE OWN.durable_key ENABLE ROW LEVEL SECURITY", "DROP TABLE OWN.durable_event",
        "CREATE TABLE IF NOT EXISTS OWN.durable_goods(a int)",
        "CREATE INDEX IF NOT EXISTS extra ON OWN.durable_operation(reason)",
        "SELECT pg_cancel_backend(pg_backend_pid())",
    ]

    /// Statements that would lead the store to other tables, or keep rows from its tables.
    private static let redefinitions = [
        [
            "ALTER TABLE OWN.durable_operation RENAME TO gone",
            "CREATE VIEW OWN.durable_operation AS SELECT * FROM OTHER.durable_operation",
        ],
        ["ALTER TABLE OWN.durable_edge RENAME TO gone", "CREATE TABLE OWN.durable_edge (LIKE OWN.gone)"],
        ["ALTER TABLE OTHER.durable_operation INHERIT OWN.durable_operation"],
        ["CREATE RULE swallow AS ON INSERT TO OWN.durable_operation DO INSTEAD NOTHING"],
        [
            "CREATE FUNCTION OWN.skip() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'",
            "CREATE TRIGGER t BEFORE INSERT ON OWN.durable_operation FOR EACH ROW EXECUTE FUNCTION OWN.skip()",
        ],
        ["ALTER TABLE OWN.durable_operation ENABLE ROW LEVEL SECURITY"], ["DROP TABLE OWN.durable_event"],
    ]

    @Test(arguments: redefinitions.indices, [false, true])
    func `R31: a transaction that changes the tables of the store is refused, and one that makes others is not`(
        _ index: Int, _ mustAdd: Bool
    ) async throws {
        try await withPlaces { places in
            let (store, queue) = (places.store, DurableQueue("q", in: places.store))
            let (own, other) = (places.own, places.other)
            let before = try places.untouched()
            let error = await #expect(throws: PostgresError.self) {
                try await store.transaction { transaction in
                    for statement in Self.redefinitions[index] {
                        try transaction.execute(
                            statement.replacing("OWN", with: own).replacing("OTHER", with: other))
                    }
                    if mustAdd { try queue.add(Sum(a: 1, b: 2), in: transaction) }
                }
            }
            #expect(error?.message == "the statements change the tables of the store")
            try await queue.add(Sum(a: 3, b: 4))
            try await store.transaction { transaction in
                try transaction.execute("CREATE TABLE \(own).durable_goods(a int)")
                try queue.add(Sum(a: 5, b: 6), in: transaction)
            }
            #expect(try await queue.counts() == [.ready: 2])
            #expect(try places.untouched() == before)
        }
    }

    @Test func `R31: functions and operators in the schema of the store are not those of its statements`() async throws
    {
        try await withPlaces { places in
            let (queue, own) = (DurableQueue("q", in: places.store), places.own)
            try places.observer.executeAll(
                """
                CREATE FUNCTION \(own).unnest(bigint[]) RETURNS SETOF bigint LANGUAGE sql AS 'SELECT 9::bigint';
                CREATE FUNCTION \(own).concat(text, bigint) RETURNS text LANGUAGE sql AS 'SELECT NULL';
                CREATE FUNCTION \(own).concat(text, name) RETURNS text LANGUAGE sql AS 'SELECT NULL';
                CREATE FUNCTION \(own).zero(numeric, integer) RETURNS numeric LANGUAGE sql AS 'SELECT 0::numeric';
                CREATE OPERATOR \(own).* (LEFTARG = numeric, RIGHTARG = integer, FUNCTION = \(own).zero);
                CREATE FUNCTION \(own).none(bigint, integer) RETURNS bigint LANGUAGE sql AS 'SELECT 0::bigint';
                CREATE OPERATOR \(own).& (LEFTARG = bigint, RIGHTARG = integer, FUNCTION = \(own).none)
                """)
            let start = DurableInstant(Date(timeIntervalSinceNow: -60))
            let first = try await queue.add(Sum(a: 1, b: 2))
            let second = try places.observer.run(
                text: "SELECT durable_add('q', 'sum', '{\"a\": 1, \"b\": 2}', after => ARRAY[\(first.id.rawValue)])", []
            )
            let records = try await places.store.records(matching: DurableFilter())
            #expect(records.map(\.state) == [.ready, .waiting])
            #expect(second.text(0, 0) == "\(records[1].id)")
            #expect(try await places.store.read { $0.now } > start)
            let added = try await places.store.read { try $0.rows.operations(records.map(\.id)).map(\.addedAt) }
            #expect(added.allSatisfy { $0 > start })
        }
    }

    /// Returns a block that gives other texts to prepared statements of the library, which claim to be right.
    private static func replacing(_ statements: [(name: String, text: String)]) -> String {
        let parts = statements.map { name, text in
            """
            IF EXISTS (SELECT FROM pg_prepared_statements WHERE name = '\(name)') THEN EXECUTE 'DEALLOCATE "\(name)"'; END IF; \
            EXECUTE $text$PREPARE "\(name)"\(text)$text$;
            """
        }
        return "DO $$ BEGIN \(parts.joined(separator: " ")) END $$"
    }

    private static let count = "(SELECT count(*) FROM pg_prepared_statements WHERE starts_with(name, 'durable_'))"
    /// Any number of statements of the library.
    private static let liar = ("durable_verify", "(text, text) AS SELECT 0::bigint, \(count), 0::bigint")

    /// Replacements of prepared statements, of which programs with seeds above 1,000 make use.
    static let replacements = [
        replacing([liar]), replacing([liar, ("durable_exchange", " AS SELECT 1, 2")]),
        replacing([liar, ("durable_settle", " AS SELECT 1")]), replacing([liar, ("durable_unlock", " AS SELECT 1")]),
        replacing([liar, ("durable_unlock", " AS SELECT pg_catalog.set_config('search_path', 'OTHER', false)")]),
        replacing([liar, ("durable_numbers", " AS SELECT 'next_operation', 7::bigint")]),
        replacing([
            liar, ("durable_lock", "(bigint, text) AS SELECT 1::bigint, 0::bigint, 1::bigint, '', '', 1::bigint"),
        ]),
        replacing([liar, ("durable_setNumbers", "(text[], bigint[]) AS SELECT 1")]),
        replacing([liar, ("durable_addCounters", "(bigint[], bigint[], bigint[], bigint[], bigint[]) AS SELECT 1")]),
        replacing([("durable_verify", " AS SELECT 1 / 0")]),
    ]

    @Test(arguments: replacements.indices)
    func `R31: a statement of an application that has the name of one of the store is never executed for the store`(
        _ index: Int
    ) async throws {
        try await withPlaces { places in
            let (queue, own) = (DurableQueue("q", in: places.store), places.own)
            let before = (untouched: try places.untouched(), traces: try await places.traces())
            let text = Self.replacements[index].replacing("OTHER", with: places.other)
            for number in 0..<4 {
                try await places.store.transaction { transaction in
                    if number % 2 == 0 { try queue.add(Sum(a: number, b: 0), in: transaction) }
                    try transaction.execute("INSERT INTO \(own).effect VALUES (\(number))")
                    try transaction.execute(text)
                    if number % 2 == 1 { try queue.add(Sum(a: number, b: 0), in: transaction) }
                }
                try await queue.add(Sum(a: number, b: 1))
            }
            #expect(try await queue.counts() == [.ready: 8])
            #expect(try places.untouched() == before.untouched)
            #expect(try await places.traces() == before.traces)
        }
    }

    private static let seeds = UInt64(Stress.rounds(240, least: 12))

    @Test(arguments: Array(1...seeds) + Array(1_001...1_000 + seeds))
    func `R31: no statement of an application leads the store to another table, lock, role or setting`(_ seed: UInt64)
        async throws
    {
        let statements = Self.statements + (seed > 1_000 ? Self.replacements : [])
        try await withPlaces { places in
            var random = SeededGenerator(seed: seed)
            let (store, queue) = (places.store, DurableQueue("q", in: places.store))
            let before = (untouched: try places.untouched(), traces: try await places.traces())
            let key = "\(places.observer.lockKey)"
            var count = 0
            for round in 0..<10 {
                var program: [String?] = (0...Int.random(in: 0..<4, using: &random)).map { _ in
                    statements.randomElement(using: &random)?.replacing("OWN", with: places.own)
                        .replacing("OTHER", with: places.other).replacing("KEY", with: key)
                }
                program.insert(nil, at: Int.random(in: 0...program.count, using: &random))
                let (isCaught, mustFail) = (Bool.random(using: &random), Int.random(in: 0..<4, using: &random) == 0)
                let text: Comment = "seed \(seed), round \(round): \(program)"
                // Additions of the same group, before and after the statements.
                async let first = queue.add(Sum(a: round, b: 0))
                async let hostile = store.transaction { [program] transaction in
                    for statement in program {
                        do {
                            if let statement {
                                try transaction.execute(statement)
                            } else {
                                try queue.add(Sum(a: round, b: 1), in: transaction)
                            }
                        } catch {
                            // Without its addition the transaction must not succeed.
                            if !isCaught || statement == nil { throw error }
                        }
                    }
                    if mustFail { throw TestFailure() }
                }
                async let last = queue.add(Sum(a: round, b: 2))
                _ = try await (first, last)
                count += 2
                if (try? await hostile) != nil { count += 1 }
                #expect(try await queue.counts() == [.ready: count], text)
                #expect(try places.untouched() == before.untouched, text)
                let traces = try await places.traces()
                #expect(traces == before.traces, text)
                let locks = try places.observer.run(
                    text: """
                        SELECT count(*) FROM pg_locks JOIN pg_stat_activity USING (pid) \
                        WHERE locktype = 'advisory' AND application_name = $1
                        """, [.text(places.own)])
                #expect(locks.text(0, 0) == "0", text)
            }
            try await withWorker(store, [Sum.self]) {
                try await poll("all operations end") { try await queue.counts() == [.succeeded: count] }
            }
        }
    }

    @Test func `R31: an application keeps its settings and its role around an addition`() async throws {
        try await withPlaces { places in
            let (queue, own, other) = (DurableQueue("q", in: places.store), places.own, places.other)
            let found = try await places.store.transaction { transaction in
                try transaction.execute("SET search_path = \(other)")
                try transaction.execute("SET LOCAL app.tenant = 'x'")
                try transaction.execute("SET statement_timeout = '47s'")
                try transaction.execute("SET LOCAL ROLE \(own)_role")
                for number in 0..<2 {
                    try queue.add(Sum(a: number, b: 0), in: transaction)
                    try transaction.execute("INSERT INTO effect VALUES ($1)", [.int(Int64(number))])
                }
                return try transaction.execute(
                    """
                    SELECT current_user::text AS a, current_setting('app.tenant') AS b, \
                    current_setting('statement_timeout') AS c, current_setting('search_path') AS d
                    """)
            }
            #expect((0..<4).map { found[0][$0] } == ["\(places.own)_role", "x", "47s", places.other])
            let effects = try places.observer.run(text: "SELECT count(*) FROM \(places.other).effect", [])
            #expect(effects.text(0, 0) == "2")
            #expect(try await queue.counts() == [.ready: 2])
        }
    }

    @Test func `R31: schemas that a transaction exchanges by their names are an error, and nothing is written`()
        async throws
    {
        try await withPlaces { places in
            let (queue, own, other) = (DurableQueue("q", in: places.store), places.own, places.other)
            let before = try places.untouched()
            for mustAdd in [false, true] {
                await #expect(throws: DurableError.noSchema) {
                    try await places.store.transaction { transaction in
                        try transaction.execute("ALTER SCHEMA \(own) RENAME TO \(own)_moved")
                        try transaction.execute("ALTER SCHEMA \(other) RENAME TO \(own)")
                        if mustAdd { try queue.add(Sum(a: 1, b: 2), in: transaction) }
                    }
                }
            }
            try await queue.add(Sum(a: 3, b: 4))
            #expect(try places.untouched() == before)
            // The same by another session, between two transactions.
            try places.observer.executeAll(
                """
                BEGIN; ALTER SCHEMA \(places.own) RENAME TO \(places.own)_moved;
                ALTER SCHEMA \(places.other) RENAME TO \(places.own); COMMIT
                """)
            await #expect(throws: DurableError.noSchema) { try await queue.add(Sum(a: 5, b: 6)) }
            try places.observer.executeAll(
                """
                BEGIN; ALTER SCHEMA \(places.own) RENAME TO \(places.other);
                ALTER SCHEMA \(places.own)_moved RENAME TO \(places.own); COMMIT
                """)
            try await queue.add(Sum(a: 7, b: 8))
            #expect(try await queue.counts() == [.ready: 2])
            #expect(try places.untouched() == before)
        }
    }

    @Test func `R31: a later connection keeps the schema of the first connection`() async throws {
        try await withPlaces { places in
            let (user, other) = ("\(places.own)_user", places.other)
            try places.observer.executeAll(
                """
                CREATE ROLE \(user) SUPERUSER LOGIN; ALTER ROLE \(user) SET search_path = \(places.own)
                """)
            let url = places.server.url(schema: places.own, user: user)
                .replacing("&options=-csearch_path%3D\(places.own)", with: "")
            let store = try await PostgresStore(url)
            let queue = DurableQueue("q", in: store)
            let before = try places.untouched()
            try await store.transaction { transaction in
                try transaction.execute("ALTER ROLE \(user) SET search_path = \(other)")
                try queue.add(Sum(a: 1, b: 2), in: transaction)
            }
            try places.server.cutConnections(of: places.own)
            try await poll("the store connects again") { (try? await queue.add(Sum(a: 3, b: 4))) != nil }
            #expect(try await queue.counts() == [.ready: 2])
            #expect(try places.untouched() == before)
        }
    }

    @Test func `R31: a store does not continue in a schema that was made again`() async throws {
        try await withPlaces { places in
            let queue = DurableQueue("q", in: places.store)
            try await queue.add(Sum(a: 1, b: 2))
            try places.observer.executeAll("DROP SCHEMA \(places.own) CASCADE; CREATE SCHEMA \(places.own)")
            let successor = DurableQueue("q", in: try await PostgresStore(places.server.url(schema: places.own)))
            await #expect(throws: DurableError.noSchema) { try await queue.add(Sum(a: 1, b: 2)) }
            try places.server.cutConnections(of: places.own)
            let error = await #expect(throws: DurableError.self) { try await queue.add(Sum(a: 1, b: 2)) }
            #expect("\(try #require(error))".contains("another store"))
            try await poll("the successor connects again") { (try? await successor.counts()) != nil }
            #expect(try await successor.counts() == [:])
        }
    }

    @Test func `R31: the tables of a later schema of the search path are not those of the store`() async throws {
        try await withPlaces { places in
            let empty = "\(places.own)_empty"
            try places.observer.executeAll("CREATE SCHEMA \(empty)")
            let store = try await PostgresStore(places.server.url(schema: "\(empty),\(places.other)"))
            try await DurableQueue("q", in: store).add(Sum(a: 1, b: 2))
            let before = try places.observer.run(text: "SELECT count(*) FROM \(empty).durable_operation", [])
            #expect(before.text(0, 0) == "1")
            try places.observer.executeAll("DROP SCHEMA \(empty) CASCADE")
        }
    }

    @Test(arguments: ["DEALLOCATE ALL", "DO $$ BEGIN EXECUTE 'PREPARE p AS SELECT 1'; END $$"])
    func `R31: a transaction that changes the prepared statements of the session succeeds each time`(_ text: String)
        async throws
    {
        try await withPlaces { places in
            let (queue, own) = (DurableQueue("q", in: places.store), places.own)
            for number in 0..<6 {
                try await places.store.transaction { transaction in
                    try transaction.execute(text)
                    try queue.add(Sum(a: number, b: 0), in: transaction)
                    try transaction.execute("INSERT INTO \(own).effect VALUES (1)")
                }
            }
            #expect(try await queue.counts() == [.ready: 6])
            let effects = try places.observer.run(text: "SELECT count(*) FROM \(own).effect", [])
            #expect(effects.text(0, 0) == "6")
        }
    }

    @Test func `R2: a transaction that fails undoes its additions and those of no other caller`() async throws {
        try await withPlaces { places in
            let (store, queue, own) = (places.store, DurableQueue("q", in: places.store), places.own)
            try await queue.suspend()
            // All of a round are in one or two groups.
            for round in 0..<10 {
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for number in 0..<12 {
                        group.addTask { try await queue.add(Sum(a: round, b: number)) }
                        group.addTask {
                            let isFailure = number % 3 == 0
                            do {
                                try await store.transaction { transaction in
                                    if number % 2 == 0 { try queue.add(Sum(a: round, b: number), in: transaction) }
                                    try transaction.execute("INSERT INTO \(own).effect VALUES (\(number))")
                                    if number % 2 == 1 { try queue.add(Sum(a: round, b: number), in: transaction) }
                                    if isFailure { throw TestFailure() }
                                }
                            } catch is TestFailure where isFailure {}
                        }
                    }
                    try await group.waitForAll()
                }
            }
            #expect(try await queue.counts() == [.ready: 10 * (12 + 8)])
            let effects = try places.observer.run(text: "SELECT count(*) FROM \(own).effect", [])
            #expect(effects.text(0, 0) == "80")
        }
    }

    // MARK: - Bytes

    @Test func `a zero byte in a statement or in a text of the application is refused`() async throws {
        try await withPlaces { places in
            let refusal = PostgresError(sqlState: "22021", message: "a text contains a zero byte")
            let (own, store) = (places.own, places.store)
            await #expect(throws: refusal) {
                try await store.transaction { try $0.execute("SELECT $1::text", [.text("a\0b")]) }
            }
            await #expect(throws: refusal) {
                try await store.transaction { try $0.execute("DELETE FROM \(own).effect\0 WHERE number = 1") }
            }
            let bytes = try await store.transaction { transaction in
                try transaction.execute("SELECT $1::bytea AS a", [.bytes([1, 0, 2])])[0].bytes("a")
            }
            #expect(bytes == [1, 0, 2])
        }
    }

    // MARK: - Sessions

    @Test func `R39: a session that is not that of the connection is an error that names the pooler`() async throws {
        try await withPlaces { places in
            let connection = try places.server.connection(places.own)
            try connection.run(.now)
            #expect(connection.preparedCount == 1)
            // A pooler in transaction mode leads to sessions of other clients.
            try connection.execute("DEALLOCATE ALL")
            let absent = #expect(throws: PostgresFailure.self) { try connection.run(.now) }
            let present = #expect(throws: PostgresFailure.self) {
                _ = try connection.run(text: "PREPARE durable_identity AS SELECT 1", [])
                try connection.run(.identity)
            }
            let moved = #expect(throws: PostgresFailure.self) { try connection.checkSession(nil) }
            for failure in [absent, present, moved] {
                #expect(failure?.kind == .lost)
                #expect(failure?.durableError.description.contains("pooler in transaction mode") == true)
            }
        }
    }

    @Test func `R34: a store leaves the session of a server that accepts no changes`() async throws {
        let server = try PostgresServer()
        try await server.withSchema { schema in
            let store = try await PostgresStore(server.url(schema: schema))
            let queue = DurableQueue("q", in: store)
            let added = try await queue.add(Sum(a: 1, b: 2))
            let control = try server.connection(schema)
            try control.execute("SET application_name = 'control'")
            func setReadOnly(_ isReadOnly: Bool) async throws {
                try control.executeAll("SET default_transaction_read_only = off")
                try control.execute("SET transaction_read_only = off")
                _ = try control.run(text: "ALTER SYSTEM SET default_transaction_read_only = \(isReadOnly)", [])
                try control.execute("SELECT pg_reload_conf()")
                let value = isReadOnly ? "on" : "off"
                try await poll("the server is read-only: \(value)") {
                    (try? server.connection(schema).run(text: "SHOW default_transaction_read_only", []).text(0, 0))
                        ?? "on" == value
                }
            }
            let session = try await store.transaction { try $0.execute("SELECT pg_backend_pid() AS pid")[0].int("pid") }
            try await setReadOnly(true)
            try await poll("an addition fails") { (try? await queue.add(Sum(a: 1, b: 2))) == nil }
            try await poll("the session has ended") {
                let text = "SELECT FROM pg_stat_activity WHERE pid = $1"
                return try control.run(text: text, [session.map { .int($0) }]).count == 0
            }
            let error = await #expect(throws: DurableError.self) { try await queue.add(Sum(a: 1, b: 2)) }
            #expect("\(try #require(error))".contains("accepts no changes"))
            try await setReadOnly(false)
            try await poll("the store returns") { (try? await queue.add(Sum(a: 3, b: 4))) != nil }
            try await withWorker(store, [Sum.self]) {
                let value = try await added.value
                #expect(value == 3)
            }
        }
    }

    @Test func `R35: a program that a newer version excludes from PostgreSQL stops its worker with the error`()
        async throws
    {
        try await withPlaces { places in
            let queue = DurableQueue("q", in: places.store)
            let worker = try DurableWorker(places.store, queues: ["q": .limit(1)], operations: [Sum.self])
            let running = Task { try await worker.run() }
            _ = try await queue.add(Sum(a: 1, b: 2)).value
            try places.observer.execute("UPDATE durable_meta SET number = 99 WHERE name IN ('schema', 'oldest_reader')")
            let error = DurableError.newerSchema(found: 99, supported: PostgresSchema.version)
            await #expect(throws: error) { try await queue.add(Sum(a: 1, b: 2)) }
            await #expect(throws: error) { try await places.store.transaction { _ in } }
            await #expect(throws: error) { try await running.value }
        }
    }

    // MARK: - Messages

    @Test func `R39: the reason of a failed connection is named without values of the address`() {
        let message = """
            connection to server at "db.secret.example" (10.1.2.3), port 6543 failed: FATAL:  unusual trouble \
            with "tenant" of topsecret
            """
        let text = PostgresFailure.redacted(message, values: ["db.secret.example", "6543", "topsecret"])
        #expect(text == "FATAL: unusual trouble with of …")
        let quoted = PostgresFailure.redacted("could not open \"a\"b\" of server", values: ["a\"b"])
        #expect(quoted == "could not open of server")
        #expect(PostgresFailure.redacted("", values: []) == "")
    }
}
#endif
