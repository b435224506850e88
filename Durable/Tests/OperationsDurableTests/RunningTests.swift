import DurableCore
import DurableTesting
import GRDB
import Operations
import Testing

@testable import OperationsDurable

/// Rules R7 to R14.
@Suite struct RunningTests {
    /// Claims one operation as a worker that never completes the operation.
    private func claim(_ store: any DurableStore, name: String) async throws -> Claim {
        let claims = try await store.commit { machine in
            let worker = try machine.register("w", kinds: [name], queues: ["q"], lease: .seconds(30))
            return try machine.claim(for: worker, slots: [("q", 1)], kinds: [name])
        }
        return try #require(claims.first)
    }

    @Test(arguments: StoreKind.allCases)
    func `R16: a worker that serves 100 queues runs the operations of each`(_ kind: StoreKind) async throws {
        try await withStore(kind) { test in
            let names = (0..<100).map { "q\($0)" }
            var graph = DurableGraph()
            var first: DurableGraph.Member<Int>?
            for (number, name) in names.enumerated() where number % 3 == 0 {
                let member = try graph.add(Sum(a: number, b: 1), to: DurableQueue(name, in: test.store))
                if let first { graph.addDependency(of: member, on: first) }
                first = first ?? member
            }
            _ = try await test.store.add(graph)
            let limits = Dictionary(uniqueKeysWithValues: names.map { ($0, DurableWorker.QueueLimit.limit(1)) })
            try await withWorker(test.store, queues: limits, [Sum.self]) {
                try await poll("all operations end") {
                    let queues = try await test.store.snapshot().queues
                    return queues.count == 34 && queues.allSatisfy { $0.counts["sum"] == [.succeeded: 1] }
                }
            }
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `R7: an operation whose worker vanished runs again when the lease has passed`(_ kind: StoreKind) async throws {
        try await withStore(kind) { test in
            let queue = DurableQueue("q", in: test.store)
            let sum = try await queue.add(Sum(a: 1, b: 2))
            _ = try await claim(test.store, name: "sum")
            try await withWorker(test.store, [Sum.self]) {
                test.advance(.seconds(29))
                _ = try await queue.add(Sum(a: 0, b: 0)).value
                #expect(try await sum.state == .running)
                test.advance(.seconds(2))
                #expect(try await sum.value == 3)
            }
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `R7: a heartbeat renews the leases of a worker`(_ kind: StoreKind) async throws {
        try await withStore(kind) { test in
            let sum = try await DurableQueue("q", in: test.store).add(Sum(a: 1, b: 2))
            let lease = try #require(try await claim(test.store, name: "sum").lease)
            for _ in 0..<3 {
                test.advance(.seconds(20))
                try await test.store.commit { machine in
                    try machine.heartbeat(lease.worker, lease: .seconds(30))
                    try machine.expireLeases()
                }
            }
            #expect(try await sum.state == .running)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `R8: the store refuses everything of a worker that lost its lease`(_ kind: StoreKind) async throws {
        try await withStore(kind) { test in
            let sum = try await DurableQueue("q", in: test.store).add(Sum(a: 1, b: 2))
            let old = try #require(try await claim(test.store, name: "sum").lease)
            test.advance(.seconds(31))
            try await test.store.commit { _ = try $0.expireLeases() }
            let new = try #require(try await claim(test.store, name: "sum").lease)
            #expect(new.fence == old.fence + 1)
            let completion = Completion(lease: old, result: .succeeded(output: [49]))
            #expect(try await test.store.commit { try $0.complete([completion]) } == [false])
            await #expect(throws: DurableError.leaseLost(sum.id)) {
                try await test.store.commit { try $0.recordStep("s", result: [], position: 0, by: old) }
            }
            await #expect(throws: DurableError.leaseLost(sum.id)) {
                try await test.store.commit { _ = try $0.add([NewOperation(name: "n", queue: "q")], by: old) }
            }
            await #expect(throws: DurableError.workerExpired(old.worker)) {
                try await test.store.commit { try $0.heartbeat(old.worker, lease: .seconds(30)) }
            }
            #expect(try await sum.state == .running)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `R8: a worker that lost its leases cancels its tasks and registers again`(_ kind: StoreKind) async throws {
        try await withStore(kind) { test in
            let queue = DurableQueue("q", in: test.store)
            let journal = Journal.named("R8 \(kind)")
            let endless = try await queue.add(Endless(journal: "R8 \(kind)"))
            try await withWorker(test.store, [Endless.self, Sum.self]) {
                try await poll("the operation runs") { journal.count("start") == 1 }
                test.advance(.seconds(31))
                // Another worker notices the expiry.
                try await test.store.commit { _ = try $0.expireLeases() }
                try await poll("the task is cancelled") { journal.count("cancelled") == 1 }
                try await poll("the operation runs again") { journal.count("start") == 2 }
                #expect(try await endless.state == .running)
            }
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `R8: an operation that catches the loss of its lease runs no further step`(_ kind: StoreKind) async throws {
        try await withStore(kind) { test in
            let store = test.store
            let sum = try await DurableQueue("q", in: store).add(Sum(a: 1, b: 2))
            let claim = try await claim(store, name: "sum")
            let lease = try #require(claim.lease)
            test.advance(.seconds(31))
            try await store.commit { _ = try $0.expireLeases() }
            let error = DurableError.leaseLost(sum.id)
            let context = DurableContext(attempt: AttemptState(claim, lease: lease, store: store))
            await #expect(throws: error) { try await context.step("charge") {} }
            await #expect(throws: error) { try await context.step("refund") { Issue.record("the step ran") } }
            guard let store = store as? SQLiteStore else { return }
            let other = DurableContext(attempt: AttemptState(claim, lease: lease, store: store))
            await #expect(throws: error) { try await store.transaction { try other.complete(3, in: $0) } }
            await #expect(throws: error) { try await other.step("refund") { Issue.record("the step ran") } }
        }
    }

    /// Waits until it is cancelled, and then makes a step.
    struct Compensating: DurableOperation {
        static let name = "compensating"
        var journal: String

        func run(_ context: DurableContext) async throws {
            let journal = Journal.named(journal)
            journal.append("start")
            do { try await Task.sleep(for: .seconds(3_600)) } catch {
                do { try await context.step("refund") { journal.append("refund") } } catch {
                    journal.append("\(error)")
                    throw error
                }
            }
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `R8: an operation that is cancelled because its lease is lost runs no further step`(_ kind: StoreKind)
        async throws
    {
        try await withStore(kind) { test in
            let name = "R8 compensating \(kind)"
            let operation = try await DurableQueue("q", in: test.store).add(Compensating(journal: name))
            let journal = Journal.named(name)
            try await withWorker(test.store, [Compensating.self]) {
                try await poll("the operation runs") { journal.count("start") == 1 }
                test.advance(.seconds(31))
                try await test.store.commit { _ = try $0.expireLeases() }
                try await poll("the attempt has ended") {
                    journal.count("\(DurableError.leaseLost(operation.id))") == 1
                }
                #expect(journal.count("refund") == 0)
            }
        }
    }

    @Test func `R10: a completion in a transaction commits with its effect or not at all`() async throws {
        try await withStore(.sqlite) { test in
            let store = try test.sqlite
            let sum = try await DurableQueue("q", in: store).add(Sum(a: 1, b: 2))
            try await store.transaction { try $0.execute(sql: "CREATE TABLE effect(id INTEGER)") }
            let claim = try await claim(store, name: "sum")
            let lease = try #require(claim.lease)
            let context = DurableContext(attempt: AttemptState(claim, lease: lease, store: store))
            await #expect(throws: TestFailure.self) {
                try await store.transaction { database in
                    try database.execute(sql: "INSERT INTO effect VALUES (1)")
                    try context.complete(3, in: database)
                    throw TestFailure()
                }
            }
            #expect(try await sum.state == .running)
            try await store.transaction { database in
                try database.execute(sql: "INSERT INTO effect VALUES (2)")
                try context.complete(3, in: database)
            }
            #expect(try await sum.value == 3)
            #expect(context.attempt.isDone)
            await #expect(throws: DurableError.leaseLost(sum.id)) {
                try await store.transaction { database in
                    try database.execute(sql: "INSERT INTO effect VALUES (4)")
                    try context.complete(3, in: database)
                }
            }
            await #expect(throws: DurableError.leaseLost(sum.id)) {
                try await store.transaction { database in
                    try database.execute(sql: "INSERT INTO effect VALUES (3)")
                    let stale = Lease(operation: lease.operation, worker: lease.worker, fence: 7)
                    try DurableContext(attempt: AttemptState(claim, lease: stale, store: store))
                        .complete(3, in: database)
                }
            }
            #expect(try await store.transaction { try Int.fetchAll($0, sql: "SELECT id FROM effect") } == [2])
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `R10: the idempotency key is identical in every attempt`(_ kind: StoreKind) async throws {
        try await withStore(kind) { test in
            let name = "R10 \(kind)"
            let queue = DurableQueue("q", in: test.store)
            let flaky = try await queue.add(
                Flaky(journal: name, failures: 2), retry: .constant(.zero, retries: 3))
            try await withWorker(test.store, [Flaky.self]) { _ = try await flaky.value }
            let key = "\(test.store.identity)-\(flaky.id)"
            #expect(Journal.named(name).all == (1...3).map { "attempt \($0) \(key)" })
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `R11: a step runs once, and later attempts receive its result`(_ kind: StoreKind) async throws {
        try await withStore(kind) { test in
            let name = "R11 \(kind)"
            let queue = DurableQueue("q", in: test.store)
            let steps = try await queue.add(Steps(journal: name), retry: .constant(.zero, retries: 1))
            try await withWorker(test.store, [Steps.self]) {
                try await steps.reaches(.scheduled)
                #expect(Journal.named(name).all == ["first", "second"])
                test.advance(.seconds(61))
                #expect(try await steps.value == "7 14")
            }
            #expect(Journal.named(name).all == ["first", "second", "awake"])
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `R11: a step with another name than the stored step fails with both names`(_ kind: StoreKind) async throws {
        try await withStore(kind) { test in
            let queue = DurableQueue("q", in: test.store)
            let renamed = try await queue.add(Renamed(), retry: .constant(.zero, retries: 5))
            try await withWorker(test.store, [Renamed.self]) {
                let error = await #expect(throws: DurableError.self) { try await renamed.value }
                let reason =
                    "the history has step 'charge' at position 0, and the operation requests step 'refund'"
                #expect(error == .notSucceeded(renamed.id, .failed, reason: reason))
                _ = try await renamed.outcome
            }
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `R12: a wait for a signal releases the slot, and the signal resumes the operation`(_ kind: StoreKind)
        async throws
    {
        try await withStore(kind) { test in
            let queue = DurableQueue("q", in: test.store)
            let approval = try await queue.add(Approval())
            try await withWorker(test.store, queues: ["q": .limit(1)], [Approval.self, Sum.self]) {
                try await approval.reaches(.awaitingSignal)
                #expect(try await queue.add(Sum(a: 1, b: 1)).value == 2)
                try await test.store.send("approved", true, to: approval.id)
                #expect(try await approval.value)
            }
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `R12: a signal that precedes the wait is stored`(_ kind: StoreKind) async throws {
        try await withStore(kind) { test in
            let approval = try await DurableQueue("q", in: test.store).add(Approval())
            try await test.store.send("approved", false, to: approval.id)
            try await withWorker(test.store, [Approval.self]) {
                let isApproved = try await approval.value
                #expect(!isApproved)
            }
            await #expect(throws: DurableError.operationEnded(approval.id, .succeeded)) {
                try await test.store.send("approved", true, to: approval.id)
            }
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `R12: a wait for a signal ends at its timeout`(_ kind: StoreKind) async throws {
        try await withStore(kind) { test in
            let approval = try await DurableQueue("q", in: test.store).add(Approval(timeout: 60))
            try await withWorker(test.store, [Approval.self]) {
                try await approval.reaches(.awaitingSignal)
                test.advance(.seconds(60))
                let outcome = try await approval.outcome
                #expect(outcome == .failed)
            }
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `R13: an operation adds children and waits for added operations`(_ kind: StoreKind) async throws {
        try await withStore(kind) { test in
            let name = "R13 \(kind)"
            let queue = DurableQueue("q", in: test.store)
            let parent = try await queue.add(Parent(journal: name))
            try await withWorker(test.store, queues: ["q": .limit(1)], [Parent.self, Sum.self]) {
                // No worker runs the child, so that the parent waits for its end.
                try await parent.reaches(.finishing)
            }
            try await withWorker(test.store, [Note.self]) {
                let value = try await parent.value
                #expect(value == 42)
            }
            #expect(Journal.named(name).all == ["parent", "child"])
            let counts = try await queue.counts()
            #expect(counts == [.succeeded: 3])
        }
    }

    @Test func `R14: each attempt runs in a local operation queue`() async throws {
        struct Where: DurableOperation {
            static let name = "where"
            func run(_ context: DurableContext) async throws -> String {
                "\(OperationQueue.current?.name ?? "none") \(OperationQueue.current?.maxConcurrentOperationCount ?? 0)"
            }
        }
        try await withStore(.memory) { test in
            let place = try await DurableQueue("q", in: test.store).add(Where())
            try await withWorker(test.store, queues: ["q": .limit(3)], [Where.self]) {
                let text = try await place.value
                #expect(text == "q 3")
            }
        }
    }
}
