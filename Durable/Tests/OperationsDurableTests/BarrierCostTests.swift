import DurableCore
import DurableTesting
import GRDB
import GRDBSQLite
import Testing

@testable import OperationsDurable

@Suite struct BarrierCostTests {
    /// Returns the instructions of SQLite for the claim and the end of the first of many waiting barriers.
    private func instructions(_ barriers: Int) async throws -> Int {
        let database = try DatabaseQueue()
        _ = try await Migrator.migrate(database)
        var barrier = NewOperation(name: "sum", queue: "q")
        barrier.isBarrier = true
        let batch = [NewOperation](repeating: barrier, count: barriers)
        let apply: @Sendable (Database, (inout DurableMachine) throws -> Void) throws -> Void = { database, event in
            let rows = SQLiteRows(database, now: Explorer.start, statements: SQLiteStatements())
            var machine = DurableMachine(rows: rows, limits: DurableLimits())
            try event(&machine)
            try rows.flush()
        }
        return try await database.write { database in
            try apply(database) { _ = try $0.add(batch) }
            var count = 0
            try withUnsafeMutablePointer(to: &count) { pointer in
                let step: @convention(c) (UnsafeMutableRawPointer?) -> CInt = { pointer in
                    pointer?.assumingMemoryBound(to: Int.self).pointee += 1
                    return 0
                }
                sqlite3_progress_handler(database.sqliteConnection, 1, step, pointer)
                defer { sqlite3_progress_handler(database.sqliteConnection, 0, nil, nil) }
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
            return count
        }
    }

    @Test func `R18: the cost of a barrier does not grow with the number of waiting barriers`() async throws {
        let (few, many) = (try await instructions(10), try await instructions(2_000))
        #expect(few > 100)
        #expect(many < few + few / 4)
    }
}
