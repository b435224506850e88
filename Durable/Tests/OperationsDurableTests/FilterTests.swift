import DurableCore
import DurableTesting
import OperationsDurable
import Testing

/// Rules R25 and R36: the choice of operations, and the parts of a store that a command shows.
@Suite struct FilterTests {
    @Test(arguments: StoreKind.allCases)
    func `R36: a filter chooses by age, which begins at the end, the start or the addition`(_ kind: StoreKind)
        async throws
    {
        try await withStore(kind) { test in
            let (store, queue) = (test.store, DurableQueue("q", in: test.store))
            let old = try await queue.add(contentsOf: [Sum(a: 1, b: 0), Sum(a: 2, b: 0), Sum(a: 3, b: 0)])
            test.advance(.seconds(100))
            try await store.discard([old[1].id], reason: "old")
            try await store.commit { machine in
                let worker = try machine.register("w", kinds: ["sum"], queues: ["q"], lease: .seconds(900))
                _ = try machine.claim(for: worker, slots: [("q", 1)], kinds: ["sum"])
            }
            test.advance(.seconds(20))
            let new = try await queue.add(Sum(a: 4, b: 0))
            func find(_ least: Int?, _ most: Int?) async throws -> [OperationID] {
                let (least, most) = (least.map { Duration.seconds($0) }, most.map { Duration.seconds($0) })
                return try await store.operations(matching: DurableFilter(minimumAge: least, maximumAge: most))
            }
            #expect(try await find(110, nil) == [old[2].id])
            #expect(try await find(15, 60) == [old[0].id, old[1].id])
            #expect(try await find(nil, 10) == [new.id])
            #expect(try await find(nil, nil).count == 4)
            #expect(try await store.operations(matching: DurableFilter(minimumAge: .seconds(Int64.max))) == [])
            #expect(try await store.operations(matching: DurableFilter(maximumAge: .seconds(Int64.max))).count == 4)
            let filter = DurableFilter(ids: Set(old.map(\.id)), minimumAge: .seconds(15), maximumAge: .seconds(60))
            #expect(try await store.operations(matching: filter) == [old[0].id, old[1].id])
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `R36: a filter with identifiers has all other conditions, and its order`(_ kind: StoreKind) async throws {
        try await withStore(kind) { test in
            let (store, queue) = (test.store, DurableQueue("q", in: test.store))
            let sums = try await queue.add(contentsOf: (0..<6).map { Sum(a: $0, b: 0) })
            let note = try await DurableQueue("r", in: store).add(Note(journal: "", word: ""))
            let ids = Set(sums.map(\.id) + [note.id, OperationID(999)])
            #expect(try await store.operations(matching: DurableFilter(ids: ids)) == sums.map(\.id) + [note.id])
            #expect(try await store.operations(matching: DurableFilter(ids: ids, queue: "r")) == [note.id])
            #expect(
                try await store.operations(matching: DurableFilter(ids: ids, name: "sum", limit: 2)) == [
                    sums[0].id, sums[1].id,
                ])
            #expect(try await store.operations(matching: DurableFilter(ids: ids, states: [.failed])) == [])
            #expect(try await store.operations(matching: DurableFilter(ids: [])) == [])
            #expect(try await store.operations(matching: DurableFilter(ids: ids, after: sums[5].id)) == [note.id])
            #expect(try await store.discard(matching: DurableFilter(ids: [sums[1].id]), reason: "one") == [sums[1].id])
            #expect(try await store.delete(matching: DurableFilter(ids: ids)) == [sums[1].id])
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `R36: records without inputs have all other fields, and an output is JSON`(_ kind: StoreKind) async throws {
        try await withStore(kind) { test in
            let (store, queue) = (test.store, DurableQueue("q", in: test.store))
            let sum = try await queue.add(Sum(a: 1, b: 2))
            let records = try await store.records(matching: DurableFilter(), includesInputs: false)
            #expect(records.map(\.name) == ["sum"] && records[0].input.isEmpty)
            #expect(try await store.output(of: sum.id) == nil)
            try await withWorker(store, [Sum.self]) { _ = try await sum.value }
            #expect(try await store.output(of: sum.id) == Array("3".utf8))
            await #expect(throws: DurableError.unknownOperation(OperationID(999))) {
                try await store.output(of: OperationID(999))
            }
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `R36: a snapshot has limits and rates, and a queue has its keys`(_ kind: StoreKind) async throws {
        try await withStore(kind) { test in
            let (store, queue) = (test.store, DurableQueue("q", in: test.store))
            try await queue.setLimit(5)
            try await queue.setRate(RateRule(10, per: .seconds(1)))
            try await queue.setLimitPerKey(1)
            try await queue.setRatePerKey(RateRule(2, per: .seconds(60)))
            try await queue.setLimit(3, forKey: "b")
            for key in ["a", "a"] { try await queue.add(Sum(a: 1, b: 1), options: DurableOptions(limitKey: key)) }
            try await store.commit { machine in
                let worker = try machine.register("w", kinds: ["sum"], queues: ["q"], lease: .seconds(30))
                _ = try machine.claim(for: worker, slots: [("q", 9)], kinds: ["sum"])
            }
            let snapshot = try await store.snapshot()
            let found = snapshot.queues[0]
            #expect(found.limit == 5 && found.rate == RateRule(10, per: .seconds(1)))
            #expect(found.limitPerKey == 1 && found.ratePerKey == RateRule(2, per: .seconds(60)))
            #expect(snapshot.workers.map(\.running) == [1])
            let keys = try await queue.keys()
            #expect(keys.map(\.key) == ["a", "b"] && keys.map(\.limit) == [nil, 3])
            #expect([keys[0].running, keys[0].ready, keys[0].blocked] == [1, 0, 1])
            #expect(try await DurableQueue("absent", in: store).keys() == [])
            #expect(try await store.snapshot().queues.count == 1)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `R23: explain says that the worker of an operation vanished, and that no other one is there`(_ kind: StoreKind)
        async throws
    {
        try await withStore(kind) { test in
            let (store, queue) = (test.store, DurableQueue("q", in: test.store))
            let sum = try await queue.add(Sum(a: 1, b: 2))
            let late = try await queue.add(Sum(a: 1, b: 2), options: DurableOptions(delay: .seconds(5)))
            try await store.commit { machine in
                let worker = try machine.register("w", kinds: ["sum"], queues: ["q"], lease: .seconds(30))
                _ = try machine.claim(for: worker, slots: [("q", 1)], kinds: ["sum"])
            }
            let end = try await store.snapshot().workers[0].leaseEnd
            #expect(try await store.explain(sum.id).reasons.count == 1)
            test.advance(.seconds(60))
            let reasons = try await store.explain(sum.id).reasons
            #expect(reasons.dropFirst() == [.leaseExpired(at: end), .noWorkerServes(queue: "q")])
            #expect(try await store.explain(late.id).reasons.last == .noWorkerServes(queue: "q"))
        }
    }

    /// A store in which another process moves operations before each commit.
    private struct RacingStore: DurableStore {
        let base: MemoryStore
        var limits: DurableLimits { base.limits }
        var identity: String { base.identity }
        var notices: StoreNotices { base.notices }

        func commit<Reply: Sendable>(
            _ event: @escaping @Sendable (inout DurableMachine) throws -> Reply
        ) async throws -> Reply {
            let moved = try await base.operations(matching: DurableFilter(states: [.ready], limit: 1))
            try await base.move(moved, to: "elsewhere")
            return try await base.commit(event)
        }

        func read<Reply: Sendable>(
            _ question: @escaping @Sendable (inout DurableMachine) throws -> Reply
        ) async throws -> Reply { try await base.read(question) }
    }

    @Test func `R36: a change by filter leaves an operation that no longer matches`() async throws {
        let store = MemoryStore()
        let sums = try await DurableQueue("q", in: store).add(contentsOf: [Sum(a: 1, b: 0), Sum(a: 2, b: 0)])
        let racing = RacingStore(base: store)
        #expect(try await racing.discard(matching: DurableFilter(queue: "q"), reason: "old") == [sums[1].id])
        #expect(try await sums[0].state == .ready)
    }
}
