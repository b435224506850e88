import Foundation
import GRDB
import OperationsDurable
import OperationsDurablePostgres
import Synchronization

/// An operation that does nothing.
struct Nothing: DurableOperation {
    static let name = "nothing"
    func run(_ context: DurableContext) async throws {}
}

/// An operation that returns the instant of its start.
struct Stamp: DurableOperation {
    static let name = "stamp"
    func run(_ context: DurableContext) async throws -> UInt64 { monotonicNanoseconds() }
}

/// An operation with some steps that do nothing.
struct Stepped: DurableOperation {
    static let name = "stepped"
    var steps: Int

    func run(_ context: DurableContext) async throws {
        for step in 0..<steps { _ = try await context.step("step \(step)") { step } }
    }
}

/// An operation with one step, and one effect in the transaction of its completion.
struct Effect: DurableOperation {
    static let name = "effect"
    var number: Int

    func run(_ context: DurableContext) async throws {
        let number: Int = try await context.step("number") { self.number }
        if let store = context.store as? SQLiteStore {
            try await store.transaction { database in
                try database.execute(sql: "INSERT INTO effect VALUES (?)", arguments: [number])
                try context.complete(in: database)
            }
        }
        #if Postgres
        if let store = context.store as? PostgresStore {
            try await store.transaction { transaction in
                try transaction.execute("INSERT INTO effect VALUES ($1)", [.int(Int64(number))])
                try context.complete(in: transaction)
            }
        }
        #endif
    }
}

/// One of three operations of a key, which counts the starts that precede a start of an earlier turn of another key.
struct Turn: DurableOperation {
    static let name = "turn"
    /// The number of starts of each turn, and of those that were early.
    static let starts = Mutex((turns: [0, 0, 0], early: 0))

    var keys: Int
    var turn: Int

    func run(_ context: DurableContext) async throws {
        Self.starts.withLock { starts in
            starts.turns[turn] += 1
            if turn > 0, starts.turns[turn - 1] < keys { starts.early += 1 }
        }
    }
}

/// All operations of the benchmark.
let benchmarkOperations: [any DurableOperation.Type] = [
    Nothing.self, Stamp.self, Stepped.self, Effect.self, Turn.self,
]

/// The clock that all processes of a machine share.
func monotonicNanoseconds() -> UInt64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
}

extension DurableQueue {
    /// Adds operations that do nothing, 256 in one transaction.
    func fill(_ count: Int) async throws {
        for start in stride(from: 0, to: count, by: 256) {
            var graph = DurableGraph()
            for _ in start..<min(start + 256, count) { try graph.add(Nothing(), to: self) }
            _ = try await store.add(graph)
        }
    }

    /// Waits until the queue has the number of succeeded operations.
    func waitForSucceeded(_ count: Int) async throws {
        while try await counts()[.succeeded, default: 0] < count { try await Task.sleep(for: .milliseconds(5)) }
    }

    /// Runs a worker in this process while the body runs, and returns the time of the body.
    func measureWithWorker(limit: Int, _ body: () async throws -> Void) async throws -> Duration {
        let worker = try DurableWorker(
            store, queues: [name: .limit(limit)], operations: benchmarkOperations)
        let running = Task { try await worker.run() }
        defer { running.cancel() }
        let time = try await ContinuousClock().measure(body)
        worker.stop()
        try await running.value
        return time
    }
}
