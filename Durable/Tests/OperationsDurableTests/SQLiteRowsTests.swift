import DurableCore
import DurableTesting
import Foundation
import GRDB
import Testing

@testable import OperationsDurable

@Suite struct SQLiteRowsTests {
    static let programs = Stress.rounds(400, small: 8)
    static let firstSeed = UInt64(ProcessInfo.processInfo.environment["DURABLE_SEED"] ?? "") ?? 1

    private func database() async throws -> DatabaseQueue {
        let database = try DatabaseQueue()
        _ = try await Migrator.migrate(database)
        return database
    }

    @Test func `the rows in SQLite equal the rows in memory after each event of random programs`() async throws {
        for seed in Self.firstSeed..<Self.firstSeed + UInt64(Self.programs) {
            try await compare(seed, in: try await database())
        }
    }

    private func compare(_ seed: UInt64, in database: DatabaseQueue) async throws {
        var explorer = Explorer(seed: seed)
        let memory = MemoryRows(now: Explorer.start)
        let statements = SQLiteStatements()
        for _ in 0..<250 {
            // The thread belongs to all tests.
            await Task.yield()
            let (event, _) = explorer.next()
            memory.now = explorer.reference.now
            var machine = explorer.machine(on: memory)
            let expected = try machine.reply(to: event)
            let (reply, stored) = try apply(event, of: explorer, at: memory.now, to: database, statements)
            let label = "seed \(seed), event \(explorer.count) \(event)"
            try #require(reply == expected, "\(label)")
            try #require(stored == Dump(memory), "\(label)")
        }
    }

    private func apply(
        _ event: ProgramEvent, of explorer: Explorer, at now: DurableInstant, to database: DatabaseQueue,
        _ statements: SQLiteStatements
    ) throws -> (ProgramReply, Dump) {
        let reply = try database.write { database in
            let rows = SQLiteRows(database, now: now, statements: statements)
            var machine = explorer.machine(on: rows)
            let reply = try machine.reply(to: event)
            try rows.flush()
            return reply
        }
        return (reply, try dump(database))
    }

    /// The contents of all tables.
    private struct Dump: Equatable {
        var operations: [OperationRow] = []
        var inputs: [OperationID: [UInt8]] = [:]
        var outputs: [OperationID: [UInt8]] = [:]
        var edges: [Edge] = []
        var queues: [QueueRow] = []
        var counters: [[Counter: Int64]] = []
        var keys: [KeyRow] = []
        var history: [HistoryEntry] = []
        var signals: [SignalRow] = []
        var workers: [WorkerRow] = []
        var attempts: [AttemptRow] = []
        var events: [EventRow] = []
        var lastEvent: Int64 = 0

        init() {}

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
            attempts = ids.flatMap { memory.attempts(of: $0) }
            (events, lastEvent) = (tables.events, memory.lastEventNumber())
        }
    }

    private func dump(_ database: DatabaseQueue) throws -> Dump {
        try database.read { database in
            let rows = SQLiteRows(database, now: Explorer.start, statements: SQLiteStatements())
            var dump = Dump()
            let ids = try Int64.fetchAll(database, sql: "SELECT id FROM durable_operation ORDER BY id").map {
                OperationID($0)
            }
            dump.operations = try rows.operations(ids)
            dump.inputs = try rows.inputs(of: ids)
            for id in ids { dump.outputs[id] = try rows.output(of: id) }
            dump.edges = try rows.edges(from: ids)
            dump.queues = try rows.queues()
            dump.counters = try dump.queues.map { try rows.counters(of: $0.id) }
            dump.keys = try dump.queues.flatMap { try rows.keys(of: $0.id) }
            dump.history = try rows.history(of: ids)
            let signals = try Row.fetchAll(database, sql: "SELECT * FROM durable_signal ORDER BY operation, number")
            dump.signals = signals.map {
                SignalRow(
                    operation: OperationID($0["operation"]), name: $0["name"], number: $0["number"],
                    payload: [UInt8]($0["payload"] as Data))
            }
            dump.workers = try rows.workers()
            dump.attempts = try ids.flatMap { try rows.attempts(of: $0) }
            (dump.events, dump.lastEvent) = (try rows.events(after: 0, limit: .max), try rows.lastEventNumber())
            return dump
        }
    }

    @Test func `each statement on a growing table uses an index`() async throws {
        let growing = [
            "operation", "input", "output", "edge", "unique", "history", "signal", "counter", "key", "attempt", "event",
        ]
        try await database().read { database in
            for sql in SQL.allCases {
                let statement = try database.makeStatement(sql: "EXPLAIN QUERY PLAN \(sql.text)")
                statement.setUncheckedArguments(StatementArguments())
                let plan = try Row.fetchAll(statement)
                for step in plan {
                    let detail: String = step["detail"]
                    for table in growing {
                        #expect(!detail.hasSuffix("SCAN durable_\(table)"), "\(sql): \(detail)")
                        #expect(!detail.contains("TEMP B-TREE"), "\(sql): \(detail)")
                    }
                    if detail.hasPrefix("SCAN durable_operation") {
                        #expect(detail.contains("USING COVERING INDEX durable_wake"), "\(sql): \(detail)")
                    }
                }
            }
        }
    }
}
