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

    @Test func `a wake and an admission of a key begin behind the operations before them, and find earlier ones`()
        async throws
    {
        try await withStores { first, second, _ in
            let queue = DurableQueue("q", in: first)
            try await queue.setLimitPerKey(1)
            let options = DurableOptions(limitKey: "k")
            let handles = try await queue.add(contentsOf: (0..<4).map { Sum(a: $0, b: 0) }, options: options)
            let worker = try await register(first)
            func run(_ expected: Int) async throws {
                let lease = try #require(try await claim(1, for: worker, first).first)
                #expect(lease.operation == handles[expected].id)
                _ = try await first.commit {
                    try $0.complete([Completion(lease: lease, result: .succeeded(output: []))])
                }
            }
            try await run(0)
            // Behind the floor of the first process, in the view of the second one.
            try await second.setPriority(.high, of: [handles[3].id])
            try await run(3)
            try await run(1)
            try await run(2)
            // A wait that ends at once, after the floor of wakes has passed it.
            let slow = try await queue.add(Sum(a: 9, b: 0), options: DurableOptions(delay: .milliseconds(50)))
            _ = try await first.commit { try $0.rows.nextWake() }
            try await poll("the operation wakes") {
                try await first.commit { while try $0.wakeDue() {} }
                return try await slow.state == .ready
            }
        }
    }

    @Test func `a deadline ends an operation at once in a process that has seen later deadlines only`() async throws {
        try await withPostgres { server, schema in
            // Floors are forgotten after a second of this clock.
            let time = Locked<DurableInstant?>(nil)
            var configuration = PostgresStore.Configuration()
            configuration.clock = { server in
                time.withLock { time in
                    let now = time ?? server
                    time = now
                    return now
                }
            }
            let first = try await PostgresStore(server.url(schema: schema), configuration: configuration)
            let second = try await PostgresStore(server.url(schema: schema), configuration: configuration)
            func add(_ deadline: Duration, to store: PostgresStore) async throws -> DurableHandle<Int> {
                var options = DurableOptions()
                options.deadline = deadline
                return try await DurableQueue("q", in: store).add(Sum(a: 1, b: 1), options: options)
            }
            func look() async throws -> Duration? {
                try await first.commit { machine in
                    while try machine.wakeDue() {}
                    return try machine.rows.nextWake().map { $0 - machine.now }
                }
            }
            func advance(_ duration: Duration) { time.withLock { $0 = $0.map { $0 + duration } } }
            #expect(try await look() == nil)
            let late = try await add(.seconds(3_600), to: first)
            #expect(try await look() == .seconds(3_600))
            let sql = "SELECT durable_add('q', 'sum', '{}', deadline => interval '1 second')"
            let text = try server.connection(schema).run(text: sql, []).text(0, 0)
            let foreign = OperationID(try #require(Int64(text)))
            // The deadline of the function is one second after the clock of the server, which does not stand still.
            #expect(try await look() ?? .zero < .seconds(3_000))
            let early = try await add(.milliseconds(10), to: second)
            #expect(try await look() == .milliseconds(10))
            advance(.milliseconds(11))
            let next = try #require(try await look())
            #expect(next > .milliseconds(900) && next < .seconds(3_000))
            #expect(try await early.state == .failed)
            // A second look, at the instant that is known.
            advance(next)
            _ = try await look()
            #expect(try await first.read { try $0.rows.operations([foreign]).first?.state } == .failed)
            #expect(try await late.state == .ready)
            advance(.seconds(3_600))
            #expect(try await look() == nil)
            #expect(try await late.state == .failed)
        }
    }

    @Test func `a deadline that an older program added is seen after a second`() async throws {
        try await withStores { store, _, _ in
            #expect(try await store.commit { try $0.rows.nextWake() } == nil)
            var options = DurableOptions()
            options.deadline = .milliseconds(1)
            let handle = try await DurableQueue("q", in: store).add(Sum(a: 1, b: 1), options: options)
            // An older program does not lower the number.
            _ = try await store.commit { machine in
                let rows = try #require(machine.rows as? PostgresRows)
                rows.setNumber("first_deadline", .max)
            }
            try await poll("the deadline ends the operation") {
                try await store.commit { while try $0.wakeDue() {} }
                return try await handle.state == .failed
            }
        }
    }

    /// A reason for an operation to have an entry in an index of its own.
    enum Entry: String, CaseIterable {
        case wake, key, deadline

        var index: String { self == .key ? "durable_key_blocked" : "durable_\(rawValue)" }

        var options: DurableOptions {
            switch self {
            case .wake: DurableOptions(delay: .milliseconds(1))
            case .key: DurableOptions(limitKey: "k")
            case .deadline: DurableOptions(deadline: .seconds(3_600))
            }
        }
    }

    @Test(arguments: Entry.allCases)
    func `beside an old snapshot, a claim reads no entries of ended operations`(_ entry: Entry) async throws {
        try await withPostgres { server, schema in
            // On a busy machine, floors would be forgotten after a few transactions.
            let time = Locked<Int64>(0)
            var configuration = PostgresStore.Configuration()
            configuration.clock = { _ in
                time.withLock { time in
                    time += 100
                    return DurableInstant(microseconds: time)
                }
            }
            let store = try await PostgresStore(server.url(schema: schema), configuration: configuration)
            let queue = DurableQueue("q", in: store)
            try await queue.setLimitPerKey(1)
            let snapshot = try server.connection(schema)
            try snapshot.execute("SET application_name = 'snapshot'")
            try snapshot.executeAll("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM durable_operation")
            let count = 300
            _ = try await queue.add(contentsOf: (0..<count).map { Sum(a: $0, b: 0) }, options: entry.options)
            let worker = try await register(store)
            var done = 0
            /// Runs operations until the number has ended. Returns the entries that the index returned for each of them.
            func entries(until end: Int) async throws -> Int {
                func read() throws -> Int {
                    try snapshot.executeAll("SELECT pg_stat_clear_snapshot()")
                    let result = try snapshot.run(
                        text: """
                            SELECT idx_tup_read FROM pg_stat_user_indexes WHERE indexrelname = $1 AND schemaname = $2
                            """, [.text(entry.index), .text(schema)])
                    return Int(result.text(0, 0)) ?? 0
                }
                _ = try await store.transaction { try $0.execute("SELECT pg_stat_force_next_flush()") }
                let (before, start) = (try read(), done)
                while done < end {
                    done += try await store.commit { machine in
                        while try machine.wakeDue() {}
                        _ = try machine.rows.nextWake()
                        let claims = try machine.claim(for: worker, slots: [("q", 1)], kinds: ["sum"])
                        let ended = claims.compactMap(\.lease).map {
                            Completion(lease: $0, result: .succeeded(output: []))
                        }
                        return try machine.complete(ended).count
                    }
                }
                // A session reports its numbers once a second otherwise.
                _ = try await store.transaction { try $0.execute("SELECT pg_stat_force_next_flush()") }
                return (try read() - before) / (done - start)
            }
            _ = try await entries(until: 10)
            let (first, last) = (try await entries(until: 60), try await entries(until: count - 10))
            #expect(last < 40, "\(first) and \(last) entries of the index for each operation")
        }
    }
}
#endif
