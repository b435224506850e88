import GRDB
import DurableCore
import OperationsDurable
import Testing

/// Patterns of programs that use steps and transactions, found while the example `Orders` was written.
@Suite struct PatternTests {
    /// Completes itself in a transaction that is rolled back, and then returns.
    struct Undecided: DurableOperation {
        static let name = "undecided"
        @TaskLocal static var store: SQLiteStore?

        func run(_ context: DurableContext) async throws -> Int {
            let store = try #require(Self.store)
            try? await store.transaction { database in
                try context.complete(1, in: database)
                throw TestFailure()
            }
            return 2
        }
    }

    /// Catches the error of a step, continues with another step, and fails in its first attempt.
    struct Fallback: DurableOperation {
        static let name = "fallback"
        var journal: String

        func run(_ context: DurableContext) async throws -> String {
            let journal = Journal.named(journal)
            var text = ""
            do {
                text = try await context.step("card") {
                    journal.append("card")
                    throw TestFailure()
                }
            } catch { text = "\(error)" }
            let invoice = try await context.step("invoice") {
                journal.append("invoice")
                return 2
            }
            if context.number == 1 { throw TestFailure() }
            return "\(invoice), \(text)"
        }
    }

    /// Tries two steps that fail, and then a step that succeeds. Fails in its first attempt.
    struct TwoFallbacks: DurableOperation {
        static let name = "two fallbacks"
        var journal: String

