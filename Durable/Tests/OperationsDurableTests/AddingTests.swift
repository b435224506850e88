import DurableCore
import DurableTesting
import Foundation
import GRDB
import OperationsDurable
import Testing

/// Rules R1 to R6.
@Suite struct AddingTests {
    @Test(arguments: StoreKind.allCases)
    func `R1: an operation is stored when add returns, and a worker returns its output`(_ kind: StoreKind) async throws
    {
        try await withStore(kind) { test in
            let queue = DurableQueue("q", in: test.store)
            let sum = try await queue.add(Sum(a: 1, b: 2))
            #expect(try await sum.state == .ready)
            try await withWorker(test.store, [Sum.self]) {
                let value = try await sum.value
                #expect(value == 3)
            }
            #expect(try await queue.counts() == [.succeeded: 1])
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `R1: an addition that throws stores nothing`(_ kind: StoreKind) async throws {
        try await withStore(kind) { test in
            let queue = DurableQueue("q", in: test.store)
            let unknown = DurableHandle<Int>(id: OperationID(77), store: test.store)
            await #expect(throws: DurableError.unknownOperation(OperationID(77))) {
                try await queue.add(Sum(a: 1, b: 2), after: [unknown])
            }
            let counts = try await queue.counts()
            #expect(counts == [:])
        }
    }

    @Test func `R2: an addition in a transaction exists if and only if the transaction commits`() async throws {
        try await withStore(.sqlite) { test in
            let store = try test.sqlite
            let queue = DurableQueue("q", in: store)
            try await store.transaction { try $0.execute(sql: "CREATE TABLE photo(name TEXT)") }
            await #expect(throws: TestFailure.self) {
                try await store.transaction { database in
                    try database.execute(sql: "INSERT INTO photo VALUES ('a')")
                    _ = try queue.add(Sum(a: 1, b: 2), in: database)
                    throw TestFailure()
                }
            }
            let counts = try await queue.counts()
            #expect(counts == [:])
            let sum = try await store.transaction { database in
                try database.execute(sql: "INSERT INTO photo VALUES ('b')")
                return try queue.add(Sum(a: 3, b: 4), in: database)
            }
            #expect(try await queue.counts() == [.ready: 1])
            try await withWorker(store, [Sum.self]) {
                let value = try await sum.value
                #expect(value == 7)
            }
            let names = try await store.transaction { try String.fetchAll($0, sql: "SELECT name FROM photo") }
            #expect(names == ["b"])
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `R3: one transaction adds a graph in any order of members`(_ kind: StoreKind) async throws {
        try await withStore(kind) { test in
            let queue = DurableQueue("q", in: test.store)
            let journal = "R3 \(kind)"
            var graph = DurableGraph()
            let last = try graph.add(Note(journal: journal, word: "last"), to: queue)
            let first = try graph.add(Note(journal: journal, word: "first"), to: queue)
            graph.addDependency(of: last, on: first)
            let added = try await test.store.add(graph)
            #expect(try await added.handle(of: last).state == .waiting)
            try await withWorker(test.store, [Note.self]) { try await added.handle(of: last).value }
            #expect(Journal.named(journal).all == ["first", "last"])
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `R3: the store refuses a cycle and reports its path`(_ kind: StoreKind) async throws {
        try await withStore(kind) { test in
            let queue = DurableQueue("q", in: test.store)
            var graph = DurableGraph()
            let members = try (0..<3).map { try graph.add(Sum(a: $0, b: 0), to: queue) }
            for index in 0..<3 { graph.addDependency(of: members[index], on: members[(index + 1) % 3]) }
            await #expect(throws: DurableError.cycle(["sum#0", "sum#1", "sum#2", "sum#0"])) {
                try await test.store.add(graph)
            }
            let counts = try await queue.counts()
            #expect(counts == [:])
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `R1: a named priority and a named rule for retries have precedence in every addition`(_ kind: StoreKind)
        async throws
    {
        try await withStore(kind) { test in
            let queue = DurableQueue("q", in: test.store)
            let flaky = Flaky(journal: "R1 named \(kind)", failures: 1)
            let (high, rule) = (DurablePriority.high, RetryRule.constant(.zero, retries: 1))
            let options = DurableOptions(priority: .low)
            var handles = [try await queue.add(flaky, priority: high, retry: rule, options: options)]
            handles += try await queue.add(contentsOf: [flaky], priority: high, retry: rule, options: options)
            var graph = DurableGraph()
            let member = try graph.add(flaky, to: queue, priority: high, retry: rule, options: options)
            handles.append(try await test.store.add(graph).handle(of: member))
            let adder = try await queue.add(Adder(flaky: flaky))
            try await withWorker(test.store, [Flaky.self, Adder.self]) {
                handles.append(DurableHandle(id: try await adder.value, store: test.store))
                for handle in handles {
                    let attempts = try await handle.value
                    #expect(attempts == 2)
                }
            }
            let ids = handles.map(\.id)
            let rows = try await test.store.read { try $0.rows.operations(ids) }
            #expect(rows.map(\.priority) == Array(repeating: high, count: 4))
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `R4: a unique key holds while the operation is unfinished or for a period`(_ kind: StoreKind) async throws {
        try await withStore(kind) { test in
            let queue = DurableQueue("q", in: test.store)
            var options = DurableOptions()
            options.unique = "one"
            let first = try await queue.add(Sum(a: 1, b: 1), options: options)
            #expect(try await queue.add(Sum(a: 2, b: 2), options: options) == first)
            try await withWorker(test.store, [Sum.self]) { _ = try await first.value }
            options.uniquePeriod = .seconds(60)
            let second = try await queue.add(Sum(a: 3, b: 3), options: options)
            #expect(second != first)
            try await withWorker(test.store, [Sum.self]) { _ = try await second.value }
            #expect(try await queue.add(Sum(a: 4, b: 4), options: options) == second)
            test.advance(.seconds(61))
            #expect(try await queue.add(Sum(a: 5, b: 5), options: options) != second)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `R5: an operation does not start before its instant`(_ kind: StoreKind) async throws {
        try await withStore(kind) { test in
            let queue = DurableQueue("q", in: test.store)
            var options = DurableOptions()
            options.delay = .seconds(60)
            let late = try await queue.add(Sum(a: 1, b: 2), options: options)
            try await withWorker(test.store, [Sum.self]) {
                _ = try await queue.add(Sum(a: 0, b: 0)).value
                #expect(try await late.state == .scheduled)
                test.advance(.seconds(60))
                #expect(try await late.value == 3)
            }
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `R6: a large input is refused with its size and the limit`(_ kind: StoreKind) async throws {
        var limits = DurableLimits()
        limits.payloadBytes = 100
        try await withStore(kind, limits: limits) { test in
            let queue = DurableQueue("q", in: test.store)
            let word = String(repeating: "x", count: 100)
            let error = await #expect(throws: DurableError.self) {
                try await queue.add(Note(journal: "", word: word))
            }
            #expect(error?.description == "the input of 'note' has 124 bytes; the limit is 100 bytes")
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `R6: an input larger than its row is stored and read`(_ kind: StoreKind) async throws {
        try await withStore(kind) { test in
            let queue = DurableQueue("q", in: test.store)
            let journal = "R6 \(kind)"
            let word = String(repeating: "y", count: 200_000)
            let note = try await queue.add(Note(journal: journal, word: word))
            try await withWorker(test.store, [Note.self]) { try await note.value }
            #expect(Journal.named(journal).all == [word])
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `R4: a unique key holds for its period although the retention of its operation ends earlier`(_ kind: StoreKind)
        async throws
    {
        try await withStore(kind) { test in
            let (store, queue) = (test.store, DurableQueue("q", in: test.store))
            var options = DurableOptions()
            (options.unique, options.uniquePeriod) = ("k", .seconds(30 * 86_400))
            let first = try await queue.add(Sum(a: 1, b: 1), options: options)
            try await store.discard([first.id], reason: "test")
            test.advance(.seconds(8 * 86_400))
            while try await store.commit({ try $0.purge() }) > 0 {}
            let second = try await queue.add(Sum(a: 1, b: 1), options: options)
            #expect(second.id == first.id)
            test.advance(.seconds(23 * 86_400))
            while try await store.commit({ try $0.purge() }) > 0 {}
            await #expect(throws: DurableError.unknownOperation(first.id)) { try await first.state }
            let third = try await queue.add(Sum(a: 1, b: 1), options: options)
            #expect(third.id != first.id)
        }
    }
}
