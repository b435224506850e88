import DurableCore
import Foundation
import Testing

@testable import OperationsDurable

/// Values at the ends of their ranges, and texts that no application means.
@Suite struct HostileTests {
    private static let invalidNames = [
        "", "a\0b", "a\nb", String(repeating: "x", count: 201), String(repeating: "🙂", count: 51),
        String(repeating: "x", count: 10_000_000),
    ]
    private static let validNames = [
        "'", "\"; --", "\\", "%s", "🙂", "e\u{301}", "\u{1}\t\r\u{7F}", " ", "$1", "NULL",
        String(repeating: "🙂", count: 50),
    ]

    @Test(arguments: StoreKind.allCases)
    func `R30: each name is stored as it is, or is refused with a short reason`(_ kind: StoreKind) async throws {
        try await withStore(kind) { test in
            let (store, queue) = (test.store, DurableQueue("q", in: test.store))
            let sum = Sum(a: 1, b: 2)
            for name in Self.invalidNames {
                var options = DurableOptions()
                options.unique = name
                let calls: [() async throws -> Void] = [
                    { try await DurableQueue(name, in: store).add(sum) },
                    { try await queue.add(sum, options: options) },
                    { try await queue.add(sum, options: DurableOptions(limitKey: name)) },
                    { try await queue.setLimit(1, forKey: name) },
                    { try await DurableQueue(name, in: store).suspend() },
                    { try await store.schedule(name, CronSchedule("* * * * *"), sum, in: queue) },
                    { _ = try DurableWorker(store, queues: [name: .limit(1)], operations: [Sum.self]) },
                    { _ = try DurableWorker(store, queues: ["q": .limit(1)], operations: [Unnameable.self]) },
                ]
                for call in calls {
                    let length = try #require(try await lengthOfError(of: call))
                    #expect(length < 400)
                }
            }
            #expect(try await store.snapshot().queues.map(\.counts) == [])
            for name in Self.validNames {
                let queue = DurableQueue(name, in: store)
                let handle = try await queue.add(sum, options: DurableOptions(unique: name, limitKey: name))
                let again = try await queue.add(sum, options: DurableOptions(unique: name))
                #expect(handle.id == again.id)
                try await withWorker(store, queues: [name: .limit(1)], [Sum.self]) {
                    let value = try await handle.value
                    #expect(value == 3)
                }
            }
            #expect(try await store.snapshot().queues.map(\.name) == Self.validNames)
        }
    }

