#if Postgres
import DurableCore
import DurableTesting
import Foundation
import Testing

@testable import OperationsDurable
@testable import OperationsDurablePostgres

@Suite(.enabled(if: PostgresServer.isInstalled)) struct PostgresRowsTests {
    static let programs = Stress.rounds(100, least: 5)
    static let firstSeed = UInt64(ProcessInfo.processInfo.environment["DURABLE_SEED"] ?? "") ?? 1

    @Test func `the rows in PostgreSQL equal the rows in memory after each event of random programs`() async throws {
        for seed in Self.firstSeed..<Self.firstSeed + UInt64(Self.programs) {
            try await withPostgres { server, schema in try await compare(seed, server.connection(schema)) }
        }
    }

    private func compare(_ seed: UInt64, _ connection: PostgresConnection) async throws {
        _ = try PostgresMigrator.migrate(connection)
        try connection.execute("SET synchronous_commit = off")
        var explorer = Explorer(seed: seed)
        let memory = MemoryRows(now: Explorer.start)
        // The floors of two processes, whose transactions take turns.
        var floors = [ReadyFloors(), ReadyFloors()]
        for turn in 0..<250 {
            // The thread belongs to all tests.
            await Task.yield()
            let (event, _) = explorer.next()
            memory.now = explorer.reference.now
            var machine = explorer.machine(on: memory)
            let expected = try machine.reply(to: event)
            try connection.execute("BEGIN")
            let rows = PostgresRows(connection, now: memory.now)
            let process = turn / 7 % 2
            rows.floors = floors[process]
            var stored = explorer.machine(on: rows)
            let reply = try stored.reply(to: event)
            try rows.flush()
            try connection.commit()
            floors[process] = rows.floors
            let label = "seed \(seed), event \(explorer.count) \(event)"
            try #require(reply == expected, "\(label)")
            try #require(try Dump(connection) == Dump(memory), "\(label)")
        }
    }

    /// The contents of all tables.
    private struct Dump: Equatable {
        var operations: [OperationRow]
        var inputs: [OperationID: [UInt8]]
        var outputs: [OperationID: [UInt8]]
        var edges: [Edge]
        var queues: [QueueRow]
        var counters: [[Counter: Int64]]
        var keys: [KeyRow]
        var history: [HistoryEntry]
        var signals: [SignalRow]
        var workers: [WorkerRow]
        var schedules: [ScheduleRow]
        var attempts: [AttemptRow]
        var events: [EventRow]
        var lastEvent: Int64

        init(_ memory: MemoryRows) {
            let tables = memory.tables
            operations = tables.operations.values.sorted { $0.id < $1.id }
            let ids = operations.map(\.id)
            (inputs, outputs, edges) = (tables.inputs, tables.outputs, memory.edges(from: ids))
            queues = tables.queues
            counters = queues.map { memory.counters(of: $0.id) }
            keys = queues.flatMap { memory.keys(of: $0.id) }
            history = memory.history(of: ids)
            signals = tables.signals.sorted { ($0.operation, $0.number) < ($1.operation, $1.number) }
            workers = memory.workers()
            schedules = memory.schedules()
            attempts = ids.flatMap { memory.attempts(of: $0) }
            (events, lastEvent) = (tables.events, memory.lastEventNumber())
        }

        init(_ connection: PostgresConnection) throws {
            let rows = PostgresRows(connection, now: Explorer.start)
            func texts(_ sql: String) throws -> [PostgresRow] {
                let result = try connection.run(text: sql, [])
                return (0..<result.count).map { PostgresRow(result, $0) }
            }
            let ids = try texts("SELECT id FROM durable_operation ORDER BY id").compactMap {
                $0.int("id").map { OperationID($0) }
            }
            operations = try rows.operations(ids)
            inputs = try rows.inputs(of: ids)
            outputs = [:]
            for row in try texts("SELECT id, data FROM durable_output") {
                outputs[OperationID(row.int("id") ?? 0)] = row.bytes("data")
            }
            edges = try rows.edges(from: ids)
            queues = try rows.queues()
            counters = try queues.map { try rows.counters(of: $0.id) }
            keys = try queues.flatMap { try rows.keys(of: $0.id) }
            history = try rows.history(of: ids)
            signals = try texts("SELECT * FROM durable_signal ORDER BY operation, number").map {
                SignalRow(
                    operation: OperationID($0.int("operation") ?? 0), name: $0["name"] ?? "",
                    number: $0.int("number") ?? 0, payload: $0.bytes("payload") ?? [])
            }
            workers = try rows.workers()
            schedules = try rows.schedules()
            attempts = try ids.flatMap { try rows.attempts(of: $0) }
            (events, lastEvent) = (try rows.events(after: 0, limit: .max), try rows.lastEventNumber())
        }
    }

    @Test func `operations of one batch keep their fields, identifiers and inputs, also if neighbors are alike`()
        async throws
    {
        let instant = DurableInstant(microseconds: 7)
        let changes: [(inout OperationRow) -> Void] = [
            { $0.queue = QueueID(2) }, { $0.kind = KindID(2) }, { $0.epoch = 1 }, { $0.priority = .high },
            { $0.state = .waiting }, { $0.readyAt = instant }, { $0.wakeAt = instant }, { $0.pending = 1 },
            { $0.children = 1 }, { $0.parent = OperationID(1) }, { $0.failurePolicy = .cancel },
            { $0.rootCause = OperationID(1) }, { $0.key = "\u{E9}" }, { $0.key = "e\u{301}" },
            { $0.worker = WorkerID(1) }, { $0.fence = 1 }, { $0.failures = 1 }, { $0.lostLeases = 1 },
            { $0.crashes = 1 }, { $0.death = WorkerID(1) }, { $0.retry = .constant(.seconds(1), retries: 2) },
            { $0.timeout = 1 }, { $0.deadline = instant }, { $0.addedAt = instant }, { $0.startedAt = instant },
            { $0.endedAt = instant }, { $0.purgeAt = instant }, { $0.isCancelRequested = true },
            { $0.historyCount = 1 }, { $0.signal = "s" }, { $0.workOutcome = .failed }, { $0.reason = "r" },
            { $0.context = "c" },
        ]
        var saved = Changes()
        // Runs below and above the length from which a statement of their own costs less.
        for length in [1, 7, 8, 20] {
            for change in changes {
                for index in 0..<2 * length {
                    var row = OperationRow(
                        id: OperationID(Int64(saved.inserted.count + 1)), queue: QueueID(1), kind: KindID(1), epoch: 0,
                        priority: .normal, state: .ready, readyAt: Explorer.start, addedAt: Explorer.start)
                    // The neighbors of each run differ from it in one field only.
                    if index >= length { change(&row) }
                    saved.inserted.append(row)
                    let size = row.id.rawValue % 5 == 0 ? PostgresRows.inlineBytes + 1 : 3
                    saved.inputs[row.id] = Array(repeating: UInt8(row.id.rawValue % 251), count: size)
                }
            }
        }
        try await withPostgres { server, schema in
            let connection = try server.connection(schema)
            _ = try PostgresMigrator.migrate(connection)
            let rows = PostgresRows(connection, now: Explorer.start)
            try rows.save(saved)
            try rows.flush()
            let (ids, stored) = (saved.inserted.map(\.id), PostgresRows(connection, now: Explorer.start))
            // Each text by its bytes: texts with other bytes may be equal.
            let bytes = { (rows: [OperationRow]) in rows.map { $0.key.map { Array($0.utf8) } } }
            let found = try stored.operations(ids).sorted { $0.id < $1.id }
            #expect(found == saved.inserted && bytes(found) == bytes(saved.inserted))
            #expect(try stored.inputs(of: ids) == saved.inputs)
        }
    }

    @Test func `alike operations of a batch exist once if the transaction is repeated`() async throws {
        try await withPostgres { server, schema in
            let fault = Locked<PostgresStore.Configuration.Fault?>(nil)
            var configuration = PostgresStore.Configuration()
            configuration.fault = { fault.withLock { $0.take() } }
            let store = try await PostgresStore(server.url(schema: schema), configuration: configuration)
            let queue = DurableQueue("q", in: store)
            // The first transaction opens the connection. An error of a new connection is not repeated.
            try await queue.add(Sum(a: 0, b: 0))
            fault.withLock { $0 = .lostConnection }
            let handles = try await queue.add(contentsOf: (1...40).map { Sum(a: $0, b: 0) })
            #expect(fault.withLock { $0 } == nil)
            // Statements that an application undoes, before others in the same group.
            let undone: Void? = try? await store.transaction { transaction in
                for number in 41...60 { try queue.add(Sum(a: number, b: 0), in: transaction) }
                throw CancellationError()
            }
            #expect(undone == nil)
            try await withWorker(store, [Sum.self]) {
                for (number, handle) in handles.enumerated() {
                    let value = try await handle.value
                    #expect(value == number + 1)
                }
            }
            #expect(try await queue.counts() == [.succeeded: 41])
        }
    }

    @Test func `R17: a claim in a queue with a limit reads no counters of waiting barriers in PostgreSQL`() async throws
    {
        try await withPostgres { server, schema in
            let connection = try server.connection(schema)
            _ = try PostgresMigrator.migrate(connection)
            // One running operation, and one barrier in each epoch that follows.
            _ = try connection.run(
                text: """
                    INSERT INTO durable_counter SELECT 1, epoch, 1, CASE epoch WHEN 0 THEN 4 ELSE 3 END, 1 \
                    FROM generate_series(0, 2000) AS epoch
                    """, [])
            _ = try connection.run(text: "PREPARE test_running AS \(connection.settings.text(of: .runningCount))", [])
            for isAnalyzed in [false, true] {
                if isAnalyzed { try connection.execute("ANALYZE durable_counter") }
                let plan = try connection.run(text: "EXPLAIN (ANALYZE, TIMING OFF) EXECUTE test_running(1)", [])
                let steps = (0..<plan.count).map { plan.text($0, 0) }.joined(separator: "\n")
                #expect(steps.contains("durable_counter_running") && !steps.contains("Removed by Filter"), "\(steps)")
            }
        }
    }

    @Test func `a question to PostgreSQL is no change, and a change is one`() {
        for sql in PostgresSQL.allCases {
            let isChange = ["INSERT", "UPDATE", "DELETE"].contains { sql.text.hasPrefix($0) }
            #expect(sql.isChange == isChange, "\(sql)")
        }
    }

    @Test func `each statement on a growing table of PostgreSQL uses an index`() async throws {
        let growing = [
            "operation", "input", "output", "edge", "unique", "history", "signal", "counter", "key", "attempt", "event",
        ]
        try await withPostgres { server, schema in
            let connection = try server.connection(schema)
            _ = try PostgresMigrator.migrate(connection)
            for sql in PostgresSQL.allCases {
                // A generic plan has no values, as the plans of prepared statements in the store.
                _ = try connection.run(text: "PREPARE test_\(sql.name) AS \(connection.settings.text(of: sql))", [])
                let count = sql.parameterCount
                let nulls = count == 0 ? "" : "(\(Array(repeating: "NULL", count: count).joined(separator: ", ")))"
                let plan = try connection.run(text: "EXPLAIN EXECUTE test_\(sql.name)\(nulls)", [])
                for row in 0..<plan.count {
                    let step = plan.text(row, 0)
                    for table in growing {
                        let name = "durable_\(table)"
                        #expect(!step.contains("Seq Scan on \(name)"), "\(sql): \(step)")
                        #expect(!step.contains("Sort") && !step.contains("Hash Join"), "\(sql): \(step)")
                    }
                }
            }
        }
    }
}

extension PostgresSQL {
    /// The largest number of a parameter in the text.
    fileprivate var parameterCount: Int {
        text.split(separator: "$", omittingEmptySubsequences: false).dropFirst()
            .compactMap { Int($0.prefix { $0.isNumber }) }.max() ?? 0
    }
}
#endif
