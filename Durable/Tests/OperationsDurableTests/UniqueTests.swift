import DurableCore
import OperationsDurable
import Testing

@Suite struct UniqueTests {
    private func options(_ policy: DurableUniquePolicy, _ change: (inout DurableOptions) -> Void = { _ in })
        -> DurableOptions
    {
        var options = DurableOptions(unique: "u", uniquePolicy: policy)
        change(&options)
        return options
    }

    @Test(arguments: StoreKind.allCases)
    func `R37: an addition that rejects a held key throws, and adds nothing of its batch`(_ kind: StoreKind)
        async throws
    {
        try await withStore(kind) { test in
            let (store, queue) = (test.store, DurableQueue("q", in: test.store))
            let first = try await queue.add(Sum(a: 1, b: 2), options: options(.reject))
            await #expect(throws: DurableError.uniqueKeyHeld("u", by: first.id)) {
                try await queue.add(Sum(a: 3, b: 4), options: options(.reject))
            }
            await #expect(throws: DurableError.self) {
                try await queue.add(
                    contentsOf: [Sum(a: 3, b: 4), Sum(a: 5, b: 6)], options: options(.reject) { $0.unique = "v" })
            }
            #expect(try await queue.counts() == [.ready: 1])
            try await first.cancel()
            try await queue.add(Sum(a: 3, b: 4), options: options(.reject))
            #expect(try await store.records(matching: DurableFilter()).count == 2)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `R37: an addition that replaces gives an operation that has never started its values`(_ kind: StoreKind)
        async throws
    {
        try await withStore(kind) { test in
            let (store, queue) = (test.store, DurableQueue("q", in: test.store))
            let first = try await queue.add(Note(journal: "a", word: "b"), options: options(.replace))
            let dependent = try await queue.add(Sum(a: 1, b: 2), after: [first])
            // Short and long inputs have different places in the databases.
            for word in [String(repeating: "x", count: 5_000), "y", String(repeating: "z", count: 700)] {
                let again = try await queue.add(
                    Note(journal: "a", word: word),
                    options: options(.replace) {
                        ($0.priority, $0.delay, $0.deadline) = (.high, .seconds(60), .seconds(90))
                    })
                #expect(again.id == first.id)
                let record = try await store.record(of: first.id)
                #expect(String(decoding: record.input, as: UTF8.self).contains("\"\(word)\""))
                #expect(record.state == .scheduled && record.priority == .high)
                #expect(record.wakeAt.map { $0 > record.addedAt } == true && record.deadline != nil)
            }
            // Each addition moves the start, and the last one starts at once.
            try await queue.add(Note(journal: "a", word: "now"), options: options(.replace))
            let record = try await store.record(of: first.id)
            #expect(
                record.state == .ready && record.priority == .normal && record.deadline == nil && record.wakeAt == nil)
            #expect(try await dependent.state == .waiting)
            #expect(try await queue.counts() == [.ready: 1, .waiting: 1])
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `R37: the operations of one batch replace each other, and the last one remains`(_ kind: StoreKind) async throws
    {
        try await withStore(kind) { test in
            let (store, queue) = (test.store, DurableQueue("q", in: test.store))
            let words = ["a", "b", "c"].map { Note(journal: "j", word: $0) }
            let handles = try await queue.add(contentsOf: words, options: options(.replace))
            #expect(Set(handles.map(\.id)).count == 1)
            #expect(String(decoding: try await store.record(of: handles[0].id).input, as: UTF8.self).contains("\"c\""))
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `R37: an addition that replaces does not change an operation that has started`(_ kind: StoreKind) async throws
    {
        try await withStore(kind) { test in
            let queue = DurableQueue("q", in: test.store)
            let journal = "R37 started \(kind)"
            let running = try await queue.add(Endless(journal: journal), options: options(.replace))
            try await withWorker(test.store, [Endless.self]) {
                try await running.reaches(.running)
                let input = try await test.store.record(of: running.id).input
                let again = try await queue.add(Endless(journal: "other"), priority: .high, options: options(.replace))
                let record = try await test.store.record(of: running.id)
                #expect(again.id == running.id && record.input == input && record.priority == .normal)
                try await running.cancel()
                try await running.reaches(.cancelled)
            }
        }
    }
}
