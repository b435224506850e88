import DurableCore
import Foundation
import GRDB
import Testing

@testable import OperationsDurable

#if Postgres
@testable import OperationsDurablePostgres
#endif

@Suite struct UpkeepTests {
    private func size(_ path: String) throws -> Int {
        try #require(FileManager.default.attributesOfItem(atPath: path)[.size] as? Int)
    }

    @Test func `R36: compaction gives the space of removed operations back, and stores continue`() async throws {
        try await withTemporaryFile { path in
            let (store, other) = (try await SQLiteStore(path: path), try await SQLiteStore(path: path))
            let queue = DurableQueue("q", in: store)
            let long = String(repeating: "x", count: 4_000)
            try await queue.add(contentsOf: (0..<1_000).map { Note(journal: "\($0)", word: long) })
            let kept = try await queue.add(Sum(a: 1, b: 2))
            try await store.cancel(matching: DurableFilter(name: "note"))
            try await store.delete(matching: DurableFilter(name: "note"))
            try await store.compact()
            #expect(try size(path) < 1_000_000)
            // The statements that both stores have prepared work on.
            #expect(try await other.record(of: kept.id).name == "sum")
            try await DurableQueue("q", in: other).add(Sum(a: 3, b: 4))
            #expect(try await queue.counts() == [.ready: 2])
        }
    }

    @Test func `R36: a copy has one moment of the file, while tasks add graphs of operations`() async throws {
        try await withTemporaryFile { path in
            let store = try await SQLiteStore(path: path)
            let queue = DurableQueue("q", in: store)
            let adding = Task {
                var count = 0
                while !Task.isCancelled {
                    // Two operations of one commit.
                    try await queue.add(contentsOf: [Sum(a: count, b: 0), Sum(a: count, b: 1)])
                    count += 1
                }
            }
            for number in 0..<5 {
                let copy = "\(path)-copy-\(number)"
                try await store.backUp(to: copy)
                let restored = try await SQLiteStore(path: copy)
                let ready = try await restored.records(matching: DurableFilter(limit: .max))
                #expect(ready.count.isMultiple(of: 2) && ready.allSatisfy { !$0.input.isEmpty && $0.state == .ready })
                try await DurableQueue("q", in: restored).add(Sum(a: 1, b: 2))
            }
            adding.cancel()
            try await adding.value
            let names = try FileManager.default.contentsOfDirectory(
                atPath: URL(fileURLWithPath: path).deletingLastPathComponent().path)
            #expect(!names.contains { $0.hasSuffix(".partial") })
        }
    }

    @Test func `R36: a copy replaces no file, and an absent folder is an error`() async throws {
        try await withTemporaryFile { path in
            let store = try await SQLiteStore(path: path)
            let (taken, text) = ("\(path)-taken", "a text")
            try text.write(toFile: taken, atomically: true, encoding: .utf8)
            let log = "\(path)-second-wal"
            try text.write(toFile: log, atomically: true, encoding: .utf8)
            for target in [taken, path, "\(path)-second"] {
                await #expect(throws: DurableError.self) { try await store.backUp(to: target) }
            }
            #expect(try String(contentsOfFile: taken, encoding: .utf8) == text)
            await #expect(throws: DurableError.self) { try await store.backUp(to: "\(path)-absent/copy") }
            try await DurableQueue("q", in: store).add(Sum(a: 1, b: 2))
        }
    }

    @Test func `R36: a copy has the permissions of the file`() async throws {
        try await withTemporaryFile { path in
            let store = try await SQLiteStore(path: path)
            for mode in [0o600, 0o640] {
                try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
                try await store.backUp(to: "\(path)-\(mode)")
                let attributes = try FileManager.default.attributesOfItem(atPath: "\(path)-\(mode)")
                #expect(attributes[.posixPermissions] as? Int == mode)
            }
        }
    }

