#if Postgres
import CShiftedClock
import DurablePoison
import Foundation
import Logging
import OperationsDurable
import OperationsDurablePostgres

/// A worker in a process of its own, which a test kills, freezes or cuts off.
///
/// Arguments: the address, the number of operations at a time, the seconds by which the clock of the process is wrong.
/// The next arguments are the lease in milliseconds, and the number of deaths after which an operation ends. The kills of a test
/// are the fault of no operation. The last argument is the time in milliseconds for a lock and for a reply. The worker writes its log to the standard error.
struct Effect: DurableOperation {
    static let name = "effect"
    var number: Int

    func run(_ context: DurableContext) async throws {
        let step = try await context.step("prepare") { number * 2 }
        try await context.write(number, step)
    }
}

/// Waits for a file, and then writes its effect.
struct Hold: DurableOperation {
    static let name = "hold"
    var number: Int
    var file: String

    func run(_ context: DurableContext) async throws {
        while !FileManager.default.fileExists(atPath: file) { try await Task.sleep(for: .milliseconds(1)) }
        try await context.write(number, 0)
    }
}

extension DurableContext {
    /// Writes an effect in the transaction of the completion. Repeats the transaction while the database is away.
    fileprivate func write(_ number: Int, _ step: Int) async throws {
        guard let store = PostgresWorker.store else { throw CancellationError() }
        while true {
            do {
                return try await store.transaction { transaction in
                    try transaction.execute(
                        "INSERT INTO effect(number, step) VALUES ($1, $2)", [.int(Int64(number)), .int(Int64(step))])
                    try complete(in: transaction)
                }
            } catch DurableError.unavailable {
                try await Task.sleep(for: .milliseconds(10))
            } catch DurableError.leaseLost {
                // Another worker runs the operation, or the transaction with the lost reply was committed.
                return
            }
        }
    }
}

/// Returns the time of the process's clock.
struct Clock: DurableOperation {
    static let name = "clock"

    func run(_ context: DurableContext) async throws -> Double { Date().timeIntervalSince1970 }
}

enum PostgresWorker {
    // Written once, before the worker starts.
    nonisolated(unsafe) static var store: PostgresStore?
}

// The worker ends with the process that started it.
Thread.detachNewThread {
    while let data = try? FileHandle.standardInput.read(upToCount: 1), !data.isEmpty {}
    _exit(0)
}
shifted_clock_move(Int(CommandLine.arguments[3]) ?? 0)
var options = PostgresStore.Configuration()
options.transactionTimeout = .milliseconds(300)
if CommandLine.arguments.count > 6, let limit = Int(CommandLine.arguments[6]) {
    // A server that stands still is left after three of these times.
    (options.lockTimeout, options.replyTimeout) = (.milliseconds(limit), .milliseconds(limit))
    options.connectTimeout = .seconds(2)
}
options.limits.maxCrashes = CommandLine.arguments.count > 5 ? Int(CommandLine.arguments[5]) ?? 3 : 1_000
/// Opens the store. Repeats the call on a machine that is so busy that the server ends the first session.
func open(_ options: PostgresStore.Configuration) async throws -> PostgresStore {
    while true {
        do { return try await PostgresStore(CommandLine.arguments[1], configuration: options) } catch DurableError
            .unavailable
        {
            try await Task.sleep(for: .milliseconds(10))
        }
    }
}

let store = try await open(options)
PostgresWorker.store = store
var configuration = DurableWorker.Configuration()
configuration.lease = .milliseconds(Int(CommandLine.arguments[4]) ?? 600)
configuration.logger = Logger(label: "worker") { StreamLogHandler.standardError(label: $0) }
let worker = try DurableWorker(
    store, queues: ["q": .limit(Int(CommandLine.arguments[2]) ?? 8)],
    operations: [Effect.self, Hold.self, Poison.self, Clock.self], configuration: configuration)
try await worker.run()
#endif
