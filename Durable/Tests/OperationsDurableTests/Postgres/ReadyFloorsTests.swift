#if Postgres
import DurableCore
import Testing

@testable import OperationsDurable
@testable import OperationsDurablePostgres

@Suite(.enabled(if: PostgresServer.isInstalled)) struct ReadyFloorsTests {
    private func withStores(
        _ body: (PostgresStore, PostgresStore, _ fault: Locked<PostgresStore.Configuration.Fault?>) async throws -> Void
    ) async throws {
        try await withPostgres { server, schema in
            let fault = Locked<PostgresStore.Configuration.Fault?>(nil)
            var configuration = PostgresStore.Configuration()
            configuration.fault = { fault.withLock { $0 } }
            let first = try await PostgresStore(server.url(schema: schema), configuration: configuration)
            try await body(first, try await PostgresStore(server.url(schema: schema)), fault)
        }
    }

    private func register(_ store: PostgresStore) async throws -> WorkerID {
        try await store.commit { try $0.register("w", kinds: ["sum"], queues: ["q"], lease: .seconds(60)) }
    }

    private func claim(_ count: Int, for worker: WorkerID, _ store: PostgresStore) async throws -> [Lease] {
        try await store.commit { machine in
            try machine.claim(for: worker, slots: [("q", count)], kinds: ["sum"]).compactMap(\.lease)
        }
    }

    @Test func `R16: an operation that another process returns to its place is the next to start`() async throws {
        try await withStores { first, second, _ in
            let handles = try await DurableQueue("q", in: first).add(contentsOf: (0..<9).map { Sum(a: $0, b: 0) })
            let workers = [try await register(first), try await register(second)]
            let lease = try #require(try await claim(1, for: workers[1], second).first)
            #expect(lease.operation == handles[0].id)
            for handle in handles[1...4] {
                let next = try await claim(1, for: workers[0], first)
                #expect(next.map(\.operation) == [handle.id])
            }
            _ = try await second.commit { try $0.complete([Completion(lease: lease, result: .withdrawn)]) }
            let next = try await claim(2, for: workers[0], first)
            #expect(next.map(\.operation) == [handles[0].id, handles[5].id])
        }
    }

    @Test func `R16: an operation whose priority another process raises is the next to start`() async throws {
        try await withStores { first, second, _ in
            let handles = try await DurableQueue("q", in: first).add(contentsOf: (0..<9).map { Sum(a: $0, b: 0) })
            try await DurableQueue("q", in: first).add(Sum(a: 9, b: 0), priority: .high)
            let worker = try await register(first)
            // The floor of the high priority is at the last operation.
            _ = try await claim(2, for: worker, first)
            try await second.setPriority(.high, of: [handles[7].id])
            let next = try await claim(1, for: worker, first)
            #expect(next.map(\.operation) == [handles[7].id])
        }
    }

    @Test func `a claim that was rolled back moves no floor`() async throws {
        try await withStores { store, _, fault in
            let handles = try await DurableQueue("q", in: store).add(contentsOf: (0..<9).map { Sum(a: $0, b: 0) })
            let worker = try await register(store)
            _ = try await claim(1, for: worker, store)
            fault.withLock { $0 = .lostConnection }
            await #expect(throws: DurableError.self) {
                try await store.commit { machine in
                    for _ in 0..<3 { _ = try machine.claim(for: worker, slots: [("q", 1)], kinds: ["sum"]) }
                }
            }
            fault.withLock { $0 = nil }
            let next = try await claim(1, for: worker, store)
            #expect(next.map(\.operation) == [handles[1].id])
        }
    }

    @Test func `a claim begins behind the operations that have started`() async throws {
        try await withPostgres { server, schema in
            let connection = try server.connection(schema)
            _ = try PostgresMigrator.migrate(connection)
            let queue = try await PostgresStore(server.url(schema: schema))
            let handles = try await DurableQueue("q", in: queue).add(contentsOf: (0..<9).map { Sum(a: $0, b: 0) })
            try connection.execute("BEGIN")
            let rows = PostgresRows(connection, now: DurableInstant(microseconds: .max / 2))
            var machine = DurableMachine(rows: rows, limits: DurableLimits())
            let worker = try machine.register("w", kinds: ["sum"], queues: ["q"], lease: .seconds(60))
            for _ in 0..<4 { _ = try machine.claim(for: worker, slots: [("q", 2)], kinds: ["sum"]) }
            let row = try #require(try rows.operations([handles[6].id]).first)
            let lane = ReadyFloors.Lane(queue: row.queue, epoch: row.epoch, kind: row.kind, priority: .normal)
            #expect(rows.floors.floor(of: lane) == ReadyFloors.Place(readyAt: row.readyAt, id: row.id))
            let now = rows.now + ReadyFloors.life
            rows.floors.validate(number: 0, now: now)
            #expect(rows.floors.floor(of: lane) == ReadyFloors.first)
            try connection.execute("ROLLBACK")
        }
    }
}
#endif
