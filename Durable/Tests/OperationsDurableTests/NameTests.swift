import DurableCore
import DurableTesting
import OperationsDurable
import Testing

/// Names that are equal as strings, because they are canonically equivalent, and have other UTF-8 bytes.
@Suite struct NameTests {
    private let composed = "caf\u{E9}"
    private let decomposed = "cafe\u{301}"

    private func sum(in queue: String = "q", unique: String? = nil, key: String? = nil) -> NewOperation {
        var new = NewOperation(name: "sum", queue: queue)
        (new.unique, new.key) = (unique, key)
        return new
    }

    @Test(arguments: StoreKind.allCases)
    func `R17: the limit of a key counts no operation of a key with other bytes`(_ kind: StoreKind) async throws {
        try await withStore(kind) { test in
            let queue = DurableQueue("q", in: test.store)
            try await queue.setLimitPerKey(1)
            let batch = [composed, decomposed, composed, decomposed].map { sum(key: $0) }
            let ids = try await test.store.commit { try $0.add(batch) }
            #expect(try await queue.counts() == [.ready: 2, .blocked: 2])
            let leases = try await test.store.commit { machine in
                let worker = try machine.register("w", kinds: ["sum"], queues: ["q"], lease: .seconds(300))
                let leases = try machine.claim(for: worker, slots: [("q", 9)], kinds: ["sum"]).compactMap(\.lease)
                _ = try machine.complete(leases.map { Completion(lease: $0, result: .succeeded(output: [])) })
                return leases
            }
            #expect(leases.map(\.operation) == [ids[0], ids[1]])
            #expect(try await queue.counts() == [.succeeded: 2, .ready: 2])
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `R4: two unique keys with other bytes are two keys, in one batch and in two`(_ kind: StoreKind) async throws {
        try await withStore(kind) { test in
            let batch = [composed, decomposed].map { sum(unique: $0) }
            let ids = try await test.store.commit { try $0.add(batch) }
            #expect(Set(ids).count == 2)
            for (member, id) in zip(batch, ids) {
                let again = try await test.store.commit { try $0.add([member]) }
                #expect(again == [id])
            }
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `queues with other bytes are two queues, in one transaction and in two`(_ kind: StoreKind) async throws {
        try await withStore(kind) { test in
            let batch = [composed, decomposed].map { sum(in: $0) }
            let (composed, decomposed) = (composed, decomposed)
            _ = try await test.store.commit { machine in
                try machine.setSuspended(true, queue: composed)
                try machine.setLimit(5, queue: decomposed)
                return try machine.add(batch)
            }
            let queues = try await test.store.snapshot().queues
            #expect(queues.map { $0.name.utf8.count } == [5, 6])
            #expect(queues.map(\.isSuspended) == [true, false])
            #expect(queues.map(\.limit) == [nil, 5])
            #expect(queues.map(\.counts) == [["sum": [.ready: 1]], ["sum": [.ready: 1]]])
            #expect(try await test.store.operations(matching: DurableFilter(queue: decomposed)).count == 1)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `R22: a worker runs and explains no operation whose name has other bytes`(_ kind: StoreKind) async throws {
        try await withStore(kind) { test in
            let (composed, decomposed) = (composed, decomposed)
            let ids = try await test.store.commit { machine in
                try machine.add([composed, decomposed].map { NewOperation(name: $0, queue: "q") })
            }
            let claimed = try await test.store.commit { machine in
                let worker = try machine.register("w", kinds: [decomposed], queues: ["q"], lease: .seconds(300))
                return try machine.claim(for: worker, slots: [("q", 9)], kinds: [decomposed]).map(\.row.id)
            }
            #expect(claimed == [ids[1]])
            #expect(try await test.store.explain(ids[0]).reasons == [.noWorkerRegisters(composed)])
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `R12: a signal resumes only a wait for a name with the same bytes`(_ kind: StoreKind) async throws {
        try await withStore(kind) { test in
            let (store, composed, decomposed) = (test.store, composed, decomposed)
            let batch = [sum(), sum()]
            let leases = try await store.commit { machine in
                _ = try machine.add(batch)
                let worker = try machine.register("w", kinds: ["sum"], queues: ["q"], lease: .seconds(300))
                return try machine.claim(for: worker, slots: [("q", 9)], kinds: ["sum"]).compactMap(\.lease)
            }
            // The signal precedes the wait of the first operation, and follows the wait of the second.
            let (early, late) = (leases[0], leases[1])
            try await store.send(decomposed, 1, to: early.operation)
            for lease in [early, late] {
                let reply = try await store.commit {
                    try $0.awaitSignal(composed, timeout: nil, position: 0, by: lease)
                }
                #expect(reply == .suspended)
            }
            try await store.send(decomposed, 1, to: late.operation)
            #expect(try await DurableQueue("q", in: store).counts() == [.awaitingSignal: 2])
            for lease in [early, late] { try await store.send(composed, 2, to: lease.operation) }
            #expect(try await DurableQueue("q", in: store).counts() == [.ready: 2])
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `R5: schedules with other bytes are two schedules`(_ kind: StoreKind) async throws {
        try await withStore(kind) { test in
            let (store, queue) = (test.store, DurableQueue("q", in: test.store))
            for name in [composed, decomposed] {
                try await store.schedule(name, try CronSchedule("* * * * *"), Sum(a: 1, b: 1), in: queue)
            }
            try await store.removeSchedule(decomposed)
            let names = try await store.read { try $0.rows.schedules().map { $0.name.utf8.count } }
            #expect(names == [5])
        }
    }
}
