import DurableCore
import DurableTesting
import Foundation
import GRDB
import Testing

@testable import OperationsDurable

#if Postgres
@testable import OperationsDurablePostgres
#endif

/// Rule R36: the check of a store.
@Suite struct CheckTests {
    @Test(arguments: StoreKind.allCases)
    func `R36: a store with operations in many states is sound`(_ kind: StoreKind) async throws {
        try await withStore(kind) { test in
            let (store, queue) = (test.store, DurableQueue("q", in: test.store))
            try await queue.setLimitPerKey(1)
            let sums = try await queue.add(
                contentsOf: (0..<30).map { Sum(a: $0, b: 0) }, options: DurableOptions(limitKey: "k"))
            try await queue.add(Sum(a: 1, b: 1), after: [sums[3], sums[4]])
            try await queue.add(Sum(a: 1, b: 1), options: DurableOptions(delay: .seconds(9), isBarrier: true))
            try await store.cancel([sums[5].id])
            try await store.commit { machine in
                let worker = try machine.register("w", kinds: ["sum"], queues: ["q"], lease: .seconds(30))
                _ = try machine.claim(for: worker, slots: [("q", 3)], kinds: ["sum"])
            }
            test.advance(.seconds(60))
            #expect(try await store.check() == [])
            #expect(try await store.check(limit: 0) == [])
        }
    }

    private static let damages = [
        (
            "UPDATE durable_counter SET count = count + 1 WHERE state = 3",
            "counts 3 operations in state ready, and has 2"
        ),
        ("UPDATE durable_operation SET pending = 5 WHERE state = 0", "counts 5 dependencies, and has 1"),
        ("UPDATE durable_operation SET state = 4, worker = 99 WHERE id = 1", "has no worker"),
        ("DELETE FROM durable_operation WHERE id = 1", "waits for operation 1, which has ended or is absent"),
        ("UPDATE durable_key SET ready = 7", "differ from a recount"),
        ("UPDATE durable_operation SET children = 2 WHERE id = 2", "counts 2 children, and has 0"),
        ("UPDATE durable_queue SET current_epoch = 8", "passed an unfinished epoch"),
    ]

    private func fill(_ store: any DurableStore) async throws {
        let queue = DurableQueue("q", in: store)
        let first = try await queue.add(Sum(a: 1, b: 1))
        try await queue.add(Sum(a: 2, b: 1), options: DurableOptions(limitKey: "k"))
        try await queue.add(Sum(a: 3, b: 1), after: [first])
        #expect(try await store.check() == [])
    }

    @Test(arguments: damages)
    func `R36: the check finds rows that do not agree`(_ sql: String, _ text: String) async throws {
        try await withStore(.sqlite) { test in
            let store = try test.sqlite
            try await fill(store)
            try await store.transaction { try $0.execute(sql: sql) }
            let problems = try await store.check()
            #expect(problems.contains { $0.contains(text) }, "\(problems)")
            #expect(try await store.checkFile() == [])
        }
    }

    #if Postgres
    @Test(.enabled(if: PostgresServer.isInstalled), arguments: damages)
    func `R36: the check finds rows of PostgreSQL that do not agree`(_ sql: String, _ text: String) async throws {
        try await withStore(.postgres) { test in
            let store = try #require(test.store as? PostgresStore)
            try await fill(store)
            try await store.transaction { _ = try $0.execute(sql) }
            let problems = try await store.check()
            #expect(problems.contains { $0.contains(text) }, "\(problems)")
        }
    }
    #endif

    @Test func `R36: the check of a file finds damaged pages, and changes nothing`() async throws {
        try await withTemporaryFile { path in
            do {
                let store = try await SQLiteStore(path: path)
                let long = String(repeating: "x", count: 2_000)
                try await DurableQueue("q", in: store).add(
                    contentsOf: (0..<200).map { Note(journal: "\($0)", word: long) })
                try await store.compact()
                #expect(try await store.checkFile() == [])
            }
            let handle = try #require(FileHandle(forUpdatingAtPath: path))
            let size = try handle.seekToEnd()
            // A page in the middle is one of the inputs.
            try handle.seek(toOffset: size / 8_192 * 4_096)
            try handle.write(contentsOf: Data(repeating: 0xA5, count: 4_096))
            try handle.close()
            let before = try Data(contentsOf: URL(fileURLWithPath: path))
            var configuration = SQLiteStore.Configuration()
            configuration.createsSchema = false
            let store = try await SQLiteStore(path: path, configuration: configuration)
            #expect(try await !store.checkFile().isEmpty)
            #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == before)
        }
    }
}
