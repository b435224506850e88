import DurableCore
import DurableTesting
import GRDB
import GRDBSQLite
import Testing

@testable import OperationsDurable

@Suite struct BarrierCostTests {
    /// Returns the instructions of SQLite for the claim and the end of the first of many waiting barriers.
    private func instructions(_ barriers: Int, limit: Int? = nil) async throws -> Int {
        let database = try DatabaseQueue()
        _ = try await Migrator.migrate(database)
        var barrier = NewOperation(name: "sum", queue: "q")
        barrier.isBarrier = true
        let batch = [NewOperation](repeating: barrier, count: barriers)
        return try await database.write { database in
            try apply(database) { machine in
                _ = try machine.add(batch)
                try machine.setLimit(limit, queue: "q")
            }
            return try countInstructions(database) {
                try apply(database) { machine in
                    let worker = try machine.register("w", kinds: ["sum"], queues: ["q"], lease: .seconds(300))
                    let claims = try machine.claim(for: worker, slots: [("q", 9)], kinds: ["sum"])
                    #expect(claims.map(\.row.id) == [OperationID(1)])
                    _ = try machine.complete(
                        claims.compactMap(\.lease).map { Completion(lease: $0, result: .succeeded(output: [])) })
                    let next = try machine.claim(for: worker, slots: [("q", 9)], kinds: ["sum"])
                    #expect(next.map(\.row.id) == [OperationID(2)])
                }
            }
        }
    }

    @Test func `R17: the cost of a claim in a queue with a limit does not grow with the number of waiting barriers`()
        async throws
    {
        let (few, many) = (try await instructions(10, limit: 5), try await instructions(2_000, limit: 5))
        #expect(few > 100)
        #expect(many < few + few / 4)
    }

    @Test func `R18: the cost of a barrier does not grow with the number of waiting barriers`() async throws {
        let (few, many) = (try await instructions(10), try await instructions(2_000))
        #expect(few > 100)
        #expect(many < few + few / 4)
    }

    /// Returns the instructions of SQLite for a wait behind a barrier with many ready operations in front of it.
    private func instructionsOfWait(_ operations: Int) async throws -> Int {
        let database = try DatabaseQueue()
        _ = try await Migrator.migrate(database)
        func member(_ queue: String, isBarrier: Bool = false) -> NewOperation {
            var new = NewOperation(name: "sum", queue: queue)
            new.isBarrier = isBarrier
            return new
        }
        let plain = [NewOperation](repeating: member("many"), count: operations)
        let first = [member("p"), member("p", isBarrier: true)]
        let batch = plain + [member("many", isBarrier: true), member("many")]
        return try await database.write { database in
            let lease = try apply(database) { machine in
                _ = try machine.add(first)
                _ = try machine.add(batch)
                let worker = try machine.register("w", kinds: ["sum"], queues: ["p"], lease: .seconds(300))
                return try machine.claim(for: worker, slots: [("p", 1)], kinds: ["sum"])[0].lease
            }
            let last = OperationID(Int64(first.count + batch.count))
            return try countInstructions(database) {
                try apply(database) { machine in
                    let lease = try #require(lease)
                    let reply = try machine.awaitOperations([last], name: "w", position: 0, by: lease)
                    #expect(reply == .suspended)
                }
            }
        }
    }

    @Test func `R3: the check of a wait through barriers visits only operations that wait`() async throws {
        let (few, many) = (try await instructionsOfWait(10), try await instructionsOfWait(2_000))
        #expect(few > 100)
        #expect(many < few + few / 4)
    }

    private func apply<Reply>(_ database: Database, _ event: (inout DurableMachine) throws -> Reply) throws -> Reply {
        let rows = SQLiteRows(database, now: Explorer.start, statements: SQLiteStatements())
        var machine = DurableMachine(rows: rows, limits: DurableLimits())
        let reply = try event(&machine)
        try rows.flush()
        return reply
    }

    private func countInstructions(_ database: Database, _ body: () throws -> Void) throws -> Int {
        var count = 0
        try withUnsafeMutablePointer(to: &count) { pointer in
            let step: @convention(c) (UnsafeMutableRawPointer?) -> CInt = { pointer in
                pointer?.assumingMemoryBound(to: Int.self).pointee += 1
                return 0
            }
            sqlite3_progress_handler(database.sqliteConnection, 1, step, pointer)
            defer { sqlite3_progress_handler(database.sqliteConnection, 0, nil, nil) }
            try body()
        }
        return count
    }
}
