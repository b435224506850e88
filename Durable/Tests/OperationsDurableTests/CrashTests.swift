import DurableCore
import Foundation
import GRDB
import OperationsDurable
import OperationsTesting
import Testing

/// The faults of processes. `OPERATIONS_STRESS` makes the test larger, and
/// `DURABLE_SEED` repeats its random choices.
@Suite struct CrashTests {
    struct Effect: DurableOperation {
        static let name = "effect"
        var number: Int
        func run(_ context: DurableContext) async throws {}
    }

    struct Hold: DurableOperation {
        static let name = "hold"
        var number: Int
        var file: String
        func run(_ context: DurableContext) async throws {}
    }

    private static func number(_ name: String, _ standard: Int) -> Int {
        Int(ProcessInfo.processInfo.environment[name] ?? "") ?? standard
    }

    /// Starts a worker in a process of its own.
    private func startWorker(_ path: String) throws -> Process {
        let process = Process()
        let directory = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
        process.executableURL = directory.appendingPathComponent("DurableCrashWorker")
        process.arguments = [path, "4"]
        process.standardOutput = FileHandle.nullDevice
        try process.run()
        return process
    }

    @Test func `a file that the process must not write is an error that names the file`() async throws {
        try await withTemporaryFile { path in
            _ = try await SQLiteStore(path: path)
            let directory = URL(fileURLWithPath: path).deletingLastPathComponent().path
            try FileManager.default.setAttributes([.posixPermissions: 0o444], ofItemAtPath: path)
            try FileManager.default.setAttributes([.posixPermissions: 0o555], ofItemAtPath: directory)
            let process = Process()
            let worker = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
                .appendingPathComponent("DurableCrashWorker")
            // Permissions do not bind root.
            let unprivileged = geteuid() == 0 ? ["setpriv", "--reuid=65534", "--clear-groups"] : []
            process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
            process.arguments = unprivileged + [worker.path, path, "1"]
            let errors = Pipe()
            (process.standardError, process.standardOutput) = (errors, FileHandle.nullDevice)
            try process.run()
            let output = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
            process.waitUntilExit()
            try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: directory)
            #expect(output.contains("the file '\(path)' is read-only"), "\(output.prefix(500))")
        }
    }

    private func kill(_ process: Process) {
        // Only the process that the test started.
        Glibc.kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }

    @Test func `R7, R10: after kills of workers all operations end, and each effect exists exactly once`() async throws
    {
        let count = Stress.rounds(4_000, least: 400)
        let kills = Stress.rounds(40, least: 8)
        let seed = UInt64(Self.number("DURABLE_SEED", 1))
        var random = SeededGenerator(seed: seed)
        try await withTemporaryFile { path in
            let store = try await SQLiteStore(path: path)
            try await store.transaction {
                try $0.execute(sql: "CREATE TABLE effect(number INTEGER NOT NULL, step INTEGER NOT NULL)")
            }
            let queue = DurableQueue("q", in: store)
            var graph = DurableGraph()
            var members: [DurableGraph.Member<Void>] = []
            for number in 0..<count {
                members.append(try graph.add(Effect(number: number), to: queue))
                if number % 5 == 4 { graph.addDependency(of: members[number], on: members[number / 2]) }
            }
            _ = try await store.add(graph)
            let effects: @Sendable () async throws -> Int = {
                try await store.transaction { try Int.fetchOne($0, sql: "SELECT count(*) FROM effect") ?? 0 }
            }
            var workers = try (0..<3).map { _ in try startWorker(path) }
            for round in 1...max(1, kills) where kills > 0 {
                let target = count * round / (kills + 1) + Int.random(in: 0..<5, using: &random)
                try await poll("\(target) effects, seed \(seed)") { try await effects() >= min(target, count) }
                if round == kills / 2 {
                    for worker in workers { kill(worker) }
                    workers = try (0..<3).map { _ in try startWorker(path) }
                } else {
                    kill(workers.remove(at: Int.random(in: 0..<3, using: &random)))
                    workers.append(try startWorker(path))
                }
            }
            try await poll("all operations end, seed \(seed)") {
                try await queue.counts()[.succeeded] == count
            }
            for worker in workers { kill(worker) }
            let numbers = try await store.transaction { database in
                try Int.fetchAll(database, sql: "SELECT number FROM effect ORDER BY number")
            }
            #expect(numbers == Array(0..<count), "seed \(seed)")
            let counts = try await queue.counts()
            #expect(counts == [.succeeded: count], "seed \(seed)")
        }
    }

    @Test func `R8: a frozen worker that continues after its lease changes nothing`() async throws {
        try await withTemporaryFile { path in
            var configuration = SQLiteStore.Configuration()
            configuration.busyTimeout = .milliseconds(200)
            let store = try await SQLiteStore(path: path, configuration: configuration)
            try await store.transaction {
                try $0.execute(sql: "CREATE TABLE effect(number INTEGER NOT NULL, step INTEGER NOT NULL)")
            }
            let queue = DurableQueue("q", in: store)
            let frozen = try startWorker(path)
            let hold = try await queue.add(Hold(number: 1, file: path + ".open"))
            try await hold.reaches(.running)
            try await freeze(frozen, store)
            // On a busy machine the worker may have lost leases before, and the fence is then larger than 1.
            let fence = try #require(try await store.read { try $0.rows.operations([hold.id]).first?.fence })
            let other = try startWorker(path)
            try await poll("the other worker has the lease") {
                try await store.read { try $0.rows.operations([hold.id]).first?.fence ?? 0 } > fence
            }
            try Data().write(to: URL(fileURLWithPath: path + ".open"))
            try await hold.value
            kill(other)
            // The frozen worker continues with the old attempt, registers again, and runs a further operation.
            Glibc.kill(frozen.processIdentifier, SIGCONT)
            try await queue.add(Effect(number: 2)).value
            kill(frozen)
            let numbers = try await store.transaction { try Int.fetchAll($0, sql: "SELECT number FROM effect") }
            #expect(numbers == [1, 2])
        }
    }

    /// Stops a process at a moment at which the process holds no lock of the file.
    private func freeze(_ process: Process, _ store: SQLiteStore) async throws {
        while true {
            Glibc.kill(process.processIdentifier, SIGSTOP)
            do {
                return try await store.transaction { try $0.execute(sql: "UPDATE durable_meta SET value = value") }
            } catch is DurableError { Glibc.kill(process.processIdentifier, SIGCONT) }
        }
    }

    @Test func `R27: an operation that one process adds starts in another process`() async throws {
        try await withTemporaryFile { path in
            let store = try await SQLiteStore(path: path)
            try await store.transaction {
                try $0.execute(sql: "CREATE TABLE effect(number INTEGER NOT NULL, step INTEGER NOT NULL)")
            }
            let worker = try startWorker(path)
            let queue = DurableQueue("q", in: store)
            // The first operation proves that the worker is ready; the times of the others are the wake-ups.
            try await queue.add(Effect(number: 0)).value
            var times: [Duration] = []
            for number in 1...20 {
                let start = ContinuousClock.now
                let effect = try await queue.add(Effect(number: number))
                try await effect.value
                times.append(ContinuousClock.now - start)
            }
            kill(worker)
            print("add, wake-up, step, effect and notice across two processes:", times.sorted()[10])
            #expect(try await queue.counts() == [.succeeded: 21])
        }
    }

    @Test func `R27: two stores of one file see the changes of each other`() async throws {
        try await withTemporaryFile { path in
            let first = try await SQLiteStore(path: path)
            let second = try await SQLiteStore(path: path)
            let sum = try await DurableQueue("q", in: first).add(Sum(a: 1, b: 2))
            try await withWorker(second, [Sum.self]) {
                let value = try await sum.value
                #expect(value == 3)
            }
        }
    }
}
