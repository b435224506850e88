#if Postgres
import DurableCore
import Foundation
import Testing

@testable import OperationsDurable
@testable import OperationsDurablePostgres

/// The faults of the network between a worker and the server, and of the server's disk.
@Suite(.enabled(if: PostgresServer.canIsolate, "the tests need PostgreSQL, root, `ip`, `unshare` and `nsenter`"))
struct PostgresIsolationTests {
    /// A worker in a process with a network of its own, which a pair of virtual devices connects with that of the server.
    ///
    /// The networks have no names. The kernel removes them and the devices with the last process.
    private final class DistantWorker: Sendable {
        let process = Process()
        private let text = Locked("")

        /// - Parameter lease: The lease in milliseconds.
        init(_ server: PostgresServer, url: String, lease: Int) throws {
            let directory = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
            let worker = directory.appendingPathComponent("DurablePostgresWorker").path
            // The shell waits for the devices, which need a process in the network.
            let script = "echo ready; read -r _; exec \"$@\""
            process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
            process.arguments = ["unshare", "--net", "sh", "-c", script, "sh", worker, url, "4", "0", "\(lease)"]
            let (input, output, errors) = (Pipe(), Pipe(), Pipe())
            (process.standardInput, process.standardOutput, process.standardError) = (input, output, errors)
            // Only the test holds the pipe open. The worker ends at the end of its input.
            _ = fcntl(input.fileHandleForWriting.fileDescriptor, F_SETFD, FD_CLOEXEC)
            try process.run()
            // A thread, because a `readabilityHandler` may close the descriptor while libdispatch still has its event.
            Thread.detachNewThread { [text, handle = errors.fileHandleForReading] in
                while case let data = handle.availableData, !data.isEmpty {
                    text.withLock { $0 += String(decoding: data, as: UTF8.self) }
                }
            }
            _ = output.fileHandleForReading.availableData
            try server.join(process)
            try input.fileHandleForWriting.write(contentsOf: Data("\n".utf8))
        }

        var log: String { text.withLock { $0 } }

        func kill() {
            Glibc.kill(process.processIdentifier, SIGKILL)
            process.waitUntilExit()
        }
    }

    private func effects(_ store: PostgresStore) async throws -> [Int64] {
        try await store.transaction { try $0.execute("SELECT number FROM effect ORDER BY number") }
            .compactMap { $0.int("number") }
    }

    /// Returns the number of transactions of workers in the other network.
    ///
    /// A session that the cut interrupts before its settings arrive may stay for hours. It has no transaction and no lock.
    private func distantTransactions(_ server: PostgresServer) throws -> Int64 {
        let sql = """
            SELECT count(*) AS count FROM pg_stat_activity WHERE client_addr IS NOT NULL AND xact_start IS NOT NULL
            """
        let result = try server.connection().run(text: sql, [])
        return try #require(PostgresRow(result, 0).int("count"))
    }

