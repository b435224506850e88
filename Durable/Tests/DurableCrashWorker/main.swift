import DurablePoison
import Foundation
import GRDB
import OperationsDurable

/// A worker that a test kills at any moment. Its operations write one effect each in the transaction of their completion.
///
/// Arguments: the path of the file, the number of operations at a time, the lease in milliseconds, and the number of deaths
/// after which an operation ends. The kills of a test are the fault of no operation.
struct Effect: DurableOperation {
    static let name = "effect"
    var number: Int

    func run(_ context: DurableContext) async throws {
        guard let store = CrashWorker.store else { throw CancellationError() }
        let step = try await context.step("prepare") { number * 2 }
        try await store.transaction { database in
            try database.execute(sql: "INSERT INTO effect(number, step) VALUES (?, ?)", arguments: [number, step])
            try context.complete(in: database)
        }
    }
}

/// Waits for a file, and then writes its effect.
struct Hold: DurableOperation {
    static let name = "hold"
    var number: Int
    var file: String

    func run(_ context: DurableContext) async throws {
        while !FileManager.default.fileExists(atPath: file) { try await Task.sleep(for: .milliseconds(1)) }
        guard let store = CrashWorker.store else { throw CancellationError() }
        try await store.transaction { database in
            try database.execute(sql: "INSERT INTO effect(number, step) VALUES (?, 0)", arguments: [number])
            try context.complete(in: database)
        }
    }
}

enum CrashWorker {
    // Written once before the worker starts.
    nonisolated(unsafe) static var store: SQLiteStore?
}

// The worker ends with the process that started it. Without this it would run on when a test is killed, and use a core.
let parent = getppid()
Thread.detachNewThread {
    while getppid() == parent { sleep(1) }
    _exit(1)
}
var options = SQLiteStore.Configuration()
options.synchronous = .normal
options.limits.maxCrashes = CommandLine.arguments.count > 4 ? Int(CommandLine.arguments[4]) ?? 3 : 1_000
let store: SQLiteStore
do {
    store = try await SQLiteStore(path: CommandLine.arguments[1], configuration: options)
} catch {
    // Not a crash. The program that prints the backtrace of another user's process may wait forever.
    FileHandle.standardError.write(Data("\(error)\n".utf8))
    exit(1)
}
CrashWorker.store = store
var configuration = DurableWorker.Configuration()
configuration.lease = .milliseconds(CommandLine.arguments.count > 3 ? Int(CommandLine.arguments[3]) ?? 600 : 600)
let worker = try DurableWorker(
    store, queues: ["q": .limit(Int(CommandLine.arguments[2]) ?? 8)],
    operations: [Effect.self, Hold.self, Poison.self],
    configuration: configuration)
print("ready")
fflush(nil)
try await worker.run()
