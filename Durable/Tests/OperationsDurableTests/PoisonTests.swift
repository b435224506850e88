import DurableCore
import DurablePoison
import DurableTesting
import Foundation
import GRDB
import OperationsTesting
import Testing

@testable import OperationsDurable

#if Postgres
import OperationsDurablePostgres
#endif

/// Rule R32: an operation that ends its process ends as crashed, and harms no other operation.
@Suite struct PoisonTests {
    /// Processes with one worker or some, whose operations the test completes or does not.
    private struct Fleet {
        let test: TestStore
        let lease: Duration
        var workersOfProcess = 1
        var poisons: Set<OperationID> = []
        private(set) var workers: [[WorkerID]] = []
        private(set) var deaths: [Set<OperationID>] = []
        private var names = 0

        init(_ test: TestStore, lease: Duration, processes: Int, workersOfProcess: Int = 1) async throws {
            (self.test, self.lease, self.workersOfProcess) = (test, lease, workersOfProcess)
            for _ in 0..<processes { workers.append(try await start()) }
        }

        private mutating func start() async throws -> [WorkerID] {
            names += 1
            let (name, lease, count) = ("p\(names)", lease, workersOfProcess)
            return try await test.store.commit { machine in
                try (0..<count).map { _ in
                    try machine.register("w", kinds: ["sum"], queues: ["q"], lease: lease, process: name)
                }
            }
        }

        /// Each worker claims, and completes its claims. A process with a poison dies, and starts again.
        mutating func turn(slots: Int = 16, ahead: Int = 16, endsLater: Bool = false) async throws {
            for (index, family) in workers.enumerated() {
                var claims: [Claim] = []
                for worker in family {
                    claims += try await test.store.commit { [lease] machine in
                        try machine.heartbeat(worker, lease: lease)
                        try machine.expireLeases()
                        while try machine.wakeDue() {}
                        return try machine.claim(
                            for: worker, slots: [("q", slots)], kinds: ["sum"], ahead: ["q": ahead])
                    }
                }
                if claims.contains(where: { poisons.contains($0.row.id) }) {
                    deaths.append(Set(claims.map(\.row.id)))
                    workers[index] = try await start()
                } else {
                    let done = claims.compactMap(\.lease).map { Completion(lease: $0, result: .succeeded(output: [])) }
                    let accepted = try await test.store.commit { try $0.complete(done) }
                    #expect(!accepted.contains(false))
                }
            }
            test.advance(lease / 4)
        }
    }

