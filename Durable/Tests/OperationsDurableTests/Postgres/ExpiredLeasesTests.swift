#if Postgres
import DurableCore
import Testing

@testable import OperationsDurable
@testable import OperationsDurablePostgres

struct ExpiredLeasesTests {
    private func worker(_ number: Int64, until seconds: Int64) -> WorkerRow {
        WorkerRow(
            id: WorkerID(number), name: "", leaseEnd: DurableInstant(microseconds: seconds * 1_000_000), kinds: [],
            queues: [])
    }

    private func instant(_ seconds: Int64) -> DurableInstant { DurableInstant(microseconds: seconds * 1_000_000) }

    @Test func `R33: a lease is taken at the second look, when the patience is over`() {
        var leases = ExpiredLeases(patience: .seconds(2))
        #expect(leases.look(at: [worker(1, until: 9)], now: instant(10)) == [])
        #expect(leases.look(at: [worker(1, until: 9), worker(2, until: 10)], now: instant(11)) == [])
        #expect(leases.look(at: [worker(1, until: 9), worker(2, until: 10)], now: instant(12)) == [WorkerID(1)])
        #expect(leases.look(at: [worker(2, until: 10)], now: instant(13)) == [WorkerID(2)])
    }

    @Test func `R33: a lease that was renewed after the first look is new`() {
        var leases = ExpiredLeases(patience: .seconds(2))
        #expect(leases.look(at: [worker(1, until: 9)], now: instant(10)) == [])
        #expect(leases.look(at: [], now: instant(11)) == [])
        #expect(leases.look(at: [worker(1, until: 9)], now: instant(20)) == [])
        #expect(leases.look(at: [worker(1, until: 21)], now: instant(22)) == [])
        #expect(leases.look(at: [worker(1, until: 21)], now: instant(24)) == [WorkerID(1)])
    }

    @Test func `without patience, the first look takes a lease`() {
        var leases = ExpiredLeases(patience: .zero)
        #expect(leases.look(at: [worker(1, until: 9)], now: instant(10)) == [WorkerID(1)])
    }

    @Test(.enabled(if: PostgresServer.isInstalled))
    func `R33: a heartbeat that comes after the first look at an expired lease keeps the operations`() async throws {
        try await withPostgres { server, schema in
            let clock = TestClock()
            var configuration = PostgresStore.Configuration()
            configuration.clock = { _ in clock.now }
            let store = try await PostgresStore(server.url(schema: schema), configuration: configuration)
            let workers = try await store.commit { machine in
                try (0..<2).map { try machine.register("\($0)", kinds: [], queues: [], lease: .seconds(5)) }
            }
            clock.advance(by: .seconds(6))
            let first = try await store.commit { try $0.expireLeases() }
            #expect(first == [])
            // As the heart of a worker, which a lock of the rows had stopped.
            try await store.commit { try $0.heartbeat(workers[0], lease: .seconds(5)) }
            clock.advance(by: .seconds(2))
            let second = try await store.commit { try $0.expireLeases() }
            #expect(second == [workers[1]])
            let rest = try await store.read { try $0.rows.workers() }
            #expect(rest.map(\.id) == [workers[0]])
        }
    }
}
#endif
