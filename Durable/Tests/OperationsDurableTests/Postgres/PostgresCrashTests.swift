#if Postgres
import DurableCore
import Foundation
import OperationsTesting
import Testing

@testable import OperationsDurable
@testable import OperationsDurablePostgres

/// The faults of processes that share a database of PostgreSQL. The variables of `CrashTests` make the tests larger.
@Suite(.enabled(if: PostgresServer.isInstalled)) struct PostgresCrashTests {
    private static func number(_ name: String, _ standard: Int) -> Int {
        Int(ProcessInfo.processInfo.environment[name] ?? "") ?? standard
    }

    /// Starts a worker in a process of its own.
    private func startWorker(_ url: String, clock seconds: Int = 0) throws -> Process {
        let process = Process()
        let directory = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
        process.executableURL = directory.appendingPathComponent("DurablePostgresWorker")
        process.arguments = [url, "4", "\(seconds)", "600"]
        (process.standardOutput, process.standardError) = (FileHandle.nullDevice, FileHandle.nullDevice)
        let pipe = Pipe()
        process.standardInput = pipe
        // Only the test holds the pipe open. The worker ends at the end of its input.
        _ = fcntl(pipe.fileHandleForWriting.fileDescriptor, F_SETFD, FD_CLOEXEC)
        try process.run()
        return process
    }

    private func kill(_ process: Process) {
        // Only the process that the test started.
        Glibc.kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }

    private func withStore(
        _ server: PostgresServer? = nil, _ body: (PostgresServer, String, PostgresStore) async throws -> Void
    ) async throws {
        let server = try server ?? PostgresServer.shared.get()
        try await server.withSchema { schema in
            let url = server.url(schema: schema)
            let store = try await PostgresStore(url)
            _ = try await store.transaction {
                try $0.execute("CREATE TABLE effect(number bigint NOT NULL, step bigint NOT NULL)")
            }
            try await body(server, url, store)
        }
    }

    private func effects(_ store: PostgresStore) async throws -> [Int64] {
        try await whenAvailable {
            try await store.transaction { try $0.execute("SELECT number FROM effect ORDER BY number") }
                .compactMap { $0.int("number") }
        }
    }

    private func counts(_ queue: DurableQueue) async throws -> [DurableState: Int] {
        try await whenAvailable { try await queue.counts() }
    }

    /// Repeats the read while the server is away. On a busy machine the server also ends sessions that exceed a time limit.
    private func whenAvailable<Reply>(_ read: () async throws -> Reply) async throws -> Reply {
        while true {
            do { return try await read() } catch DurableError.unavailable {
                try await Task.sleep(for: .milliseconds(10))
            }
        }
    }

    /// Adds effects, every fifth of them with a dependency.
    private func addEffects(_ count: Int, _ store: PostgresStore) async throws {
        let queue = DurableQueue("q", in: store)
        var graph = DurableGraph()
        var members: [DurableGraph.Member<Void>] = []
        for number in 0..<count {
            members.append(try graph.add(CrashTests.Effect(number: number), to: queue))
            if number % 5 == 4 { graph.addDependency(of: members[number], on: members[number / 2]) }
        }
        _ = try await store.add(graph)
    }

    @Test func `R7, R10: after kills of workers on PostgreSQL all operations end, and each effect exists exactly once`()
        async throws
    {
        let count = Stress.rounds(4_000, least: 400)
        let kills = Stress.rounds(40, least: 8)
        let seed = UInt64(Self.number("DURABLE_SEED", 1))
        var random = SeededGenerator(seed: seed)
        try await withStore { _, url, store in
            try await addEffects(count, store)
            var workers = try (0..<3).map { _ in try startWorker(url) }
            for round in 1...max(1, kills) where kills > 0 {
                let target = count * round / (kills + 1) + Int.random(in: 0..<5, using: &random)
                try await poll("\(target) effects, seed \(seed)") {
                    try await effects(store).count >= min(target, count)
                }
                if round == kills / 2 {
                    for worker in workers { kill(worker) }
                    workers = try (0..<3).map { _ in try startWorker(url) }
                } else {
                    kill(workers.remove(at: Int.random(in: 0..<3, using: &random)))
                    workers.append(try startWorker(url))
                }
            }
            let queue = DurableQueue("q", in: store)
            try await poll("all operations end, seed \(seed)") { try await counts(queue)[.succeeded] == count }
            for worker in workers { kill(worker) }
            #expect(try await effects(store) == (0..<Int64(count)).map { $0 }, "seed \(seed)")
            #expect(try await counts(queue) == [.succeeded: count], "seed \(seed)")
        }
    }

    @Test func `R28, R10: after crashes of the server all operations of two workers end, with each effect once`()
        async throws
    {
        let count = Stress.rounds(4_000, least: 400)
        let crashes = Stress.rounds(10, least: 3)
        try await withStore(PostgresServer()) { server, url, store in
            try await addEffects(count, store)
            let workers = try (0..<2).map { _ in try startWorker(url) }
            for round in 1...max(1, crashes) where crashes > 0 {
                let target = count * round / (crashes + 1)
                try await poll("\(target) effects") { try await effects(store).count >= target }
                try server.stop()
                try server.start()
            }
            let queue = DurableQueue("q", in: store)
            try await poll("all operations end") { try await counts(queue)[.succeeded] == count }
            for worker in workers { kill(worker) }
            #expect(try await effects(store) == (0..<Int64(count)).map { $0 })
            #expect(try await counts(queue) == [.succeeded: count])
        }
    }

    @Test func `R8: a frozen worker on PostgreSQL that continues after its lease changes nothing`() async throws {
        try await withStore { _, url, store in
            let queue = DurableQueue("q", in: store)
            let gate = FileManager.default.temporaryDirectory.appendingPathComponent("durable-\(UUID().uuidString)")
            defer { try? FileManager.default.removeItem(at: gate) }
            let frozen = try startWorker(url)
            let hold = try await queue.add(CrashTests.Hold(number: 1, file: gate.path))
            try await hold.reaches(.running)
            // The process may hold the lock of writers. The server ends such a transaction.
            Glibc.kill(frozen.processIdentifier, SIGSTOP)
            // On a busy machine the worker may have lost leases before, and the fence is then larger than 1.
            let fence = try await fence(of: hold.id, store)
            let other = try startWorker(url)
            try await poll("the other worker has the lease") { try await self.fence(of: hold.id, store) > fence }
            try Data().write(to: gate)
            try await hold.value
            kill(other)
            // The frozen worker continues with the old attempt, registers again, and runs a further operation.
            Glibc.kill(frozen.processIdentifier, SIGCONT)
            try await queue.add(CrashTests.Effect(number: 2)).value
            kill(frozen)
            #expect(try await effects(store) == [1, 2])
        }
    }

    /// Returns the number of leases of an operation.
    private func fence(of id: OperationID, _ store: PostgresStore) async throws -> Int64 {
        try #require(try await store.read { try $0.rows.operations([id]).first?.fence })
    }

    @Test func `an operation that one process adds starts in another process on PostgreSQL`() async throws {
        try await withStore { _, url, store in
            let worker = try startWorker(url)
            let queue = DurableQueue("q", in: store)
            // The first operation proves that the worker is ready; the times of the others are the wake-ups.
            try await queue.add(CrashTests.Effect(number: 0)).value
            var times: [Duration] = []
            for number in 1...20 {
                let start = ContinuousClock.now
                try await queue.add(CrashTests.Effect(number: number)).value
                times.append(ContinuousClock.now - start)
            }
            kill(worker)
            print("add, wake-up, step, effect and notice across two processes on PostgreSQL:", times.sorted()[10])
            #expect(try await counts(queue) == [.succeeded: 21])
        }
    }

    /// Returns the time of the process's clock.
    struct Clock: DurableOperation {
        static let name = "clock"
        func run(_ context: DurableContext) async throws -> Double { 0 }
    }

    @Test(arguments: [-3, 3])
    func `R9: a worker whose clock is wrong by hours behaves as every worker`(_ hours: Int) async throws {
        try await withStore { _, url, store in
            let queue = DurableQueue("q", in: store)
            let worker = try startWorker(url, clock: hours * 3_600)
            // The clock of the process is really wrong.
            let difference = try await queue.add(Clock()).value - Date().timeIntervalSince1970
            #expect((difference / 3_600).rounded() == Double(hours))
            var soon = DurableOptions()
            soon.delay = .milliseconds(200)
            let start = try await store.snapshot().instant
            let effect = try await queue.add(CrashTests.Effect(number: 1), options: soon)
            var later = DurableOptions()
            later.delay = .seconds(3_600)
            let scheduled = try await queue.add(CrashTests.Effect(number: 2), options: later)
            try await effect.value
            let row = try await store.read { try $0.rows.operations([effect.id]).first }
            let started = try #require(row?.startedAt)
            #expect(started - start >= .milliseconds(200) && started - start < .seconds(60))
            #expect(try await scheduled.state == .scheduled)
            let end = try #require(try await store.snapshot().workers.first?.leaseEnd)
            let now = try await store.snapshot().instant
            #expect(end - now < .seconds(1))
            kill(worker)
        }
    }
}
#endif
