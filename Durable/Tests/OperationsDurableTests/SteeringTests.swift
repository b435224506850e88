import DurableCore
import DurableTesting
import OperationsDurable
import Testing

/// Rules R3, R4, R17, R18, R21 and R25, as far as they concern settings, retries and moves by a caller.
@Suite struct SteeringTests {
    /// The settings of a rate that a key can have.
    enum Setting: CaseIterable, Sendable {
        case perKey, ofKey, removalOfOwnRate
    }

    private func sum(
        in queue: String = "q", after: [OperationID] = [], key: String? = nil, isChild: Bool = false,
        isBarrier: Bool = false
    ) -> NewOperation {
        var new = NewOperation(name: "sum", queue: queue)
        (new.after, new.key) = (after.map { .existing($0) }, key)
        (new.isChild, new.isBarrier) = (isChild, isBarrier)
        return new
    }

    private func add(_ store: any DurableStore, _ new: NewOperation) async throws -> OperationID {
        try await store.commit { try $0.add([new])[0] }
    }

    /// Starts operations of a queue, and returns their leases.
    private func start(_ store: any DurableStore, _ queue: String = "q", _ count: Int = 9) async throws -> [Lease] {
        try await store.commit { machine in
            while try machine.wakeDue() {}
            let worker = try machine.register("w", kinds: ["sum"], queues: [queue], lease: .seconds(300))
            return try machine.claim(for: worker, slots: [(queue, count)], kinds: ["sum"]).compactMap(\.lease)
        }
    }

    private func end(_ store: any DurableStore, _ leases: [Lease], isFailure: Bool = false) async throws {
        let result = isFailure ? .failed(reason: "test", isRetryable: false) : Completion.Result.succeeded(output: [])
        _ = try await store.commit { try $0.complete(leases.map { Completion(lease: $0, result: result) }) }
    }

    private func isCycle(_ error: (any Error)?) -> Bool {
        if case .cycle? = error as? DurableError { true } else { false }
    }

    // MARK: - Rates