    @Test func `R36: a file that was moved away is neither copied nor compacted nor created`() async throws {
        try await withTemporaryFile { path in
            let store = try await SQLiteStore(path: path)
            let queue = DurableQueue("q", in: store)
            let added = try await queue.add(Sum(a: 1, b: 2))
            try FileManager.default.moveItem(atPath: path, toPath: "\(path)-away")
            await #expect(throws: DurableError.self) { try await store.backUp(to: "\(path)-copy") }
            await #expect(throws: DurableError.self) { try await store.compact() }
            #expect(
                !FileManager.default.fileExists(atPath: path) && !FileManager.default.fileExists(atPath: "\(path)-copy")
            )
            try FileManager.default.moveItem(atPath: "\(path)-away", toPath: path)
            #expect(try await store.record(of: added.id).name == "sum")
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `R36: a snapshot has the instant since which the oldest ready operation waits`(_ kind: StoreKind) async throws
    {
        try await withStore(kind) { test in
            let (store, queue) = (test.store, DurableQueue("q", in: test.store))
            try await queue.add(Sum(a: 0, b: 0), options: DurableOptions(delay: .seconds(900)))
            #expect(try await store.snapshot().queues[0].oldestReadyAt == nil)
            let oldest = try await queue.add(Sum(a: 1, b: 2), priority: .low)
            test.advance(.seconds(5))
            try await queue.add(Sum(a: 3, b: 4), priority: .high)
            try await queue.add(Note(journal: "", word: ""))
            #expect(try await store.snapshot().queues[0].oldestReadyAt == store.record(of: oldest.id).readyAt)
        }
    }

    // MARK: - A restored copy

    /// Opens a store whose clock the test moves.
    private func open(_ path: String, _ clock: TestClock) async throws -> SQLiteStore {
        var configuration = SQLiteStore.Configuration()
        configuration.clock = { clock.now }
        return try await SQLiteStore(path: path, configuration: configuration)
    }

    @Test(arguments: [false, true])
    func `R36: each operation of a restored copy runs, and no lease of a worker before it lasts longer than its time`(
        _ isInPlace: Bool
    ) async throws {
        try await withTemporaryFile { path in
            let (clock, lease, copy) = (TestClock(), Duration.seconds(30), "\(path)-copy")
            var old: SQLiteStore? = try await open(path, clock)
            var handles: [OperationID] = []
            var workers: [WorkerID] = []
            do {
                let store = try #require(old)
                let queue = DurableQueue("q", in: store)
                for number in 0..<6 { handles.append(try await queue.add(Sum(a: number, b: 0)).id) }
                for _ in 0..<2 {
                    workers.append(
                        try await store.commit { machine in
                            let id = try machine.register(
                                "w", kinds: ["sum"], queues: ["q"], lease: lease, process: "p")
                            _ = try machine.claim(for: id, slots: [("q", 2)], kinds: ["sum"])
                            return id
                        })
                }
                try await store.backUp(to: copy)
                // The workers live on, and renew their leases in the file beside the database.
                for _ in 0..<5 {
                    clock.advance(by: .seconds(10))
                    for worker in workers { _ = try await store.renewLeases(of: worker, for: lease) }
                }
            }
            if isInPlace {
                old = nil
                for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + suffix) }
                try FileManager.default.moveItem(atPath: copy, toPath: path)
            } else {
                try FileManager.default.copyItem(atPath: "\(path)-leases", toPath: "\(copy)-leases")
            }
            let store = try await open(isInPlace ? path : copy, clock)
            let queue = DurableQueue("q", in: store)
            // A worker of the copy has the number of a later worker of the original.
            let added = try await queue.add(Sum(a: 6, b: 0))
            #expect(added.id == OperationID(7))
            let early = try await store.commit { try $0.expireLeases() }
            #expect(early == [])
            clock.advance(by: lease + .microseconds(1))
            try await withWorker(store, [Sum.self]) {
                for id in handles + [added.id] { _ = try await DurableHandle<Int>(id: id, store: store).value }
            }
            #expect(try await queue.counts() == [.succeeded: 7])
        }
    }

    @Test(arguments: StoreKind.allCases.filter { $0 != .memory })
    func `R36: a store whose content a copy replaces in place gives no operation the name of another`(_ kind: StoreKind)
        async throws
    {
        func check(
            _ store: any DurableStore, _ other: any DurableStore, restore: () throws -> Void
        ) async throws {
            let queue = DurableQueue("q", in: store)
            try await queue.add(Note(journal: "", word: "a"))
            try restore()
            try await DurableQueue("q", in: other).add(Approval())
            let note = try await queue.add(Note(journal: "", word: "b"))
            for store in [store, other] {
                #expect(try await store.record(of: note.id).name == "note")
                let names = try await store.records(matching: DurableFilter()).map(\.name)
                #expect(names == ["sum", "approval", "note"])
            }
        }
        switch kind {
        case .memory: return
        case .sqlite:
            try await withTemporaryFile { path in
                let store = try await SQLiteStore(path: path)
                try await DurableQueue("q", in: store).add(Sum(a: 1, b: 2))
                try await store.backUp(to: path + ".copy")
                let other = try await SQLiteStore(path: path)
                try await check(store, other) {
                    try DatabaseQueue(path: path + ".copy").backup(to: DatabaseQueue(path: path))
                }
            }
        #if Postgres
        case .postgres:
            try await withPostgres { server, schema in
                let store = try await PostgresStore(server.url(schema: schema))
                try await DurableQueue("q", in: store).add(Sum(a: 1, b: 2))
                let connection = try server.connection(schema)
                let tables = ["kind", "operation", "counter", "meta"]
                for table in tables {
                    try connection.executeAll("CREATE TABLE copy_\(table) AS SELECT * FROM durable_\(table)")
                }
                let other = try await PostgresStore(server.url(schema: schema))
                try await check(store, other) {
                    let restores = tables.map {
                        "TRUNCATE durable_\($0); INSERT INTO durable_\($0) SELECT * FROM copy_\($0)"
                    }
                    try connection.executeAll("BEGIN; \(restores.joined(separator: "; ")); COMMIT")
                }
            }
        #endif
        }
    }

    @Test func `R36: a worker of a replaced file renews no lease of a worker of the copy`() async throws {
        try await withTemporaryFile { path in
            let (clock, lease, copy) = (TestClock(), Duration.seconds(30), "\(path)-copy")
            let old = try await open(path, clock)
            let sum = try await DurableQueue("q", in: old).add(Sum(a: 1, b: 2))
            try await old.backUp(to: copy)
            func claim(_ store: SQLiteStore) async throws -> WorkerID {
                try await store.commit { machine in
                    let id = try machine.register("w", kinds: ["sum"], queues: ["q"], lease: lease)
                    _ = try machine.claim(for: id, slots: [("q", 1)], kinds: ["sum"])
                    return id
                }
            }
            let worker = try await claim(old)
            _ = try await old.renewLeases(of: worker, for: lease)
            for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + suffix) }
            try FileManager.default.moveItem(atPath: copy, toPath: path)
            let store = try await open(path, clock)
            let other = try await claim(store)
            #expect(other == worker)
            for _ in 0..<4 {
                clock.advance(by: .seconds(10))
                await #expect(throws: DurableError.self) { _ = try await old.renewLeases(of: worker, for: lease) }
            }
            // The worker of the copy is dead, and its operation becomes ready.
            let expired = try await store.commit { try $0.expireLeases() }
            #expect(expired == [other])
            #expect(try await DurableHandle<Int>(id: sum.id, store: store).state == .ready)
        }
    }
}