    @Test(arguments: [60_000, 2_000])
    func `R28: a worker whose network is cut keeps its operations or is fenced, and each effect exists once`(
        _ lease: Int
    ) async throws {
        let server = try PostgresServer(.network)
        try await server.withSchema { schema in
            let store = try await PostgresStore(server.url(schema: schema))
            _ = try await store.transaction {
                try $0.execute("CREATE TABLE effect(number bigint NOT NULL, step bigint NOT NULL)")
            }
            let queue = DurableQueue("q", in: store)
            let gate = FileManager.default.temporaryDirectory.appendingPathComponent("durable-\(UUID().uuidString)")
            defer { try? FileManager.default.removeItem(at: gate) }
            let hold = try await queue.add(CrashTests.Hold(number: 0, file: gate.path), priority: .high)
            try await queue.add(contentsOf: (1...200).map { CrashTests.Effect(number: $0) })
            // The address makes the test faster than the ten seconds of the default.
            let address = server.url(schema: schema, host: "10.77.0.1") + "&tcp_user_timeout=1000&keepalives_idle=1"
            let distant = try DistantWorker(server, url: address, lease: lease)
            defer { distant.kill() }
            try await hold.reaches(.running)
            try await poll("some effects") { try await effects(store).count >= 20 }
            try server.cut()
            try await poll("the worker notices the cut") { distant.log.contains("the database is away") }
            // The held operation ends while no packet arrives.
            try Data().write(to: gate)
            // By the default of the server, a transaction of the cut worker would hold its locks for two hours.
            try await poll("the server ends the transactions") { try distantTransactions(server) == 0 }
            try await queue.add(CrashTests.Effect(number: 201))
            if lease == 2_000 {
                try await withNearWorker(server.url(schema: schema)) {
                    try await poll("a near worker does the rest") { try await effects(store).count == 202 }
                }
            }
            try server.restore()
            try await queue.add(CrashTests.Effect(number: 202)).value
            try await poll("all operations end") { try await queue.counts() == [.succeeded: 203] }
            #expect(try await effects(store) == (0...202).map { $0 })
            let fence = try await store.read { try $0.rows.operations([hold.id]).first?.fence }
            #expect(lease == 2_000 ? try #require(fence) > 1 : fence == 1)
            #expect(
                distant.log.contains(lease == 2_000 ? "leases of the worker have expired" : "database has returned"))
        }
    }

    /// Runs a worker that reaches the server by its socket.
    private func withNearWorker(_ url: String, _ body: () async throws -> Void) async throws {
        let process = Process()
        let directory = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
        process.executableURL = directory.appendingPathComponent("DurablePostgresWorker")
        process.arguments = [url, "4", "0", "600"]
        let pipe = Pipe()
        (process.standardInput, process.standardError) = (pipe, FileHandle.nullDevice)
        _ = fcntl(pipe.fileHandleForWriting.fileDescriptor, F_SETFD, FD_CLOEXEC)
        try process.run()
        defer {
            Glibc.kill(process.processIdentifier, SIGKILL)
            process.waitUntilExit()
        }
        try await body()
    }

    /// Adds an operation with a large input, which PostgreSQL does not compress.
    private func addLarge(_ queue: DurableQueue, _ name: String) async throws -> DurableHandle<Void> {
        let word = (0..<20_000).map { _ in String(UInt64.random(in: 0 ... .max), radix: 36) }.joined()
        return try await queue.add(Note(journal: name, word: word))
    }

    /// Adds operations until an addition fails, and returns the error.
    private func addUntilFull(
        _ queue: DurableQueue, _ name: String, _ handles: inout [DurableHandle<Void>]
    ) async throws -> DurableError {
        while true {
            do { handles.append(try await addLarge(queue, name)) } catch let error as DurableError { return error }
        }
    }

    @Test(arguments: [PostgresServer.Isolation.data, .wal])
    func `R28: a full disk of the server refuses additions, and everything added before finishes afterward`(
        _ disk: PostgresServer.Isolation
    ) async throws {
        let server = try PostgresServer(disk)
        try await server.withSchema { schema in
            let store = try await PostgresStore(server.url(schema: schema))
            let queue = DurableQueue("q", in: store)
            let name = "full disk of PostgreSQL \(disk)"
            let journal = Journal.named(name)
            let held = try await queue.add(PostgresFaultTests.Gated(journal: name))
            var configuration = DurableWorker.Configuration()
            configuration.lease = .seconds(3_600)
            try await withWorker(store, [PostgresFaultTests.Gated.self], configuration: configuration) {
                try await poll("the operation runs") { journal.count("start") == 1 }
                let other = DurableQueue("r", in: store)
                var handles: [DurableHandle<Void>] = []
                for _ in 0..<10 { handles.append(try await addLarge(other, name)) }
                try server.fill()
                let error = try await addUntilFull(other, name, &handles)
                if disk == .data { #expect("\(error)".contains("No space left on device")) }
                Journal.named("\(name) open").append("open")
                try await poll("the operation asked for its step") { journal.count("step") == 1 }
                try server.clear()
                // A server whose log is full restarts, and ends if the log is still full.
                if disk == .wal { try server.recover() }
                #expect(try await held.value == 1)
                #expect(journal.all == ["start", "step"])
                try await withWorker(store, queues: ["r": .limit(4)], [Note.self], configuration: configuration) {
                    for handle in handles { try await handle.value }
                }
                let counts = try await other.counts()
                #expect(counts.keys.allSatisfy { $0 == .succeeded })
                // The addition that failed may be durable, if the reply to its commit was lost.
                #expect((handles.count...handles.count + 1).contains(counts[.succeeded] ?? 0))
            }
        }
    }
}
#endif
