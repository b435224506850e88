import DurableCore
import DurableTesting
import OperationsDurable
import Testing

/// Rules R19 to R22.
@Suite struct EndingTests {
    @Test(arguments: StoreKind.allCases)
    func `R19: a failed attempt is retried after its delay`(_ kind: StoreKind) async throws {
        try await withStore(kind) { test in
            let flaky = try await DurableQueue("q", in: test.store).add(
                Flaky(journal: "R19 \(kind)", failures: 1), retry: .constant(.seconds(30), retries: 1))
            try await withWorker(test.store, [Flaky.self]) {
                try await flaky.reaches(.scheduled)
                test.advance(.seconds(30))
                let value = try await flaky.value
                #expect(value == 2)
            }
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `R19: an error that permits no retry ends the operation`(_ kind: StoreKind) async throws {
        try await withStore(kind) { test in
            let name = "R19 final \(kind)"
            let flaky = try await DurableQueue("q", in: test.store).add(
                Flaky(journal: name, failures: 0, isFinal: true), retry: .constant(.zero, retries: 5))
            try await withWorker(test.store, [Flaky.self]) {
                let outcome = try await flaky.outcome
                #expect(outcome == .failed)
            }
            #expect(Journal.named(name).all.count == 1)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `R19: an operation snoozes and discards itself without a failed attempt`(_ kind: StoreKind) async throws {
        try await withStore(kind) { test in
            let name = "R19 control \(kind)"
            let controlled = try await DurableQueue("q", in: test.store).add(Controlled(journal: name))
            try await withWorker(test.store, [Controlled.self]) {
                try await controlled.reaches(.scheduled)
                test.advance(.seconds(10))
                let outcome = try await controlled.outcome
                #expect(outcome == .discarded)
            }
            #expect(Journal.named(name).all == ["run", "run"])
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `R19: an attempt that exceeds its timeout is cancelled and fails`(_ kind: StoreKind) async throws {
        try await withStore(kind) { test in
            let name = "R19 timeout \(kind)"
            var options = DurableOptions()
            options.timeout = .milliseconds(20)
            let endless = try await DurableQueue("q", in: test.store).add(Endless(journal: name), options: options)
            try await withWorker(test.store, [Endless.self]) {
                let error = await #expect(throws: DurableError.self) { try await endless.value }
                let reason = "the attempt exceeded its time limit of 0.02 seconds"
                #expect(error == .notSucceeded(endless.id, .failed, reason: reason))
                _ = try await endless.outcome
            }
            #expect(Journal.named(name).all == ["start", "cancelled"])
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `R19: no attempt starts after the deadline of all attempts`(_ kind: StoreKind) async throws {
        try await withStore(kind) { test in
            let queue = DurableQueue("q", in: test.store)
            var options = DurableOptions()
            options.deadline = .seconds(60)
            let sum = try await queue.add(Sum(a: 1, b: 1), options: options)
            let flaky = try await queue.add(
                Flaky(journal: "R19 deadline \(kind)", failures: 9), retry: .constant(.seconds(61), retries: 9),
                options: options)
            try await withWorker(test.store, [Flaky.self]) {
                let outcome = try await flaky.outcome
                #expect(outcome == .failed)
            }
            test.advance(.seconds(61))
            try await withWorker(test.store, [Sum.self]) {
                let outcome = try await sum.outcome
                #expect(outcome == .failed)
            }
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `R20: a cancelled waiting operation never runs`(_ kind: StoreKind) async throws {
        try await withStore(kind) { test in
            let queue = DurableQueue("q", in: test.store)
            let name = "R20 waiting \(kind)"
            let note = try await queue.add(Note(journal: name, word: "run"))
            try await note.cancel()
            try await withWorker(test.store, [Note.self, Sum.self]) {
                _ = try await queue.add(Sum(a: 1, b: 1)).value
                let outcome = try await note.outcome
                #expect(outcome == .cancelled)
            }
            #expect(Journal.named(name).all == [])
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `R20: a cancellation reaches a running attempt`(_ kind: StoreKind) async throws {
        try await withStore(kind) { test in
            let name = "R20 running \(kind)"
            let endless = try await DurableQueue("q", in: test.store).add(Endless(journal: name))
            try await withWorker(test.store, [Endless.self]) {
                try await poll("the operation runs") { Journal.named(name).count("start") == 1 }
                try await endless.cancel()
                let outcome = try await endless.outcome
                #expect(outcome == .cancelled)
            }
            #expect(Journal.named(name).all == ["start", "cancelled"])
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `R20: the cancellation of a parent cancels its children`(_ kind: StoreKind) async throws {
        try await withStore(kind) { test in
            let queue = DurableQueue("q", in: test.store)
            let parent = try await queue.add(Parent(journal: "R20 parent \(kind)"))
            try await withWorker(test.store, [Parent.self, Sum.self]) {
                try await parent.reaches(.finishing)
                try await parent.cancel()
                let outcome = try await parent.outcome
                #expect(outcome == .cancelled)
            }
            let counts = try await queue.counts()
            #expect(counts == [.cancelled: 2, .succeeded: 1])
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `R21: the store removes ended operations after the retention period in small steps`(_ kind: StoreKind)
        async throws
    {
        var limits = DurableLimits()
        limits.retention = .seconds(100)
        try await withStore(kind, limits: limits) { test in
            let queue = DurableQueue("q", in: test.store)
            var sums: [DurableHandle<Int>] = []
            for number in 0..<5 { sums.append(try await queue.add(Sum(a: number, b: 0))) }
            try await withWorker(test.store, [Sum.self]) { for sum in sums { _ = try await sum.value } }
            test.advance(.seconds(99))
            #expect(try await test.store.commit { try $0.purge(limit: 2) } == 0)
            test.advance(.seconds(1))
            #expect(try await test.store.commit { try $0.purge(limit: 2) } == 2)
            #expect(try await queue.counts() == [.succeeded: 3])
            #expect(try await test.store.commit { try $0.purge() } == 3)
            await #expect(throws: DurableError.unknownOperation(sums[4].id)) { try await sums[4].value }
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `R22: an operation that no worker registers stays ready and delays no other`(_ kind: StoreKind) async throws {
        try await withStore(kind) { test in
            let queue = DurableQueue("q", in: test.store)
            let note = try await queue.add(Note(journal: "R22", word: "run"), priority: .veryHigh)
            let sum = try await queue.add(Sum(a: 1, b: 1))
            try await withWorker(test.store, [Sum.self]) { _ = try await sum.value }
            #expect(try await note.state == .ready)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `R22: an operation with an undecodable input fails at once with the reason`(_ kind: StoreKind) async throws {
        try await withStore(kind) { test in
            let id = try await test.store.commit { machine in
                var bad = NewOperation(name: "sum", queue: "q", input: Array(#"{"a":1}"#.utf8))
                bad.retry = .constant(.zero, retries: 9)
                return try machine.add([bad])[0]
            }
            let sum = DurableHandle<Int>(id: id, store: test.store)
            try await withWorker(test.store, [Sum.self]) {
                let error = await #expect(throws: DurableError.self) { try await sum.value }
                let reason = "the input of 'sum' does not decode: the key 'b' is missing at ''"
                #expect(error == .notSucceeded(id, .failed, reason: reason))
                _ = try await sum.outcome
            }
        }
    }
}