    @Test(arguments: StoreKind.allCases, [1, 3])
    func `R32: one poison among many ends as crashed after three deaths, and all others succeed`(
        _ kind: StoreKind, _ processes: Int
    ) async throws {
        for lease in [Duration.seconds(1), .seconds(30)] {
            try await withStore(kind) { test in
                let queue = DurableQueue("q", in: test.store)
                let all = try await queue.add(contentsOf: (0..<1_000).map { Sum(a: $0, b: 0) })
                var fleet = try await Fleet(test, lease: lease, processes: processes)
                fleet.poisons = [all[500].id]
                var turns = 0
                while try await queue.counts() != [.succeeded: 999, .failed: 1] {
                    try await fleet.turn()
                    turns += 1
                    try #require(turns < 200)
                }
                #expect(fleet.deaths.count == 3)
                // Only the first death had neighbors.
                #expect(fleet.deaths.dropFirst().allSatisfy { $0 == [all[500].id] })
                #expect(try await all[500].outcome == .crashed)
                #expect(try await queue.counts() == [.succeeded: 999, .failed: 1])
                let explanation = try await test.store.explain(all[500].id).description
                #expect(explanation.contains("ended as crashed: the worker vanished in 3 attempts"))
                let outcomes = try await test.store.attempts(of: all[500].id).map(\.outcome)
                #expect(outcomes == [.lostLease, .lostLease, .lostLease])
                // The others lost at most one lease.
                let fences = try await test.store.read { machine in
                    try machine.rows.operations(all.map(\.id)).filter { $0.id != all[500].id }.map(\.fence)
                }
                #expect(fences.max() == 2)
            }
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `R32: two poisons end as crashed after three deaths each, and no innocent operation fails`(_ kind: StoreKind)
        async throws
    {
        try await withStore(kind) { test in
            let queue = DurableQueue("q", in: test.store)
            let all = try await queue.add(contentsOf: (0..<100).map { Sum(a: $0, b: 0) })
            var fleet = try await Fleet(test, lease: .seconds(1), processes: 2)
            fleet.poisons = [all[3].id, all[5].id]
            for _ in 0..<100 { try await fleet.turn() }
            #expect(try await queue.counts() == [.succeeded: 98, .failed: 2])
            #expect(fleet.deaths.count <= 6)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `R32: an operation is not to blame for another worker of its process`(_ kind: StoreKind) async throws {
        try await withStore(kind) { test in
            let queue = DurableQueue("q", in: test.store)
            let all = try await queue.add(contentsOf: (0..<20).map { Sum(a: $0, b: 0) })
            // Each worker has one slot, so that its operation has no neighbor in its worker.
            var fleet = try await Fleet(test, lease: .seconds(1), processes: 1, workersOfProcess: 4)
            fleet.poisons = [all[2].id]
            for _ in 0..<80 { try await fleet.turn(slots: 1, ahead: 0) }
            #expect(try await all[2].state == .crashed)
            #expect(try await queue.counts() == [.succeeded: 19, .failed: 1])
            #expect(fleet.deaths.count == 3)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `R32: an idle worker whose lease ends first does not protect a poison of its process`(
        _ kind: StoreKind
    ) async throws {
        try await withStore(kind) { test in
            let poison = try await DurableQueue("q", in: test.store).add(Sum(a: 1, b: 0))
            for round in 1...3 {
                let claims = try await test.store.commit { machine in
                    while try machine.wakeDue() {}
                    _ = try machine.register(
                        "idle", kinds: ["sum"], queues: ["other"], lease: .seconds(1), process: "p\(round)")
                    let busy = try machine.register(
                        "busy", kinds: ["sum"], queues: ["q"], lease: .seconds(2), process: "p\(round)")
                    return try machine.claim(for: busy, slots: [("q", 1)], kinds: ["sum"])
                }
                #expect(claims.map(\.row.id) == [poison.id])
                for _ in 0..<2 {
                    test.advance(.milliseconds(1_100))
                    _ = try await test.store.commit { try $0.expireLeases() }
                }
                test.advance(.seconds(60))
            }
            #expect(try await poison.state == .crashed)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `R32: a worker claims nothing while another of its process waits to run a suspect alone`(
        _ kind: StoreKind
    ) async throws {
        try await withStore(kind) { test in
            let suspect = try await DurableQueue("q", in: test.store).add(Sum(a: 1, b: 0))
            let others = try await DurableQueue("other", in: test.store).add(
                contentsOf: (0..<2).map { Sum(a: $0, b: 0) })
            try await test.store.commit { machine in
                let dead = try machine.register(
                    "dead", kinds: ["sum"], queues: ["q"], lease: .seconds(1), process: "dead")
                _ = try machine.claim(for: dead, slots: [("q", 1)], kinds: ["sum"])
            }
            test.advance(.seconds(2))
            let (first, second) = try await test.store.commit { machine in
                try machine.expireLeases()
                let workers = try ["q", "other"].map {
                    try machine.register($0, kinds: ["sum"], queues: [$0], lease: .seconds(60), process: "p")
                }
                return (workers[0], workers[1])
            }
            func claim(_ worker: WorkerID, _ queue: String) async throws -> [Claim] {
                try await test.store.commit {
                    try $0.claim(for: worker, slots: [(queue, 1)], kinds: ["sum"])
                }
            }
            let busy = try await claim(second, "other")
            #expect(busy.map(\.row.id) == [others[0].id])
            #expect(try await claim(first, "q").isEmpty)
            let done = busy.compactMap(\.lease).map { Completion(lease: $0, result: .succeeded(output: [])) }
            _ = try await test.store.commit { try $0.complete(done) }
            #expect(try await claim(second, "other").isEmpty)
            #expect(try await claim(first, "q").map(\.row.id) == [suspect.id])
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `R32: a worker without a limit claims beside a suspect that waits for its backoff`(
        _ kind: StoreKind
    ) async throws {
        try await withStore(kind) { test in
            let queue = DurableQueue("q", in: test.store)
            _ = try await queue.add(Sum(a: 1, b: 0))
            for _ in 0..<2 {
                try await test.store.commit { machine in
                    let dead = try machine.register(
                        "dead", kinds: ["sum"], queues: ["q"], lease: .milliseconds(100), process: "dead")
                    _ = try machine.claim(for: dead, slots: [("q", 1)], kinds: ["sum"])
                }
                test.advance(.milliseconds(200))
                _ = try await test.store.commit { try $0.expireLeases() }
            }
            let other = try await queue.add(Sum(a: 2, b: 0))
            let claims = try await test.store.commit { machine in
                let worker = try machine.register(
                    "w", kinds: ["sum"], queues: ["q"], lease: .seconds(60), process: "p")
                return try machine.claim(for: worker, slots: [("q", .max)], kinds: ["sum"])
            }
            #expect(claims.map(\.row.id) == [other.id])
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `R32: leases of one process that expire one after the other blame no operation`(_ kind: StoreKind) async throws
    {
        try await withStore(kind) { test in
            let all = try await DurableQueue("q", in: test.store).add(contentsOf: (0..<2).map { Sum(a: $0, b: 0) })
            for round in 1...4 {
                let leases = try await test.store.commit { machine in
                    while try machine.wakeDue() {}
                    return try [Duration.seconds(1), .seconds(2)].flatMap { lease in
                        let worker = try machine.register(
                            "w", kinds: ["sum"], queues: ["q"], lease: lease, process: "p\(round)")
                        return try machine.claim(for: worker, slots: [("q", 1)], kinds: ["sum"]).compactMap(\.lease)
                    }
                }
                // From the second round on, one of the two runs alone.
                #expect(leases.count == (round == 1 ? 2 : 1))
                if round == 1 {
                    for _ in 0..<3 {
                        test.advance(.milliseconds(1_100))
                        try await test.store.commit { _ = try $0.expireLeases() }
                    }
                    let crashes = try await test.store.read { try $0.rows.operations(all.map(\.id)).map(\.crashes) }
                    #expect(crashes == [1, 1])
                } else {
                    let ends = leases.map { Completion(lease: $0, result: .succeeded(output: [])) }
                    _ = try await test.store.commit { try $0.complete(ends) }
                    if try await all[1].state == .succeeded { return }
                }
            }
            Issue.record("the operations did not end")
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `R32: suspects run one at a time, a worker becomes free for them, and another worker continues`(
        _ kind: StoreKind
    ) async throws {
        try await withStore(kind) { test in
            let queue = DurableQueue("q", in: test.store)
            let suspects = try await queue.add(contentsOf: (0..<4).map { Sum(a: $0, b: 0) })
            _ = try await Fleet(test, lease: .seconds(1), processes: 0)
            func register(_ process: String, lease: Duration = .seconds(60)) async throws -> WorkerID {
                try await test.store.commit {
                    try $0.register("w", kinds: ["sum"], queues: ["q"], lease: lease, process: process)
                }
            }
            func claim(_ worker: WorkerID) async throws -> [Claim] {
                try await test.store.commit { try $0.claim(for: worker, slots: [("q", 4)], kinds: ["sum"]) }
            }
            func end(_ claims: [Claim]) async throws {
                let ends = claims.compactMap(\.lease).map { Completion(lease: $0, result: .succeeded(output: [])) }
                _ = try await test.store.commit { try $0.complete(ends) }
            }
            let dead = try await register("dead", lease: .seconds(1))
            #expect(try await claim(dead).count == 4)
            let (first, second) = (try await register("a"), try await register("b"))
            let others = try await queue.add(contentsOf: (0..<9).map { Sum(a: $0, b: 1) })
            let busy = [try await claim(first), try await claim(second)]
            #expect(busy.map(\.count) == [4, 4])
            test.advance(.seconds(2))
            try await test.store.commit { _ = try $0.expireLeases() }
            let reasons = try await test.store.explain(suspects[0].id).reasons
            #expect(reasons.contains(.runsAlone(crashes: 1)))
            // The first worker claims nothing until it is free. The second one continues beside it.
            try await end([busy[0][0]])
            #expect(try await claim(first).isEmpty)
            #expect(try await claim(second).map(\.row.id) == [others[8].id])
            try await end(Array(busy[0].dropFirst()))
            for suspect in suspects {
                let alone = try await claim(first)
                #expect(alone.map(\.row.id) == [suspect.id])
                #expect(try await claim(first).isEmpty)
                try await end(alone)
            }
            #expect(try await test.store.read { try $0.rows.operations(.suspects) }.isEmpty)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `R32: a crashed operation is retried by hand, waits between deaths, and fails its dependents`(
        _ kind: StoreKind
    )
        async throws
    {
        var limits = DurableLimits()
        limits.maxCrashes = 4
        try await withStore(kind, limits: limits) { test in
            let queue = DurableQueue("q", in: test.store)
            let poison = try await queue.add(Sum(a: 1, b: 2))
            let dependent = try await queue.add(
                Sum(a: 3, b: 4), after: [poison],
                options: {
                    var options = DurableOptions()
                    options.dependencyFailurePolicy = .fail
                    return options
                }())
            // The times between a death and the next start.
            for delay in [0, 1, 2] {
                let claimed = try await crash(test, poison.id)
                #expect(claimed)
                if delay == 0 { continue }
                test.advance(.milliseconds(delay * 1_000 - 1))
                #expect(try await crash(test, poison.id) == false)
                #expect(try await poison.state == .scheduled)
                test.advance(.milliseconds(1))
            }
            #expect(try await crash(test, poison.id))
            #expect(try await poison.state == .crashed)
            #expect(try await dependent.state == .failed)
            try await test.store.retry([poison.id])
            try await withWorker(test.store, [Sum.self]) {
                let value = try await poison.value
                #expect(value == 3)
            }
        }
    }

    /// A process that runs one operation dies. Returns whether it started the operation.
    private func crash(_ test: TestStore, _ id: OperationID) async throws -> Bool {
        let claims = try await test.store.commit { machine in
            while try machine.wakeDue() {}
            let name = "\(machine.now.microseconds)"
            let worker = try machine.register(
                "w", kinds: ["sum"], queues: ["q"], lease: .microseconds(1), process: name)
            return try machine.claim(for: worker, slots: [("q", 1)], kinds: ["sum"])
        }
        if claims.isEmpty { return false }
        test.advance(.microseconds(2))
        try await test.store.commit { _ = try $0.expireLeases() }
        return true
    }

    @Test(arguments: StoreKind.allCases)
    func `R32: a lease that expires although its process lives blames no operation`(_ kind: StoreKind) async throws {
        try await withStore(kind) { test in
            let queue = DurableQueue("q", in: test.store)
            let slow = try await queue.add(Sum(a: 1, b: 2))
            var last: WorkerID?
            for _ in 0..<5 {
                let (worker, claims) = try await test.store.commit { [last] machine in
                    while try machine.wakeDue() {}
                    let worker = try machine.register(
                        "w", kinds: ["sum"], queues: ["q"], lease: .seconds(1), process: "p", survived: last)
                    return (worker, try machine.claim(for: worker, slots: [("q", 4)], kinds: ["sum"]))
                }
                #expect(claims.map(\.row.id) == [slow.id])
                last = worker
                test.advance(.seconds(2))
                try await test.store.commit { _ = try $0.expireLeases() }
            }
            #expect(try await slow.state == .ready)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `R32: the other workers of a process that lives are its witnesses again, and the poison of one is found`(
        _ kind: StoreKind
    ) async throws {
        try await withStore(kind) { test in
            let queue = DurableQueue("q", in: test.store)
            @Sendable func register(_ machine: inout DurableMachine, _ lease: Duration, _ survived: WorkerID? = nil)
                throws -> WorkerID
            {
                try machine.register("w", kinds: ["sum"], queues: ["q"], lease: lease, process: "p", survived: survived)
            }
            @Sendable func claim(_ machine: inout DurableMachine, _ worker: WorkerID) throws -> [OperationID] {
                while try machine.wakeDue() {}
                return try machine.claim(for: worker, slots: [("q", 1)], kinds: ["sum"]).map(\.row.id)
            }
            let slow = try await queue.add(Sum(a: 1, b: 2))
            let (first, second) = try await test.store.commit { machine in
                let workers = (try register(&machine, .seconds(1)), try register(&machine, .seconds(100)))
                _ = try claim(&machine, workers.0)
                return workers
            }
            test.advance(.seconds(2))
            try await test.store.commit { machine in
                try machine.expireLeases()
                #expect(try machine.rows.worker(second)?.certainProcess == nil)
                try machine.leave(register(&machine, .seconds(1), first))
                #expect(try machine.rows.worker(second)?.certainProcess == "p")
            }
            try await slow.cancel()
            // The poison ends the process three times, alone in its second worker.
            let poison = try await queue.add(Sum(a: 3, b: 4))
            var worker = second
            for _ in 0..<3 {
                test.advance(.seconds(50))
                let claimed = try await test.store.commit { [worker] in try claim(&$0, worker) }
                #expect(claimed == [poison.id])
                test.advance(.seconds(200))
                worker = try await test.store.commit { machine in
                    try machine.expireLeases()
                    return try register(&machine, .seconds(100))
                }
            }
            #expect(try await poison.state == .crashed)
        }
    }

    // MARK: - Processes

    private static let causes = ["kill", "trap", "memory"]

    @Test(arguments: causes, [1, 3])
    func `R32: a poison that ends its process by a signal, a trap or its memory crashes on SQLite`(
        _ cause: String, _ count: Int
    ) async throws {
        try await withTemporaryFile { path in
            let store = try await SQLiteStore(path: path)
            try await store.transaction {
                try $0.execute(sql: "CREATE TABLE effect(number INTEGER NOT NULL, step INTEGER NOT NULL)")
            }
            try await run(cause, in: store, processes: count, "DurableCrashWorker", [path, "4", "2000", "3"])
        }
    }

    #if Postgres
    @Test(.enabled(if: PostgresServer.isInstalled), arguments: causes, [1, 3])
    func `R32: a poison that ends its process by a signal, a trap or its memory crashes on PostgreSQL`(
        _ cause: String, _ count: Int
    ) async throws {
        try await withPostgres { server, schema in
            let url = server.url(schema: schema)
            let store = try await PostgresStore(url)
            _ = try await store.transaction {
                try $0.execute("CREATE TABLE effect(number bigint NOT NULL, step bigint NOT NULL)")
            }
            try await run(cause, in: store, processes: count, "DurablePostgresWorker", [url, "4", "0", "2000", "3"])
        }
    }
    #endif

    /// Runs a poison among other operations in worker processes, each of which starts again after its death.
    private func run(
        _ cause: String, in store: any DurableStore, processes count: Int, _ program: String, _ arguments: [String]
    ) async throws {
        let queue = DurableQueue("q", in: store)
        var graph = DurableGraph()
        var poison: DurableGraph.Member<Void>?
        let innocents = Stress.rounds(1_000, least: 40)
        for number in 0..<innocents {
            try graph.add(CrashTests.Effect(number: number), to: queue)
            if number == innocents / 2 { poison = try graph.add(Poison(cause: cause), to: queue) }
        }
        let handle = try await store.add(graph).handle(of: #require(poison))
        func start() throws -> (Process, Pipe) {
            let (process, input) = (Process(), Pipe())
            let directory = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
            process.executableURL = directory.appendingPathComponent(program)
            process.arguments = arguments
            process.environment = ProcessInfo.processInfo.environment.merging(["SWIFT_BACKTRACE": "enable=no"]) { $1 }
            (process.standardOutput, process.standardError) = (FileHandle.nullDevice, FileHandle.nullDevice)
            process.standardInput = input
            _ = fcntl(input.fileHandleForWriting.fileDescriptor, F_SETFD, FD_CLOEXEC)
            try process.run()
            return (process, input)
        }
        var workers = try (0..<count).map { _ in try start() }
        var deaths: [Int32] = []
        try await poll("the poison crashes") {
            for (index, worker) in workers.enumerated() where !worker.0.isRunning {
                deaths.append(worker.0.terminationStatus)
                workers[index] = try start()
            }
            let counts = (try? await queue.counts()) ?? [:]
            return counts == [.succeeded: innocents, .failed: 1]
        }
        for (process, _) in workers {
            Glibc.kill(process.processIdentifier, SIGKILL)
            process.waitUntilExit()
        }
        let outcome = try await handle.outcome
        #expect(outcome == .crashed)
        // On a busy machine, a lease may expire before its process dies.
        #expect((2...3).contains(deaths.count), "\(deaths)")
    }
}
