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
}
