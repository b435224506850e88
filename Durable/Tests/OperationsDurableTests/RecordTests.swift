import DurableCore
import DurableTesting
import OperationsDurable
import Testing

/// Rules R17, R19, R21, R24 and R25, as far as they concern records of the past and keys.
@Suite struct RecordTests {
    /// Returns the number of operations that a new worker claims.
    private func claim(_ store: any DurableStore) async throws -> Int {
        try await store.commit { machine in
            while try machine.wakeDue() {}
            let worker = try machine.register("w", kinds: ["sum"], queues: ["q"], lease: .seconds(300))
            return try machine.claim(for: worker, slots: [("q", 9)], kinds: ["sum"]).count
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `R17: the rate of a key holds, and other keys are not delayed`(_ kind: StoreKind) async throws {
        try await withStore(kind) { test in
            let queue = DurableQueue("q", in: test.store)
            try await queue.setRatePerKey(RateRule(2, per: .seconds(10)))
            var options = DurableOptions()
            options.limitKey = "host"
            let sums = try await queue.add(contentsOf: (0..<6).map { Sum(a: $0, b: 0) }, options: options)
            #expect(try await claim(test.store) == 2)
            #expect(try await claim(test.store) == 0)
            options.limitKey = "other"
            try await queue.add(Sum(a: 0, b: 0), options: options)
            #expect(try await claim(test.store) == 1)
            let next = try await test.store.snapshot().instant + .seconds(5)
            #expect(try await test.store.explain(sums[5].id).reasons.first == .rateOfKey("host", until: next))
            test.advance(.seconds(5))
            #expect(try await claim(test.store) == 1)
            try await queue.setRate(RateRule(5, per: .seconds(10)), forKey: "host")
            test.advance(.seconds(20))
            #expect(try await claim(test.store) == 3)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `R17: an idle worker starts the next operation when the rate of its key permits`(_ kind: StoreKind)
        async throws
    {
        try await withStore(kind) { test in
            let queue = DurableQueue("q", in: test.store)
            try await queue.setRatePerKey(RateRule(1, per: .seconds(10)))
            var options = DurableOptions()
            options.limitKey = "host"
            let sums = try await queue.add(contentsOf: [Sum(a: 1, b: 0), Sum(a: 2, b: 0)], options: options)
            try await withWorker(test.store, [Sum.self]) {
                try await sums[0].reaches(.succeeded)
                #expect(try await sums[1].state == .blocked)
                test.advance(.seconds(10))
                #expect(try await sums[1].value == 2)
            }
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `R19: a deadline ends an operation that waits for a dependency, a start or a signal`(_ kind: StoreKind)
        async throws
    {
        try await withStore(kind) { test in
            let queue = DurableQueue("q", in: test.store)
            let first = try await queue.add(Sum(a: 1, b: 1))
            var options = DurableOptions()
            options.deadline = .seconds(60)
            let second = try await queue.add(Sum(a: 2, b: 2), after: [first], options: options)
            let approval = try await queue.add(Approval(), options: options)
            options.delay = .seconds(90)
            let late = try await queue.add(Sum(a: 3, b: 3), options: options)
            try await withWorker(test.store, [Approval.self]) {
                try await approval.reaches(.awaitingSignal)
                test.advance(.seconds(61))
                let outcome1 = try await second.outcome
                #expect(outcome1 == .failed)
                let outcome2 = try await late.outcome
                #expect(outcome2 == .failed)
                let outcome3 = try await approval.outcome
                #expect(outcome3 == .failed)
            }
            #expect(try await first.state == .ready)
            let ended = try await test.store.explain(second.id).reasons
            #expect(ended == [.ended(.failed, reason: "the deadline passed before an attempt")])
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `R21: the store keeps the error of each attempt`(_ kind: StoreKind) async throws {
        try await withStore(kind) { test in
            let queue = DurableQueue("q", in: test.store)
            let flaky = try await queue.add(
                Flaky(journal: "R21 attempts \(kind)", failures: 2), retry: .constant(.seconds(5), retries: 5))
            var configuration = DurableWorker.Configuration()
            configuration.name = "host"
            try await withWorker(test.store, [Flaky.self], configuration: configuration) {
                for count in 1...2 {
                    try await poll("attempt \(count) fails") {
                        try await test.store.attempts(of: flaky.id).count { $0.outcome == .failed } == count
                    }
                    test.advance(.seconds(5))
                }
                #expect(try await flaky.value == 3)
            }
            let attempts = try await test.store.attempts(of: flaky.id)
            #expect(attempts.map(\.outcome) == [.failed, .failed, .ended(.succeeded)])
            #expect(attempts.map(\.reason) == ["the test failure", "the test failure", nil])
            #expect(attempts.prefix(2).map(\.worker) == ["host", "host"])
            #expect(attempts[1].startedAt == attempts[0].startedAt + .seconds(5))
            await #expect(throws: DurableError.unknownOperation(OperationID(99))) {
                try await test.store.attempts(of: OperationID(99))
            }
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `R21: the store keeps a limited number of failed attempts, the last ones`(_ kind: StoreKind) async throws {
        var limits = DurableLimits()
        limits.attemptRecords = 3
        try await withStore(kind, limits: limits) { test in
            let sum = try await DurableQueue("q", in: test.store).add(
                Sum(a: 1, b: 1), retry: .constant(.zero, retries: 99))
            for number in 1...7 {
                try await test.store.commit { machine in
                    let worker = try machine.register("w", kinds: ["sum"], queues: ["q"], lease: .seconds(30))
                    let claims = try machine.claim(for: worker, slots: [("q", 1)], kinds: ["sum"])
                    let lease = try #require(claims.first?.lease)
                    let result = Completion.Result.failed(reason: "failure \(number)", isRetryable: true)
                    _ = try machine.complete([Completion(lease: lease, result: result)])
                }
            }
            let reasons = try await test.store.attempts(of: sum.id).map(\.reason)
            #expect(reasons == ["failure 5", "failure 6", "failure 7"])
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `R24: the store removes all old events, also after the last observer has ended`(_ kind: StoreKind) async throws
    {
        try await withStore(kind) { test in
            let store = test.store
            _ = try await store.commit { try $0.observeEvents() }
            let batch = [NewOperation](repeating: NewOperation(name: "sum", queue: "q"), count: 11_000)
            _ = try await store.commit { try $0.add(batch) }
            test.advance(store.limits.eventRetention + .seconds(1))
            var steps = 1
            while try await store.commit({ try $0.removeOldEvents() }) { steps += 1 }
            #expect(steps == 2)
            #expect(try await store.commit { try $0.rows.events(after: 0, limit: 1).isEmpty })
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `R24: events report each change of state in order`(_ kind: StoreKind) async throws {
        try await withStore(kind) { test in
            let queue = DurableQueue("q", in: test.store)
            try await queue.add(Sum(a: 0, b: 0)).cancel()
            let events = try await test.store.events()
            let first = try await queue.add(Sum(a: 1, b: 1))
            let second = try await queue.add(Sum(a: 2, b: 2), after: [first])
            try await withWorker(test.store, [Sum.self]) { _ = try await second.value }
            var iterator = events.makeAsyncIterator()
            var seen: [DurableEvent] = []
            for _ in 0..<7 { seen.append(try #require(try await iterator.next())) }
            #expect(seen.map(\.number) == Array(seen[0].number..<seen[0].number + 7))
            let states = Dictionary(grouping: seen, by: \.operation).mapValues { $0.map(\.state) }
            #expect(
                states == [
                    first.id: [.ready, .running, .succeeded], second.id: [.waiting, .ready, .running, .succeeded],
                ])
            #expect(Set(seen.map(\.queue)) == ["q"])
            #expect(Set(seen.map(\.name)) == ["sum"])
            var later = try await test.store.events(after: seen[4].number).makeAsyncIterator()
            #expect(try await later.next() == seen[5])
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `R24: a caller of events learns that events are missing`(_ kind: StoreKind) async throws {
        try await withStore(kind) { test in
            let queue = DurableQueue("q", in: test.store)
            let number = try await test.store.commit { try $0.observeEvents() }
            try await queue.add(Sum(a: 1, b: 1))
            test.advance(DurableMachine.observation + .seconds(1))
            try await queue.add(Sum(a: 2, b: 2))
            var iterator = try await test.store.events(after: number).makeAsyncIterator()
            let first = try #require(try await iterator.next())
            #expect(first.number == number + 1)
            await #expect(throws: DurableError.eventsMissed(after: first.number)) { _ = try await iterator.next() }
            test.advance(test.store.limits.eventRetention + .seconds(1))
            await #expect(throws: DurableError.eventsMissed(after: number)) {
                _ = try await test.store.events(after: number)
            }
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `R25: a caller discards, moves and re-prioritizes the operations of a filter`(_ kind: StoreKind) async throws {
        try await withStore(kind) { test in
            let (store, queue) = (test.store, DurableQueue("q", in: test.store))
            let sums = try await queue.add(contentsOf: (0..<5).map { Sum(a: $0, b: 0) })
            let note = try await queue.add(Note(journal: "", word: ""), after: [sums[0]])
            var filter = DurableFilter(queue: "q", name: "sum")
            filter.limit = 2
            #expect(try await store.setPriority(.high, matching: filter) == [sums[0].id, sums[1].id])
            filter.after = sums[2].id
            #expect(try await store.move(matching: filter, to: "r") == [sums[3].id, sums[4].id])
            let discarded = try await store.discard(
                matching: DurableFilter(states: [.ready], queue: "q"), reason: "old")
            #expect(discarded == [sums[0].id, sums[1].id, sums[2].id])
            #expect(try await note.state == .ready)
            #expect(try await DurableQueue("r", in: store).counts() == [.ready: 2])
            #expect(try await store.cancel(matching: DurableFilter(states: [.succeeded])) == [])
            let ended = DurableFilter(states: [.discarded, .cancelled])
            #expect(try await store.operations(matching: ended).count == 3)
            #expect(try await store.retry(matching: ended) == discarded)
        }
    }
}