    /// Returns the length of the description of the error that a call throws; nil if it throws none. `#expect(throws:)` would print
    /// each error with its name of 10 MB.
    private func lengthOfError(of call: () async throws -> Void) async throws -> Int? {
        do {
            try await call()
            return nil
        } catch let error as DurableError {
            return error.description.utf8.count
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `the lists of a worker keep names that end with a carriage return`(_ kind: StoreKind) async throws {
        try await withStore(kind) { test in
            // With the separator, a carriage return would be one character.
            let (names, queues) = (["a\r", "b\r", "c"], ["q\r", "r"])
            let id = try await test.store.commit {
                try $0.register("w", kinds: names, queues: queues, lease: .seconds(30))
            }
            let row = try await test.store.read { try $0.rows.worker(id) }
            #expect(row?.kinds == names)
            #expect(row?.queues == queues)
        }
    }

    /// An operation whose name no store accepts.
    struct Unnameable: DurableOperation {
        static let name = "a\0b"
        func run(_ context: DurableContext) async throws {}
    }

    @Test(arguments: StoreKind.allCases)
    func `R11: a step with an invalid name fails before its body runs`(_ kind: StoreKind) async throws {
        try await withStore(kind) { test in
            let name = "hostile step \(kind)"
            let handle = try await DurableQueue("q", in: test.store).add(
                Misnamed(journal: name), retry: .constant(.zero, retries: 3))
            try await withWorker(test.store, [Misnamed.self]) {
                let error = await #expect(throws: DurableError.self) { try await handle.value }
                #expect(error?.description.contains("line end or a zero byte") == true)
            }
            #expect(Journal.named(name).all == ["run"])
        }
    }

    /// Runs a step whose name no store accepts.
    struct Misnamed: DurableOperation {
        static let name = "misnamed"
        var journal: String

        func run(_ context: DurableContext) async throws {
            Journal.named(journal).append("run")
            try await context.step("a\0b") { Journal.named(journal).append("body") }
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `R6: a payload of exactly the limit is stored, and one more byte is refused`(_ kind: StoreKind) async throws {
        try await withStore(kind) { test in
            let (store, queue) = (test.store, DurableQueue("q", in: test.store))
            let empty = try Payload.encode(Echo(text: ""), of: "input").count
            let room = store.limits.payloadBytes - empty
            let handle = try await queue.add(Echo(text: String(repeating: "x", count: room)))
            await #expect(
                throws: DurableError.payloadTooLarge(of: "input of 'echo'", bytes: 1 << 20 + 1, limit: 1 << 20)
            ) {
                try await queue.add(Echo(text: String(repeating: "x", count: room + 1)))
            }
            try await withWorker(store, [Echo.self]) {
                let length = try await handle.value.utf8.count
                #expect(length == room)
            }
        }
    }

    /// Returns its text.
    struct Echo: DurableOperation {
        static let name = "echo"
        var text: String
        func run(_ context: DurableContext) async throws -> String { text }
    }

    @Test func `durations and numbers at the ends of their ranges stop no process`() async throws {
        let longest = Duration.seconds(Int64.max)
        for duration in [longest, longest * 2, Duration.seconds(1e19)] {
            #expect(duration.microseconds == .max)
            #expect((.zero - duration).microseconds == .min)
        }
        try await withStore(.memory) { test in
            let queue = DurableQueue("q", in: test.store)
            let late = try await queue.add(Sum(a: 1, b: 1), options: DurableOptions(delay: longest * 2))
            let state = try await late.state
            #expect(state == .scheduled)
            await #expect(throws: DurableError.eventsMissed(after: .max)) { try await test.store.events(after: .max) }
        }
    }

    @Test func `the distance of two instants does not overflow, and each date has an instant`() {
        let (first, last) = (DurableInstant(microseconds: .min), DurableInstant(microseconds: .max))
        #expect(last - first == .microseconds(Int64.max) + .microseconds(Int64.max) + .microseconds(1))
        #expect(first - last == .zero - (last - first))
        #expect((last - first).microseconds == .max)
        #expect(DurableInstant(Date(timeIntervalSinceReferenceDate: -.infinity)) == first)
        for seconds in [Double.infinity, .nan, -.nan, .signalingNaN, .greatestFiniteMagnitude] {
            #expect(DurableInstant(Date(timeIntervalSinceReferenceDate: seconds)) == last)
        }
    }

    /// Sleeps until a date that is no number.
    struct Sleepless: DurableOperation {
        static let name = "sleepless"
        func run(_ context: DurableContext) async throws {
            try await context.sleep(until: Date(timeIntervalSinceReferenceDate: .nan))
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a date that is no number is refused`(_ kind: StoreKind) async throws {
        try await withStore(kind) { test in
            let queue = DurableQueue("q", in: test.store)
            let error = DurableError.invalidValue("the date is not a number")
            var options = DurableOptions()
            options.notBefore = Date(timeIntervalSinceReferenceDate: .nan)
            await #expect(throws: error) { try await queue.add(Sum(a: 1, b: 1), options: options) }
            #expect(try await queue.counts().isEmpty)
            let handle = try await queue.add(Sleepless())
            try await withWorker(test.store, [Sleepless.self]) {
                await #expect(throws: DurableError.notSucceeded(handle.id, .failed, reason: "\(error)")) {
                    try await handle.value
                }
            }
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `inputs that no version of the library wrote run or fail with a reason`(_ kind: StoreKind) async throws {
        try await withStore(kind) { test in
            let store = test.store
            func add(_ input: String) async throws -> DurableHandle<Int> {
                let new = NewOperation(name: "sum", queue: "q", input: Array(input.utf8))
                return DurableHandle(id: try await store.commit { try $0.add([new])[0] }, store: store)
            }
            let twice = try await add(#"{"a":1,"b":1,"a":1}"#)
            let deep = String(repeating: "[", count: 100_000)
            var broken: [DurableHandle<Int>] = []
            for text in ["", "\0", "{", deep, #"{"a":1e999,"b":1}"#, #"{"a":9223372036854775808,"b":1}"#, "\u{FEFF}{}"]
            {
                broken.append(try await add(text))
            }
            try await withWorker(store, [Sum.self]) {
                let value = try await twice.value
                #expect(value == 2)
                for handle in broken {
                    let outcome = try await handle.outcome
                    #expect(outcome == .failed)
                    let reasons = try await store.explain(handle.id).reasons
                    #expect("\(reasons)".contains("does not decode"), "\(reasons)")
                }
            }
        }
    }

    private static func filter(limit: Int) -> DurableFilter {
        var filter = DurableFilter()
        filter.limit = limit
        return filter
    }

    @Test(arguments: StoreKind.allCases)
    func `durations, dates and limits at the ends of their ranges stop no process`(_ kind: StoreKind) async throws {
        try await withStore(kind) { test in
            let (store, queue) = (test.store, DurableQueue("q", in: test.store))
            let ends = [Duration.seconds(Int64.min), .seconds(-1), .zero, .nanoseconds(1), .seconds(Int64.max)]
            for duration in ends {
                for option in [\DurableOptions.delay, \.timeout, \.deadline, \.uniquePeriod] {
                    var options = DurableOptions()
                    options[keyPath: option] = duration
                    do { try await DurableQueue("ends", in: store).add(Sum(a: 1, b: 1), options: options) } catch {
                        let isInvalid = if case DurableError.invalidValue = error { true } else { false }
                        #expect(isInvalid && duration < .microseconds(1), "\(error)")
                    }
                }
            }
            for date in [Date.distantPast, .distantFuture, Date(timeIntervalSince1970: .infinity)] {
                var options = DurableOptions()
                options.notBefore = date
                let handle = try await queue.add(Sum(a: 1, b: 1), options: options)
                let state = try await handle.state
                #expect(state == (date == .distantPast ? DurableState.ready : .scheduled))
                _ = try await store.explain(handle.id).description
            }
            let filter = Self.filter(limit: -1)
            await #expect(throws: DurableError.invalidValue("the limit of a filter is below zero")) {
                try await store.cancel(matching: filter)
            }
            for limit in [Int.min, -1] {
                await #expect(throws: DurableError.invalidValue("a limit is below zero")) {
                    try await queue.setLimit(limit)
                }
                await #expect(throws: DurableError.self) { try await queue.setRate(RateRule(limit, per: .seconds(1))) }
            }
            await #expect(throws: DurableError.self) { try await queue.setRate(RateRule(1, per: .zero)) }
            await #expect(throws: DurableError.self) { try await queue.setRate(RateRule(1, per: .seconds(Int64.max))) }
            try await queue.setLimit(Int.max)
            try await queue.setLimitPerKey(Int.max)
            var configuration = DurableWorker.Configuration()
            (configuration.lease, configuration.shutdownGrace) = (.seconds(Int64.max), .seconds(Int64.max))
            configuration.idleInterval = .seconds(Int64.max)
            var options = DurableOptions(retry: .linear(.seconds(Int64.max), retries: .max), limitKey: "k")
            (options.timeout, options.deadline) = (.seconds(Int64.max), .seconds(Int64.max))
            let last = try await queue.add(Sum(a: 1, b: 2), options: options)
            try await withWorker(store, queues: ["q": .limit(.max)], [Sum.self], configuration: configuration) {
                let value = try await last.value
                #expect(value == 3)
            }
        }
    }

    /// The runs of the operations of `R7: of many rows each runs once`, by the kind of the store.
    private static let runs = Locked<[String: [UInt8]]>([:])

    /// Counts its runs.
    struct Counted: DurableOperation {
        static let name = "counted"
        var store: String
        var number: Int

        func run(_ context: DurableContext) async throws {
            HostileTests.runs.withLock { $0[store]?[number] += 1 }
        }
    }

    @Test(arguments: StoreKind.allCases.filter { $0 != .memory })
    func `R7: of many rows each runs once`(_ kind: StoreKind) async throws {
        let count = Stress.rounds(40_000, least: 2_000)
        try await withStore(kind) { test in
            let queue = DurableQueue("q", in: test.store)
            Self.runs.withLock { $0["\(kind)"] = [UInt8](repeating: 0, count: count) }
            for start in stride(from: 0, to: count, by: 10_000) {
                let numbers = start..<min(start + 10_000, count)
                try await queue.add(contentsOf: numbers.map { Counted(store: "\(kind)", number: $0) })
            }
            try await withWorker(test.store, queues: ["q": .limit(256)], [Counted.self]) {
                // The wait has no limit, because a million rows take minutes.
                while try await queue.counts()[.succeeded] != count { try await Task.sleep(for: .milliseconds(20)) }
            }
            let runs = Self.runs.withLock { $0["\(kind)"] ?? [] }
            #expect(runs.count { $0 == 1 } == count)
        }
    }
}
