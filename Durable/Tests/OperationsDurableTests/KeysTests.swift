import DurableCore
import OperationsDurable
import Testing

#if Postgres
@testable import OperationsDurablePostgres
#endif

/// Queues with many keys: 10,000 with `OPERATIONS_STRESS=5`. Row 14 of the benchmark has 100,000.
@Suite struct KeysTests {
    private static func keys(_ kind: StoreKind) -> Int { kind == .memory ? 60 : Stress.rounds(2_000, least: 300) }

    private func fill(_ queue: DurableQueue, keys: Int, turns: Int) async throws {
        for turn in 0..<turns {
            var graph = DurableGraph()
            for key in 0..<keys {
                try graph.add(Sum(a: key, b: turn), to: queue, options: DurableOptions(limitKey: "key \(key)"))
            }
            _ = try await queue.store.add(graph)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `R17: operations of many keys run in turns, and one of each key at a time`(_ kind: StoreKind) async throws {
        try await withStore(kind) { test in
            let (store, queue) = (test.store, DurableQueue("q", in: test.store))
            try await queue.setLimitPerKey(1)
            let keys = Self.keys(kind)
            try await fill(queue, keys: keys, turns: 3)
            let worker = try await store.commit {
                try $0.register("w", kinds: ["sum"], queues: ["q"], lease: .seconds(3_600))
            }
            var starts: [Int] = []
            while starts.count < 3 * keys {
                test.advance(.milliseconds(1))
                let claims = try await store.commit {
                    try $0.claim(for: worker, slots: [("q", 50)], kinds: ["sum"])
                }
                try #require(!claims.isEmpty)
                #expect(Set(claims.map(\.row.key)).count == claims.count)
                // The identifiers of a turn follow each other.
                starts += claims.map { (Int($0.row.id.rawValue) - 1) / keys }
                let ends = claims.compactMap(\.lease).map { Completion(lease: $0, result: .succeeded(output: [])) }
                _ = try await store.commit { try $0.complete(ends) }
            }
            #expect(starts == starts.sorted())
            #expect(try await queue.counts() == [.succeeded: 3 * keys])
            #expect(try await store.check().isEmpty)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `R17: a new limit of all keys admits the first operations of each, and returns the last ones`(
        _ kind: StoreKind
    ) async throws {
        try await withStore(kind) { test in
            let queue = DurableQueue("q", in: test.store)
            try await queue.setLimitPerKey(0)
            let keys = Self.keys(kind)
            try await fill(queue, keys: keys, turns: 3)
            for limit in [2, 0, 1, 3] {
                try await queue.setLimitPerKey(limit)
                let filter = DurableFilter(states: [.ready], limit: 3 * keys)
                let ready = try await test.store.operations(matching: filter)
                #expect(ready.map(\.rawValue) == (0..<limit * keys).map { Int64($0 + 1) })
            }
            #expect(try await test.store.check().isEmpty)
        }
    }

    #if Postgres
    @Test(.enabled(if: PostgresServer.isInstalled))
    func `the number of statements of a change does not depend on the number of keys`() async throws {
        try await withPostgres { server, schema in
            let connection = try server.connection(schema)
            _ = try PostgresMigrator.migrate(connection)
            try connection.execute("BEGIN")
            let rows = PostgresRows(connection, now: DurableInstant(microseconds: 1))
            var machine = DurableMachine(rows: rows, limits: DurableLimits())
            /// Returns the number of statements of the store that the body executes.
            func statements(_ body: (inout DurableMachine) throws -> Void) throws -> Int {
                func executions() throws -> Int {
                    let sql = "SELECT sum(generic_plans + custom_plans)::text FROM pg_prepared_statements"
                    return Int(try connection.run(text: sql, []).text(0, 0)) ?? 0
                }
                let before = try executions()
                try body(&machine)
                try rows.flush()
                return try executions() - before
            }
            let worker = try machine.register("w", kinds: ["sum"], queues: ["q"], lease: .seconds(60))
            try machine.setLimitPerKey(1, queue: "q")
            let added = try statements { machine in
                for _ in 0..<3 {
                    _ = try machine.add(
                        (0..<100).map { key in
                            var new = NewOperation(name: "sum", queue: "q")
                            new.key = "key \(key)"
                            return new
                        })
                }
            }
            var claims: [Claim] = []
            let ended = try statements { machine in
                claims = try machine.claim(for: worker, slots: [("q", 50)], kinds: ["sum"])
                let ends = claims.compactMap(\.lease).map { Completion(lease: $0, result: .succeeded(output: [])) }
                _ = try machine.complete(ends)
            }
            #expect(claims.count == 50)
            let changed = try statements { try $0.setLimitPerKey(2, queue: "q") }
            #expect([added, ended, changed].allSatisfy { $0 < 50 }, "\(added), \(ended) and \(changed) statements")
            try connection.execute("ROLLBACK")
        }
    }
    #endif
}