    @Test(arguments: StoreKind.allCases, Setting.allCases)
    func `R17: a new rate of a key applies at once`(_ kind: StoreKind, _ setting: Setting) async throws {
        try await withStore(kind) { test in
            let queue = DurableQueue("q", in: test.store)
            let (slow, fast) = (RateRule(1, per: .seconds(3_600)), RateRule(100, per: .seconds(1)))
            try await queue.setRatePerKey(setting == .removalOfOwnRate ? fast : slow)
            if setting == .removalOfOwnRate { try await queue.setRate(slow, forKey: "k") }
            let batch = (0..<5).map { _ in sum(key: "k") }
            _ = try await test.store.commit { try $0.add(batch) }
            #expect(try await start(test.store).count == 1)
            switch setting {
            case .perKey: try await queue.setRatePerKey(fast)
            case .ofKey: try await queue.setRate(fast, forKey: "k")
            case .removalOfOwnRate: try await queue.setRate(nil, forKey: "k")
            }
            #expect(try await start(test.store).count == 4)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `R17: a rate of keys that is set again, or applies to other keys, forgets no start`(_ kind: StoreKind)
        async throws
    {
        try await withStore(kind) { test in
            let queue = DurableQueue("q", in: test.store)
            let rate = RateRule(1, per: .seconds(3_600))
            try await queue.setRatePerKey(rate)
            try await queue.setRate(rate, forKey: "own")
            let batch = ["k", "k", "own", "own"].map { sum(key: $0) }
            _ = try await test.store.commit { try $0.add(batch) }
            #expect(try await start(test.store).count == 2)
            try await queue.setRatePerKey(rate)
            try await queue.setRate(rate, forKey: "own")
            #expect(try await start(test.store).count == 0)
            try await queue.setRatePerKey(RateRule(1, per: .seconds(3_601)))
            #expect(try await start(test.store).count == 1)
        }
    }

    @Test(arguments: [StoreKind.memory, .sqlite])
    func `R17: a clock that is set back does not stop the rates of a queue and its keys`(_ kind: StoreKind)
        async throws
    {
        try await withStore(kind) { test in
            for (name, rate) in [("queue", RateRule(2, per: .seconds(1))), ("keys", nil)] {
                let queue = DurableQueue(name, in: test.store)
                if let rate {
                    try await queue.setRate(rate)
                } else {
                    try await queue.setRatePerKey(RateRule(2, per: .seconds(1)))
                }
                let batch = (0..<2).map { _ in sum(in: name, key: "k") }
                _ = try await test.store.commit { try $0.add(batch) }
                #expect(try await start(test.store, name).count == 2)
                test.advance(.seconds(-3_600))
                _ = try await test.store.commit { try $0.add(batch) }
                #expect(try await start(test.store, name).count == 2)
                #expect(try await start(test.store, name).count == 0)
            }
        }
    }

    // MARK: - Names

    @Test(arguments: StoreKind.allCases, ["", "a\nb", "a\0b", String(repeating: "x", count: 201)])
    func `R17: each setting refuses an invalid name of a queue`(_ kind: StoreKind, _ name: String) async throws {
        try await withStore(kind) { test in
            let queue = DurableQueue(name, in: test.store)
            let rate = RateRule(1, per: .seconds(1))
            let settings: [@Sendable () async throws -> Void] = [
                { try await queue.suspend() }, { try await queue.setLimit(1) }, { try await queue.setRate(rate) },
                { try await queue.setLimitPerKey(1) }, { try await queue.setRatePerKey(rate) },
                { try await queue.setLimit(1, forKey: "k") }, { try await queue.setRate(rate, forKey: "k") },
            ]
            for setting in settings { await #expect(throws: DurableError.self) { try await setting() } }
            let queues = try await test.store.snapshot().queues
            #expect(queues.isEmpty)
        }
    }

    // MARK: - Retries

    @Test(arguments: StoreKind.allCases)
    func `R4: a retried operation holds its unique key again if no later operation has it`(_ kind: StoreKind)
        async throws
    {
        try await withStore(kind) { test in
            let queue = DurableQueue("q", in: test.store)
            let options = DurableOptions(unique: "u")
            let first = try await queue.add(Sum(a: 1, b: 1), options: options)
            try await first.cancel()
            try await test.store.retry([first.id])
            #expect(try await queue.add(Sum(a: 2, b: 2), options: options).id == first.id)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `R3: a retry that would close a cycle through its parent is refused`(_ kind: StoreKind) async throws {
        try await withStore(kind) { test in
            let store = test.store
            let parent = try await add(store, sum(in: "p"))
            let awaited = try await add(store, sum(in: "y"))
            let (parentLease, lease) = (try await start(store, "p")[0], try await start(store, "y")[0])
            let member = sum(in: "x", after: [awaited], isChild: true)
            let child = try await store.commit { try $0.add([member], position: 0, by: parentLease)[0] }
            try await store.cancel([child])
            // Nothing waits for the child any more, so that the wait for its parent is no cycle.
            let reply = try await store.commit {
                try $0.awaitOperations([parent], name: "w", position: 0, by: lease)
            }
            #expect(reply == .suspended)
            let error = await #expect(throws: DurableError.self) { try await store.retry([child]) }
            let path = [child, awaited, parent, child].map { "operation \($0)" }
            #expect(error == .cycle(path))
            let state = try await store.read { try $0.rows.operations([child])[0].state }
            #expect(state == .cancelled)
            try await end(store, [parentLease])
            // The parent has ended, and does not wait for the child.
            try await store.retry([child])
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `R3: a retried child does not go behind a barrier that waits for its parent through another barrier`(
        _ kind: StoreKind
    ) async throws {
        try await withStore(kind) { test in
            let store = test.store
            let parent = try await add(store, sum(in: "p"))
            let lease = try await start(store, "p")[0]
            let member = sum(in: "x", isChild: true)
            let child = try await store.commit { try $0.add([member], position: 0, by: lease)[0] }
            try await store.cancel([child])
            _ = try await add(store, sum(in: "q", after: [parent], isBarrier: true))
            let behind = try await add(store, sum(in: "q"))
            _ = try await add(store, sum(in: "x", after: [behind], isBarrier: true))
            let error = await #expect(throws: DurableError.self) { try await store.retry([child]) }
            #expect(isCycle(error), "\(String(describing: error))")
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `R18: a retried barrier separates the operations before and after the retry`(_ kind: StoreKind) async throws {
        try await withStore(kind) { test in
            let store = test.store
            let barrier = try await add(store, sum(isBarrier: true))
            try await end(store, start(store), isFailure: true)
            let before = try await add(store, sum())
            try await store.retry([barrier])
            let after = try await add(store, sum())
            for id in [before, barrier, after] {
                let leases = try await start(store)
                #expect(leases.map(\.operation) == [id])
                try await end(store, leases)
            }
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `R18: a retried child that started before a waiting barrier is no barrier`(_ kind: StoreKind) async throws {
        try await withStore(kind) { test in
            let store = test.store
            let parent = try await add(store, sum(in: "p"))
            let lease = try await start(store, "p")[0]
            let barrier = try await add(store, sum(after: [parent], isBarrier: true))
            let member = sum(isChild: true)
            let child = try await store.commit { try $0.add([member], position: 0, by: lease)[0] }
            try await end(store, start(store), isFailure: true)
            try await end(store, [lease])
            try await end(store, start(store))
            let states = try await store.read { try $0.rows.operations([barrier, child]).map(\.state) }
            #expect(states == [.succeeded, .failed])
            let before = try await add(store, sum())
            try await store.retry([child])
            let started = try await start(store).map(\.operation)
            #expect(started.sorted() == [child, before].sorted())
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `R18: children of a running barrier start while the barrier runs, and later operations wait`(_ kind: StoreKind)
        async throws
    {
        try await withStore(kind) { test in
            let store = test.store
            let barrier = try await add(store, sum(isBarrier: true))
            let later = try await add(store, sum())
            let leases = try await start(store)
            #expect(leases.map(\.operation) == [barrier])
            let batch = [sum(isChild: true), sum(isChild: true)]
            let children = try await store.commit { try $0.add(batch, position: 0, by: leases[0]) }
            let started = try await start(store)
            #expect(started.map(\.operation) == children)
            try await end(store, [leases[0], started[0]])
            #expect(try await start(store).isEmpty)
            try await end(store, [started[1]])
            let last = try await start(store).map(\.operation)
            #expect(last == [later])
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `R21: the store keeps a limited number of failed attempts also after retries`(_ kind: StoreKind) async throws {
        var limits = DurableLimits()
        limits.attemptRecords = 3
        try await withStore(kind, limits: limits) { test in
            let store = test.store
            let id = try await add(store, sum())
            for number in 1...6 {
                try await end(store, start(store), isFailure: true)
                let fences = try await store.read { try $0.rows.attempts(of: id).map(\.fence) }
                #expect(fences == Array(Int64(max(1, number - 2))...Int64(number)))
                try await store.retry([id])
            }
        }
    }

    // MARK: - Moves

    @Test(arguments: StoreKind.allCases)
    func `R3: a move behind barriers that wait for the operation is refused`(_ kind: StoreKind) async throws {
        try await withStore(kind) { test in
            let store = test.store
            let moved = try await add(store, sum(in: "r"))
            var last = moved
            // Each barrier waits for the last operation of the queue before, which is behind the barrier before.
            for queue in ["a", "b", "c"] {
                _ = try await add(store, sum(in: queue, after: [last], isBarrier: true))
                last = try await add(store, sum(in: queue))
            }
            for queue in ["b", "c"] {
                let error = await #expect(throws: DurableError.self) { try await store.move([moved], to: queue) }
                #expect(isCycle(error), "\(String(describing: error))")
            }
            // In front of its only barrier, the operation starts.
            try await store.move([moved], to: "a")
            let started = try await start(store, "a").map(\.operation)
            #expect(started == [moved])
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `R25: operations move together behind a barrier that does not wait for them`(_ kind: StoreKind) async throws {
        try await withStore(kind) { test in
            let store = test.store
            let first = try await add(store, sum(in: "r"))
            let second = try await add(store, sum(in: "r", after: [first]))
            let before = try await add(store, sum())
            let barrier = try await add(store, sum(isBarrier: true))
            try await store.move([first, second], to: "q")
            for id in [before, barrier, first, second] {
                let leases = try await start(store)
                #expect(leases.map(\.operation) == [id])
                try await end(store, leases)
            }
        }
    }
}
