#if Postgres
import DurableCore
import Foundation
import OperationsTesting
import Testing

@testable import OperationsDurable
@testable import OperationsDurablePostgres

/// The faults of connections and of the server. `DURABLE_SEED` repeats random choices.
@Suite(.enabled(if: PostgresServer.isInstalled)) struct PostgresFaultTests {
    @Test(arguments: 1...4)
    func `R28: lost replies and lost connections of PostgreSQL lose no operation and repeat no step`(_ seed: UInt64)
        async throws
    {
        try await withPostgres { server, schema in
            let random = Locked(SeededGenerator(seed: seed))
            let isFaulty = Locked(false)
            var configuration = PostgresStore.Configuration()
            configuration.fault = {
                guard isFaulty.withLock({ $0 }) else { return nil }
                switch random.withLock({ Int.random(in: 0..<6, using: &$0) }) {
                case 0: return .lostReply
                case 1: return .lostConnection
                default: return nil
                }
            }
            let store = try await PostgresStore(server.url(schema: schema), configuration: configuration)
            let queue = DurableQueue("q", in: store)
            let name = "postgres faults \(seed)"
            var handles: [DurableHandle<Int>] = []
            for number in 0..<60 {
                let after: [any DurableReference] = number % 3 == 2 ? [handles[number / 2]] : []
                handles.append(try await queue.add(FaultTests.Faulty(journal: name, number: number), after: after))
            }
            isFaulty.withLock { $0 = true }
            try await withWorker(store, [FaultTests.Faulty.self]) {
                for (number, handle) in handles.enumerated() {
                    let value = try await handle.value
                    #expect(value == number * 2, "seed \(seed)")
                }
                isFaulty.withLock { $0 = false }
            }
            let counts = try await queue.counts()
            #expect(counts == [.succeeded: 60], "seed \(seed)")
            for number in 0..<60 { #expect(Journal.named(name).count("step \(number)") == 1, "seed \(seed)") }
        }
    }

    @Test func `a reply that is lost after COMMIT is reported as unavailable, and the change is durable`() async throws
    {
        try await withPostgres { server, schema in
            let fault = Locked<PostgresStore.Configuration.Fault?>(nil)
            var configuration = PostgresStore.Configuration()
            configuration.fault = { fault.withLock { $0.take() } }
            let store = try await PostgresStore(server.url(schema: schema), configuration: configuration)
            let queue = DurableQueue("q", in: store)
            fault.withLock { $0 = .lostReply }
            await #expect(throws: DurableError.unavailable("an injected fault")) {
                try await queue.add(Sum(a: 1, b: 2))
            }
            #expect(try await queue.counts() == [.ready: 1])
            try await queue.add(Sum(a: 1, b: 2))
            // The store repeats a transaction that the server has certainly rolled back.
            fault.withLock { $0 = .lostConnection }
            try await queue.add(Sum(a: 1, b: 2))
            #expect(try await queue.counts() == [.ready: 3])
        }
    }

    @Test func `R28: a store and its worker continue after their connections are cut`() async throws {
        try await withPostgres { server, schema in
            var configuration = PostgresStore.Configuration()
            configuration.pollInterval = .seconds(3_600)
            let store = try await PostgresStore(server.url(schema: schema), configuration: configuration)
            let other = try await PostgresStore(server.url(schema: schema), configuration: configuration)
            let queue = DurableQueue("q", in: other)
            var worker = DurableWorker.Configuration()
            worker.idleInterval = .seconds(3_600)
            try await withWorker(store, [Sum.self], configuration: worker) {
                for round in 0..<4 {
                    // The notice of the addition arrives through a subscription that is made again.
                    let handle = try await withRepetition { try await queue.add(Sum(a: round, b: 1)) }
                    let value = try await withRepetition { try await handle.value }
                    #expect(value == round + 1)
                    try server.cutConnections(of: schema)
                }
            }
        }
    }

    @Test(arguments: [false, true])
    func `R28: a crash of the server loses no addition that returned, and the worker finishes all operations`(
        _ isEarly: Bool
    ) async throws {
        let server = try PostgresServer()
        try await server.withSchema { schema in
            var configuration = PostgresStore.Configuration()
            configuration.releasesEarly = isEarly
            let store = try await PostgresStore(server.url(schema: schema), configuration: configuration)
            let queue = DurableQueue("q", in: store)
            let ledger = Ledger()
            let running = try DurableWorker(store, queues: ["q": .limit(4)], operations: [Sum.self])
            let worker = Task { try await running.run() }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<8 {
                    group.addTask {
                        while !ledger.isDone.withLock({ $0 }) {
                            do {
                                let handle = try await queue.add(Sum(a: 1, b: 2))
                                ledger.added.withLock { $0.append(handle.id) }
                            } catch DurableError.unavailable { try await Task.sleep(for: .milliseconds(5)) }
                        }
                    }
                }
                for _ in 0..<3 {
                    let before = ledger.added.withLock { $0.count }
                    try await poll("additions") { ledger.added.withLock { $0.count } > before + 100 }
                    try server.stop()
                    try server.start()
                }
                let before = ledger.added.withLock { $0.count }
                try await poll("additions after the last start") { ledger.added.withLock { $0.count } > before + 20 }
                ledger.isDone.withLock { $0 = true }
                try await group.waitForAll()
            }
            let ids = ledger.added.withLock { $0 }.sorted()
            #expect(Set(ids).count == ids.count)
            let found = try await store.read { try $0.rows.operations(ids).count }
            #expect(found == ids.count)
            try await poll("all operations end") {
                let counts = try await queue.counts()
                return counts[.succeeded] ?? 0 >= ids.count && counts.count == 1
            }
            worker.cancel()
            try await worker.value
        }
    }

    /// The additions that returned.
    private final class Ledger: Sendable {
        let added = Locked<[OperationID]>([])
        let isDone = Locked(false)
    }

    @Test func `R28: an operation that runs while the server is away ends after the server's return`() async throws {
        let server = try PostgresServer()
        try await server.withSchema { schema in
            let store = try await PostgresStore(server.url(schema: schema))
            let handle = try await DurableQueue("q", in: store).add(Gated(journal: "away"))
            var configuration = DurableWorker.Configuration()
            // The lease outlasts the absence of the server, also on a slow machine.
            configuration.lease = .seconds(3_600)
            try await withWorker(store, [Gated.self], configuration: configuration) {
                try await poll("the operation runs") { Journal.named("away").count("start") == 1 }
                try server.stop()
                await #expect(throws: DurableError.self) { try await handle.state }
                await #expect(throws: DurableError.self) { try await store.cancel([handle.id]) }
                Journal.named("away open").append("open")
                try await poll("the operation asked for its step") { Journal.named("away").count("step") == 1 }
                try server.start()
                let value = try await withRepetition { try await handle.value }
                #expect(value == 1)
            }
            #expect(Journal.named("away").all == ["start", "step"])
        }
    }

    /// Waits for a word in a journal, and then records a step.
    struct Gated: DurableOperation {
        static let name = "gated"
        var journal: String

        func run(_ context: DurableContext) async throws -> Int {
            Journal.named(journal).append("start")
            // A slow machine may take longer than a poll.
            while Journal.named("\(journal) open").count("open") == 0 { try await Task.sleep(for: .milliseconds(1)) }
            return try await context.step("step") {
                Journal.named(journal).append("step")
                return 1
            }
        }
    }

    /// Calls the body until the store is available.
    private func withRepetition<Value>(_ body: () async throws -> Value) async throws -> Value {
        while true {
            do { return try await body() } catch DurableError.unavailable {
                try await Task.sleep(for: .milliseconds(5))
            }
        }
    }
}
#endif