        func run(_ context: DurableContext) async throws -> String {
            let journal = Journal.named(journal)
            var texts: [String] = []
            for step in ["card", "transfer"] {
                do {
                    try await context.step(step) {
                        journal.append(step)
                        throw TestFailure()
                    }
                } catch { texts.append("\(error)") }
            }
            try await context.step("invoice") { journal.append("invoice") }
            if context.number == 1 { throw TestFailure() }
            return texts.joined(separator: ", ")
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `an operation that catches the errors of two steps in a row runs its further steps`(_ kind: StoreKind)
        async throws
    {
        try await withStore(kind) { test in
            let name = "two fallbacks \(kind)"
            let operation = try await DurableQueue("q", in: test.store).add(
                TwoFallbacks(journal: name), retry: .constant(.zero, retries: 1))
            try await withWorker(test.store, [TwoFallbacks.self]) {
                let value = try await operation.value
                #expect(value == "step 'card' failed: the test failure, step 'transfer' failed: the test failure")
            }
            #expect(Journal.named(name).all == ["card", "transfer", "invoice"])
        }
    }

    /// Catches the error of the call that the last word of its journal names, makes a step, and fails in its first attempt.
    struct Catching: DurableOperation {
        static let name = "catching"
        static let calls = ["large", "number", "input", "dependency", "unknown", "cycle", "two"]
        var journal: String

        func run(_ context: DurableContext) async throws {
            let (journal, text) = (Journal.named(journal), String(repeating: "x", count: 50))
            let unknown = DurableHandle<Int>(id: OperationID(999_999), store: context.store)
            do {
                switch self.journal.split(separator: " ").last {
                case "large": _ = try await context.step("large") { text }
                case "number": _ = try await context.step("number") { Double.nan }
                case "input": try await context.add(Note(journal: text, word: ""))
                case "dependency": try await context.add(Sum(a: 1, b: 2), after: [unknown])
                case "unknown": try await context.wait(for: unknown)
                case "cycle": try await context.wait(for: DurableHandle<Int>(id: context.id, store: context.store))
                default:
                    do { try await context.wait(for: unknown) } catch { journal.append("\(error)") }
                    _ = try await context.step("large") { text }
                }
            } catch { journal.append("\(error)") }
            try await context.step("fallback") { journal.append("fallback") }
            if context.number == 1 { throw TestFailure() }
        }
    }

    @Test(arguments: StoreKind.allCases, Catching.calls)
    func `an operation that catches the error of a call continues, and a later attempt in the same way`(
        _ kind: StoreKind, _ call: String
    ) async throws {
        var limits = DurableLimits()
        // Below the size of an error.
        limits.payloadBytes = 40
        try await withStore(kind, limits: limits) { test in
            let name = "\(kind) \(call)"
            let operation = try await DurableQueue("q", in: test.store).add(
                Catching(journal: name), retry: .constant(.zero, retries: 1))
            try await withWorker(test.store, [Catching.self]) { try await operation.value }
            let all = Journal.named(name).all
            let errors = all.prefix { $0 != "fallback" }
            #expect(errors.count == (call == "two" ? 2 : 1))
            #expect(all.count == 2 * errors.count + 1)
            for (error, later) in zip(errors, all.suffix(errors.count)) {
                #expect(later.hasSuffix(" failed: \(error)"), "\(later)")
            }
        }
    }

    /// Waits for an operation, sleeps for longer than the store keeps that operation, and returns its output.
    struct Patient: DurableOperation {
        static let name = "patient"
        var awaited: OperationID

        func run(_ context: DurableContext) async throws -> String {
            let text: String
            do {
                text = "\(try await context.wait(for: DurableHandle<Int>(id: awaited, store: context.store)))"
            } catch let error as DurableError { text = "\(error)" }
            try await context.sleep(for: .seconds(8 * 86_400))
            return text
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a later attempt receives the end of an awaited operation that was purged or ran again`(_ kind: StoreKind)
        async throws
    {
        try await withStore(kind) { test in
            let (store, queue) = (test.store, DurableQueue("q", in: test.store))
            let sum = try await queue.add(Sum(a: 1, b: 2))
            let failing = try await queue.add(Sum(a: 1, b: 2), options: DurableOptions(delay: .seconds(3_600)))
            let patients = [
                try await queue.add(Patient(awaited: sum.id)), try await queue.add(Patient(awaited: failing.id)),
            ]
            try await withWorker(store, [Sum.self, Patient.self]) {
                try await patients[0].reaches(.scheduled)
                try await patients[1].reaches(.waiting)
                try await store.discard([failing.id], reason: "unneeded")
                try await patients[1].reaches(.scheduled)
            }
            try await store.retry([failing.id])
            test.advance(.seconds(8 * 86_400))
            while try await store.commit({ try $0.purge() }) > 0 {}
            await #expect(throws: DurableError.unknownOperation(sum.id)) { try await sum.state }
            try await withWorker(store, [Patient.self]) {
                let values = [try await patients[0].value, try await patients[1].value]
                #expect(values[0] == "3")
                #expect(values[1].hasSuffix("unneeded"), "\(values[1])")
            }
        }
    }

    /// Suspends its queue and ends: with an error in the first run, unless it has an output.
    struct Suspending: DurableOperation {
        static let name = "suspending"
        var journal: String
        var output: String?

        func run(_ context: DurableContext) async throws -> String {
            let journal = Journal.named(journal)
            journal.append("run")
            if journal.count("run") > 1 { return "" }
            try await DurableQueue("q", in: context.store).suspend()
            guard let output else { throw TestFailure() }
            return output
        }
    }

    /// Returns the end of the operation that it waits for.
    struct Waiting: DurableOperation {
        static let name = "waiting"
        var awaited: OperationID

        func run(_ context: DurableContext) async throws -> String {
            do {
                return try await context.wait(for: DurableHandle<String>(id: awaited, store: context.store))
            } catch let error as DurableError { return "\(error)" }
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a wait receives the end of an operation that is retried before the waiting operation runs`(_ kind: StoreKind)
        async throws
    {
        try await withStore(kind) { test in
            let (store, queue) = (test.store, DurableQueue("q", in: test.store))
            let awaited = try await queue.add(Suspending(journal: "retried \(kind)"), priority: .low)
            let waiting = try await queue.add(Waiting(awaited: awaited.id))
            try await withWorker(store, queues: ["q": .limit(1)], [Suspending.self, Waiting.self]) {
                try await awaited.reaches(.failed)
                try await store.retry([awaited.id])
                try await queue.resume()
                try await waiting.reaches(.succeeded)
                let text = try await waiting.value
                #expect(text.hasSuffix("the test failure"), "\(text)")
                try await awaited.reaches(.succeeded)
            }
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a wait receives the end of an operation that is purged before the waiting operation runs`(_ kind: StoreKind)
        async throws
    {
        try await withStore(kind) { test in
            let (store, queue) = (test.store, DurableQueue("q", in: test.store))
            let awaited = try await queue.add(
                Suspending(journal: "purged \(kind)", output: "the output"), priority: .low)
            let waiting = try await queue.add(Waiting(awaited: awaited.id))
            try await withWorker(store, queues: ["q": .limit(1)], [Suspending.self, Waiting.self]) {
                try await awaited.reaches(.succeeded)
            }
            test.advance(.seconds(8 * 86_400))
            while try await store.commit({ try $0.purge() }) > 0 {}
            await #expect(throws: DurableError.unknownOperation(awaited.id)) { try await awaited.state }
            try await queue.resume()
            try await withWorker(store, [Waiting.self]) {
                let text = try await waiting.value
                #expect(text == "the output")
            }
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a wait receives an output that the history does not keep`(_ kind: StoreKind) async throws {
        try await withStore(kind) { test in
            let (store, queue) = (test.store, DurableQueue("q", in: test.store))
            let output = String(repeating: "x", count: 100_000)
            let awaited = try await queue.add(
                Suspending(journal: "large \(kind)", output: output), priority: .low)
            let waiting = [
                try await queue.add(Waiting(awaited: awaited.id)),
                try await queue.add(Waiting(awaited: awaited.id), options: DurableOptions(delay: .seconds(60))),
            ]
            try await withWorker(store, queues: ["q": .limit(1)], [Suspending.self, Waiting.self]) {
                try await awaited.reaches(.succeeded)
                try await queue.resume()
                test.advance(.seconds(60))
                for operation in waiting {
                    let text = try await operation.value
                    #expect(text.utf8.count == 100_000)
                }
            }
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `the transaction that ends an awaited operation records the end, also the transaction of the wait`(
        _ kind: StoreKind
    ) async throws {
        try await withStore(kind) { test in
            let store = test.store
            let sums = [Sum(a: 1, b: 1), Sum(a: 2, b: 2)]
            let ids = try await DurableQueue("q", in: store).add(contentsOf: sums).map(\.id)
            let history = try await store.commit { machine in
                let worker = try machine.register("w", kinds: ["sum"], queues: ["q"], lease: .seconds(30))
                let leases = try machine.claim(for: worker, slots: [("q", 2)], kinds: ["sum"]).compactMap(\.lease)
                let name = HistoryEntry.nameOfWait(for: ids[1])
                let reply = try machine.awaitOperations([ids[1]], name: name, position: 0, by: leases[0])
                #expect(reply == .suspended)
                _ = try machine.complete([Completion(lease: leases[1], result: .succeeded(output: [52]))])
                return try machine.rows.history(of: [ids[0]])
            }
            #expect(history.map(\.name) == [HistoryEntry.nameOfWait(for: ids[1])])
            #expect(AwaitedEnd(bytes: history.first?.result ?? []) == AwaitedEnd(state: .succeeded, content: [52]))
        }
    }

    /// An earlier version of the library recorded no end. So the wait begins again when a caller has retried the awaited operation.
    @Test func `a wait that begins again changes no result of a later step`() async throws {
        try await withStore(.sqlite) { test in
            let store = test.store
            let ids = try await DurableQueue("q", in: store).add(contentsOf: [Sum(a: 1, b: 1), Sum(a: 2, b: 2)]).map(
                \.id)
            let name = HistoryEntry.nameOfWait(for: ids[1])
            let worker = try await store.commit { machine in
                let worker = try machine.register("w", kinds: ["sum"], queues: ["q"], lease: .seconds(300))
                let leases = try machine.claim(for: worker, slots: [("q", 2)], kinds: ["sum"]).compactMap(\.lease)
                #expect(try machine.awaitOperations([ids[1]], name: name, position: 0, by: leases[0]) == .suspended)
                let failure = Completion.Result.failed(reason: "first", isRetryable: false)
                _ = try machine.complete([Completion(lease: leases[1], result: failure)])
                return worker
            }
            try await store.commit { machine in
                let lease = try machine.claim(for: worker, slots: [("q", 2)], kinds: ["sum"]).compactMap(\.lease)[0]
                try machine.recordStep("charge", result: [7], position: 1, by: lease)
                _ = try machine.complete([Completion(lease: lease, result: .snoozed(.zero))])
            }
            try await (store as? SQLiteStore)?.transaction {
                try $0.execute(sql: "UPDATE durable_history SET result = x'' WHERE position = 0")
            }
            let history = try await store.commit { machine in
                try machine.retry([ids[1]])
                let claimed = try machine.claim(for: worker, slots: [("q", 2)], kinds: ["sum"]).compactMap(\.lease)
                let leases = Dictionary(uniqueKeysWithValues: claimed.map { ($0.operation, $0) })
                let (waiting, awaited) = (try #require(leases[ids[0]]), try #require(leases[ids[1]]))
                #expect(try machine.awaitOperations([ids[1]], name: name, position: 0, by: waiting) == .suspended)
                _ = try machine.complete([Completion(lease: awaited, result: .succeeded(output: [52]))])
                return try machine.rows.history(of: [ids[0]])
            }
            #expect(history.first { $0.position == 1 }?.result == [7])
            let end = AwaitedEnd(bytes: history.first { $0.position == 0 }?.result ?? [])
            #expect(end == AwaitedEnd(state: .succeeded, content: [52]))
        }
    }

    /// Compensates for every error except a suspension.
    struct Compensating: DurableOperation {
        static let name = "compensating"
        var journal: String

        func run(_ context: DurableContext) async throws {
            let journal = Journal.named(journal)
            do {
                try await context.step("charge") { journal.append("charge") }
                try await context.wait(for: "approved", as: Bool.self)
                try await context.step("ship") { throw TestFailure() }
            } catch let suspension as DurableSuspension {
                throw suspension
            } catch { try await context.step("refund") { journal.append("refund") } }
        }
    }

    /// Catches the cancellation of a step, and tries to continue.
    struct Stubborn: DurableOperation {
        static let name = "stubborn"
        var journal: String

        func run(_ context: DurableContext) async throws {
            let journal = Journal.named(journal)
            do {
                _ = try await context.step("wait") {
                    journal.append("start")
                    try await Task.sleep(for: .seconds(3_600))
                    return 1
                }
            } catch {
                _ = try await context.step("other") {
                    journal.append("other")
                    return 1
                }
            }
        }
    }

    @Test func `an attempt whose completion was rolled back completes with its return`() async throws {
        try await withStore(.sqlite) { test in
            let store = try test.sqlite
            let undecided = try await DurableQueue("q", in: store).add(Undecided())
            try await Undecided.$store.withValue(store) {
                try await withWorker(store, [Undecided.self]) {
                    let value = try await undecided.value
                    #expect(value == 2)
                }
            }
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `an operation that catches the error of a step runs its further steps`(_ kind: StoreKind) async throws {
        try await withStore(kind) { test in
            let name = "fallback \(kind)"
            let fallback = try await DurableQueue("q", in: test.store).add(
                Fallback(journal: name), retry: .constant(.zero, retries: 1))
            try await withWorker(test.store, [Fallback.self]) {
                let value = try await fallback.value
                #expect(value == "2, step 'card' failed: the test failure")
            }
            #expect(Journal.named(name).all == ["card", "invoice"])
        }
    }

    /// Throws that the database is away in its first run.
    struct Away: DurableOperation {
        static let name = "away"
        var journal: String

        func run(_ context: DurableContext) async throws {
            let journal = Journal.named(journal)
            journal.append("attempt \(context.number)")
            if journal.all.count == 1 { throw DurableError.unavailable("a test") }
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `R28: an attempt that ends because the database is away is no failed attempt`(_ kind: StoreKind) async throws {
        try await withStore(kind) { test in
            let name = "away \(kind)"
            let away = try await DurableQueue("q", in: test.store).add(Away(journal: name))
            try await withWorker(test.store, [Away.self]) {
                try await away.reaches(.scheduled)
                test.advance(.seconds(1))
                try await away.value
            }
            #expect(Journal.named(name).all == ["attempt 1", "attempt 1"])
        }
    }

    @Test(arguments: StoreKind.allCases, ["a\nb", "a\0b", "", String(repeating: "x", count: 201)])
    func `a name with a line end, a zero byte, no character or too many is refused`(
        _ kind: StoreKind, _ name: String
    ) async throws {
        try await withStore(kind) { test in
            await #expect(throws: DurableError.self) {
                try await DurableQueue(name, in: test.store).add(Away(journal: ""))
            }
            let options = DurableOptions(limitKey: name)
            await #expect(throws: DurableError.self) {
                try await DurableQueue("q", in: test.store).add(Away(journal: ""), options: options)
            }
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `an operation that compensates for errors does not compensate at a wait`(_ kind: StoreKind) async throws {
        try await withStore(kind) { test in
            let name = "compensating \(kind)"
            let operation = try await DurableQueue("q", in: test.store).add(Compensating(journal: name))
            try await withWorker(test.store, [Compensating.self]) {
                try await operation.reaches(.awaitingSignal)
                #expect(Journal.named(name).all == ["charge"])
                try await test.store.send("approved", true, to: operation.id)
                try await operation.value
            }
            #expect(Journal.named(name).all == ["charge", "refund"])
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `an attempt that a shutdown cancels in a step makes no further step`(_ kind: StoreKind) async throws {
        try await withStore(kind) { test in
            let name = "stubborn \(kind)"
            let stubborn = try await DurableQueue("q", in: test.store).add(Stubborn(journal: name))
            try await withWorker(test.store, [Stubborn.self]) {
                try await poll("the step runs") { Journal.named(name).count("start") == 1 }
            }
            #expect(try await stubborn.state == .ready)
            #expect(Journal.named(name).all == ["start"])
        }
    }
}
