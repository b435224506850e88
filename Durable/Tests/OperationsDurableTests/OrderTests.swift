import DurableCore
import DurableTesting
import Testing

@testable import OperationsDurable

/// Rules R15 to R18.
@Suite struct OrderTests {
    @Test(arguments: StoreKind.allCases)
    func `R15: dependents become ready in the transaction that completes the last dependency`(_ kind: StoreKind)
        async throws
    {
        try await withStore(kind) { test in
            let queue = DurableQueue("q", in: test.store)
            let first = try await queue.add(Sum(a: 1, b: 1))
            let second = try await queue.add(Sum(a: 2, b: 2))
            let last = try await queue.add(Sum(a: 3, b: 3), after: [first, second])
            let states = try await test.store.commit { machine in
                let worker = try machine.register("w", kinds: ["sum"], queues: ["q"], lease: .seconds(30))
                let claims = try machine.claim(for: worker, slots: [("q", 9)], kinds: ["sum"])
                return try claims.compactMap(\.lease).map { lease in
                    _ = try machine.complete([Completion(lease: lease, result: .succeeded(output: []))])
                    return try machine.rows.operations([last.id]).first?.state
                }
            }
            #expect(states == [.waiting, .ready])
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `R15: failure policies apply, and the store keeps the root cause`(_ kind: StoreKind) async throws {
        try await withStore(kind) { test in
            let queue = DurableQueue("q", in: test.store)
            var policy = DurableOptions()
            let flaky = try await queue.add(Flaky(journal: "R15 \(kind)", failures: 9))
            let anyway = try await queue.add(Sum(a: 1, b: 1), after: [flaky])
            policy.dependencyFailurePolicy = .fail
            let failed = try await queue.add(Sum(a: 2, b: 2), after: [flaky], options: policy)
            let second = try await queue.add(Sum(a: 3, b: 3), after: [failed], options: policy)
            policy.dependencyFailurePolicy = .cancel
            let cancelled = try await queue.add(Sum(a: 4, b: 4), after: [second], options: policy)
            try await withWorker(test.store, [Flaky.self, Sum.self]) {
                let value = try await anyway.value
                #expect(value == 2)
                let error = await #expect(throws: DurableError.self) { try await second.value }
                let reason = "operation \(flaky.id) ended as failed: the test failure"
                #expect(error == .notSucceeded(second.id, .failed, reason: reason))
                let outcome = try await cancelled.outcome
                #expect(outcome == .cancelled)
            }
            let causes = try await test.store.read { machine in
                try machine.rows.operations([failed.id, second.id, cancelled.id]).map(\.rootCause)
            }
            #expect(causes == [flaky.id, flaky.id, flaky.id])
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `R16: a worker returns claims for which it has no slot, to their places`(_ kind: StoreKind) async throws {
        try await withStore(kind) { test in
            let queue = DurableQueue("q", in: test.store)
            let name = "R16 ahead \(kind)"
            try await queue.add(contentsOf: (0..<200).map { _ in Note(journal: name, word: "early") })
            let endless = try await queue.add(Endless(journal: name))
            let late = try await queue.add(contentsOf: (0..<20).map { Note(journal: name, word: "late \($0)") })
            try await withWorker(test.store, queues: ["q": .limit(1)], [Note.self, Endless.self]) {
                try await endless.reaches(.running)
                // The worker may have claimed further operations ahead.
                try await poll("only one operation runs") {
                    let counts = try await queue.counts()
                    return counts[.running] == 1 && counts[.ready] == late.count
                }
                try await endless.cancel()
                for handle in late {
                    let outcome = try await handle.outcome
                    #expect(outcome == .succeeded)
                }
            }
            let entries = Journal.named(name).all
            #expect(entries.count { $0 == "early" } == 200)
            #expect(entries.suffix(late.count) == (0..<20).map { "late \($0)" })
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `R16: an operation that a worker did not start becomes ready at its place`(_ kind: StoreKind) async throws {
        try await withStore(kind) { test in
            let queue = DurableQueue("q", in: test.store)
            let first = try await queue.add(Sum(a: 1, b: 1))
            test.advance(.seconds(1))
            let second = try await queue.add(Sum(a: 2, b: 2))
            let worker = try await test.store.commit { machine in
                try machine.register("w", kinds: ["sum"], queues: ["q"], lease: .seconds(30))
            }
            let claim: @Sendable (Int) async throws -> [Lease] = { count in
                try await test.store.commit { machine in
                    try machine.claim(for: worker, slots: [("q", count)], kinds: ["sum"]).compactMap(\.lease)
                }
            }
            let old = try #require(try await claim(1).first)
            #expect(old.operation == first.id)
            test.advance(.seconds(1))
            let withdrawal = Completion(lease: old, result: .withdrawn)
            let isAccepted = try await test.store.commit { try $0.complete([withdrawal]) }
            #expect(isAccepted == [true])
            let leases = try await claim(2)
            #expect(leases.map(\.operation) == [first.id, second.id])
            // The number of the lease has changed, so that the old lease changes nothing.
            let isRefused = try await test.store.commit { try $0.complete([withdrawal]) }
            #expect(isRefused == [false])
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `R17: claims ahead leave limits, rates and keys alone`(_ kind: StoreKind) async throws {
        try await withStore(kind) { test in
            let (queue, limited) = (DurableQueue("q", in: test.store), DurableQueue("limited", in: test.store))
            try await limited.setLimit(9)
            let sums = (0..<4).map { Sum(a: $0, b: $0) }
            try await limited.add(contentsOf: sums)
            try await queue.add(contentsOf: sums)
            try await queue.add(contentsOf: sums, options: DurableOptions(limitKey: "k"))
            let claims = try await test.store.commit { machine in
                let worker = try machine.register("w", kinds: ["sum"], queues: ["q"], lease: .seconds(30))
                return try machine.claim(
                    for: worker, slots: [("q", 1), ("limited", 1)], kinds: ["sum"], ahead: ["q": 9, "limited": 9])
            }
            let rows = claims.filter { $0.queue == "q" }.map(\.row)
            #expect(rows.map(\.key) == [nil, nil, nil, nil])
            #expect(claims.count { $0.queue == "limited" } == 1)
        }
    }

    @Test func `R16: a worker claims ahead while its attempts are shorter than its exchanges`() {
        var pace = WorkerPace()
        #expect(pace.claimsAhead(of: "q", limit: 4) == 0)
        pace.exchange = .milliseconds(1)
        #expect(pace.claimsAhead(of: "q", limit: 4) == 0)
        pace.note(.microseconds(500), of: "q")
        #expect(pace.claimsAhead(of: "q", limit: 4) == 8)
        #expect(pace.claimsAhead(of: "other", limit: 4) == 0)
        for _ in 0..<100 { pace.note(.microseconds(1), of: "q") }
        #expect(pace.claimsAhead(of: "q", limit: 4) == 64)
        #expect(pace.claimsAhead(of: "q", limit: 100) == 100)
        pace.note(.seconds(3_600), of: "q")
        #expect(pace.claimsAhead(of: "q", limit: 4) == 0)
        pace.note(.microseconds(1), of: "q")
        pace.forget("q")
        #expect(pace.claimsAhead(of: "q", limit: 4) == 0)
    }

    @Test func `R16: a worker returns all claims that have not started when one is late, the last claim first`() {
        func late(_ ages: [Int: Int]) -> (ordinals: [Int], rest: Duration) {
            WorkerPace.late(ages.map { .init(ordinal: $0.key, age: .milliseconds($0.value)) })
        }
        #expect(late([:]) == ([], WorkerPace.idle))
        #expect(late([7: 10, 8: 49, 9: 0]) == ([], .milliseconds(1)))
        // The claims 8 to 10 are younger. They return too, and before claim 7, so that none of them starts first.
        #expect(late([7: 50, 8: 49, 9: 0, 10: 0]) == ([10, 9, 8, 7], WorkerPace.idle))
    }

    @Test(arguments: StoreKind.allCases)
    func `R16: operations run by priority, then by the time of becoming ready`(_ kind: StoreKind) async throws {
        try await withStore(kind) { test in
            let queue = DurableQueue("q", in: test.store)
            let name = "R16 \(kind)"
            var last: DurableHandle<Void>?
            for (word, priority) in [("a", DurablePriority.low), ("b", .normal), ("c", .veryHigh), ("d", .normal)] {
                let note = try await queue.add(Note(journal: name, word: word), priority: priority)
                if word == "a" { last = note }
                test.advance(.seconds(1))
            }
            try await withWorker(test.store, queues: ["q": .limit(1)], [Note.self]) { try await last?.value }
            #expect(Journal.named(name).all == ["c", "b", "d", "a"])
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `R17: the limit of a queue holds for all workers together`(_ kind: StoreKind) async throws {
        try await withStore(kind) { test in
            let queue = DurableQueue("q", in: test.store)
            try await queue.setLimit(2)
            let name = "R17 limit \(kind)"
            for _ in 0..<5 { try await queue.add(Endless(journal: name)) }
            try await withWorker(test.store, [Endless.self]) {
                try await withWorker(test.store, [Endless.self]) {
                    try await poll("two operations run") { Journal.named(name).count("start") == 2 }
                    try await queue.add(Sum(a: 1, b: 1))
                    let counts = try await queue.counts()
                    #expect(counts == [.running: 2, .ready: 4])
                    try await queue.setLimit(3)
                    try await poll("three operations run") { Journal.named(name).count("start") == 3 }
                }
            }
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `R17: the limit of a key holds, and other keys are not delayed`(_ kind: StoreKind) async throws {
        try await withStore(kind) { test in
            let queue = DurableQueue("q", in: test.store)
            try await queue.setLimitPerKey(1)
            let name = "R17 key \(kind)"
            var options = DurableOptions()
            options.limitKey = "host"
            for _ in 0..<3 { try await queue.add(Endless(journal: name), options: options) }
            options.limitKey = "other"
            let other = try await queue.add(Sum(a: 1, b: 1), options: options)
            try await withWorker(test.store, queues: ["q": .limit(8)], [Endless.self, Sum.self]) {
                _ = try await other.value
                try await poll("one operation runs") { Journal.named(name).count("start") == 1 }
                let counts = try await queue.counts()
                #expect(counts == [.running: 1, .blocked: 2, .succeeded: 1])
            }
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `R17: the rate of a queue holds for all workers together`(_ kind: StoreKind) async throws {
        try await withStore(kind) { test in
            let queue = DurableQueue("q", in: test.store)
            try await queue.setRate(RateRule(2, per: .seconds(10)))
            for number in 0..<5 { try await queue.add(Sum(a: number, b: 0)) }
            let claim: @Sendable () async throws -> Int = {
                try await test.store.commit { machine in
                    let worker = try machine.register("w", kinds: ["sum"], queues: ["q"], lease: .seconds(300))
                    return try machine.claim(for: worker, slots: [("q", 9)], kinds: ["sum"]).count
                }
            }
            #expect(try await claim() == 2)
            #expect(try await claim() == 0)
            test.advance(.seconds(5))
            #expect(try await claim() == 1)
            test.advance(.seconds(20))
            #expect(try await claim() == 2)
        }
    }

    @Test func `R17: an idle worker starts the next operation when the rate of its queue permits`() async throws {
        try await withTemporaryFile { path in
            let store = try await SQLiteStore(path: path)
            let queue = DurableQueue("q", in: store)
            try await queue.setRate(RateRule(1, per: .milliseconds(20)))
            let sums = try await queue.add(contentsOf: (0..<3).map { Sum(a: $0, b: 0) })
            // No event wakes the worker for the second and the third operation.
            var configuration = DurableWorker.Configuration()
            configuration.idleInterval = .seconds(3_600)
            try await withWorker(store, [Sum.self], configuration: configuration) {
                for (number, sum) in sums.enumerated() {
                    let value = try await sum.value
                    #expect(value == number)
                }
            }
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `R17: a suspended queue starts nothing until it is resumed`(_ kind: StoreKind) async throws {
        try await withStore(kind) { test in
            let queue = DurableQueue("q", in: test.store)
            let other = DurableQueue("r", in: test.store)
            try await queue.suspend()
            let sum = try await queue.add(Sum(a: 1, b: 1))
            try await withWorker(test.store, queues: ["q": .limit(1), "r": .limit(1)], [Sum.self]) {
                _ = try await other.add(Sum(a: 0, b: 0)).value
                #expect(try await sum.state == .ready)
                try await queue.resume()
                #expect(try await sum.value == 2)
            }
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `R18: a barrier separates earlier operations from later operations`(_ kind: StoreKind) async throws {
        try await withStore(kind) { test in
            let queue = DurableQueue("q", in: test.store)
            let name = "R18 \(kind)"
            for _ in 0..<3 { try await queue.add(Note(journal: name, word: "before"), priority: .veryLow) }
            var options = DurableOptions()
            options.isBarrier = true
            try await queue.add(Note(journal: name, word: "barrier"), options: options)
            let after = try await queue.add(Note(journal: name, word: "after"), priority: .veryHigh)
            try await withWorker(test.store, [Note.self]) { try await after.value }
            #expect(Journal.named(name).all == ["before", "before", "before", "barrier", "after"])
        }
    }
}
