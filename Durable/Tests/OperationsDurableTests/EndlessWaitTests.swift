import DurableCore
import DurableTesting
import OperationsDurable
import Testing

/// R3: a wait that could never end is refused.
@Suite struct EndlessWaitTests {
    /// Starts the operations of a queue, and returns their leases.
    private func start(_ store: any DurableStore, _ queue: String, _ count: Int = 1) async throws -> [Lease] {
        try await store.commit { machine in
            let worker = try machine.register("w", kinds: ["sum"], queues: [queue], lease: .seconds(300))
            return try machine.claim(for: worker, slots: [(queue, count)], kinds: ["sum"]).compactMap(\.lease)
        }
    }

    private func sum(in queue: String, after: [OperationID] = [], isChild: Bool = false, isBarrier: Bool = false)
        -> NewOperation
    {
        var new = NewOperation(name: "sum", queue: queue)
        (new.after, new.isChild, new.isBarrier) = (after.map { .existing($0) }, isChild, isBarrier)
        return new
    }

    private func isCycle(_ error: (any Error)?) -> Bool {
        if case .cycle? = error as? DurableError { true } else { false }
    }

    @Test(arguments: StoreKind.allCases)
    func `R3: an operation does not wait for an operation behind a barrier that waits for it`(_ kind: StoreKind)
        async throws
    {
        try await withStore(kind) { test in
            let store = test.store
            _ = try await store.commit { try $0.add([sum(in: "q")]) }
            let lease = try await start(store, "q")[0]
            _ = try await store.commit { try $0.add([sum(in: "q", isBarrier: true)]) }
            let behind = try await store.commit { try $0.add([sum(in: "q")], position: 0, by: lease)[0] }
            let dependent = try await store.commit { try $0.add([sum(in: "r", after: [behind])])[0] }
            for id in [behind, dependent] {
                let error = await #expect(throws: DurableError.self) {
                    try await store.commit { try $0.awaitOperations([id], name: "w", position: 1, by: lease) }
                }
                #expect(isCycle(error), "\(String(describing: error))")
            }
            // Operations before the barrier, and in other queues, are no cycle.
            let beside = try await store.commit { try $0.add([sum(in: "r")])[0] }
            let reply = try await store.commit {
                try $0.awaitOperations([beside], name: "w", position: 1, by: lease)
            }
            #expect(reply == .suspended)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `R3: a child does not wait for an operation that waits for its parent`(_ kind: StoreKind) async throws {
        try await withStore(kind) { test in
            let store = test.store
            let parent = try await store.commit { try $0.add([sum(in: "q")])[0] }
            let dependent = try await store.commit { try $0.add([sum(in: "q", after: [parent])])[0] }
            let lease = try await start(store, "q")[0]
            var through = sum(in: "q", isChild: true)
            through.after = [.member(1)]
            let batches = [
                [sum(in: "q", after: [dependent], isChild: true)], [through, sum(in: "q", after: [dependent])],
            ]
            for batch in batches {
                let error = await #expect(throws: DurableError.self) {
                    try await store.commit { [batch] in try $0.add(batch, position: 0, by: lease) }
                }
                #expect(isCycle(error), "\(String(describing: error))")
            }
            let others = try await store.commit {
                try $0.add([sum(in: "q", after: [dependent]), sum(in: "q", isChild: true)], position: 0, by: lease)
            }
            #expect(others.count == 2)
        }
    }

    /// Adds an operation behind a barrier of queue "x" that waits for the operation through a barrier of another queue.
    private func addBehindTwoBarriers(of operation: OperationID, _ store: any DurableStore) async throws -> OperationID
    {
        let (barrier, behind) = (sum(in: "q", after: [operation], isBarrier: true), sum(in: "q"))
        _ = try await store.commit { try $0.add([barrier]) }
        let middle = try await store.commit { try $0.add([behind])[0] }
        let second = sum(in: "x", after: [middle], isBarrier: true)
        return try await store.commit { machine in
            _ = try machine.add([second])
            return try machine.add([sum(in: "x")])[0]
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `R3: an operation does not wait for an operation behind two barriers that wait for it`(_ kind: StoreKind)
        async throws
    {
        try await withStore(kind) { test in
            let store = test.store
            let waiting = try await store.commit { try $0.add([sum(in: "p")])[0] }
            let lease = try await start(store, "p")[0]
            let behind = try await addBehindTwoBarriers(of: waiting, store)
            let error = await #expect(throws: DurableError.self) {
                try await store.commit { try $0.awaitOperations([behind], name: "w", position: 0, by: lease) }
            }
            guard case .cycle(let path)? = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(path.first == "operation \(waiting)" && path.last == path.first)
            #expect(path.contains("operation \(behind)") && path.contains("a barrier of queue 'q'"))
            // An operation behind barriers that do not wait for the operation is no cycle.
            let (barrier, beside) = (sum(in: "y", isBarrier: true), sum(in: "y"))
            let other = try await store.commit { try $0.add([barrier, beside])[1] }
            let reply = try await store.commit {
                try $0.awaitOperations([other], name: "w", position: 0, by: lease)
            }
            #expect(reply == .suspended)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `R3: a child does not go behind barriers that wait for its parent, and waits for nothing behind them`(
        _ kind: StoreKind
    ) async throws {
        try await withStore(kind) { test in
            let store = test.store
            let parent = try await store.commit { try $0.add([sum(in: "p")])[0] }
            let lease = try await start(store, "p")[0]
            let behind = try await addBehindTwoBarriers(of: parent, store)
            var through = sum(in: "free", isChild: true)
            through.after = [.member(0)]
            let batches = [
                [sum(in: "x", isChild: true)], [sum(in: "x", isChild: true, isBarrier: true)],
                [sum(in: "free", after: [behind], isChild: true)],
                // The other member is behind one barrier, or behind two.
                [sum(in: "q"), through], [sum(in: "x"), through], [sum(in: "p", isBarrier: true), through],
            ]
            for batch in batches {
                let error = await #expect(throws: DurableError.self) {
                    try await store.commit { try $0.add(batch, position: 0, by: lease) }
                }
                #expect(isCycle(error), "\(batch.map(\.queue)): \(String(describing: error))")
            }
            // In queue "q", the child precedes the barrier that waits for its parent.
            let (barrier, second) = (sum(in: "y", isBarrier: true), sum(in: "y", isChild: true))
            let children = try await store.commit {
                _ = try $0.add([barrier])
                return try $0.add([sum(in: "q", isChild: true), second], position: 0, by: lease)
            }
            let started = try await start(store, "q", 9)
            #expect(started.map(\.operation) == [children[0]])
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `R18: a child in the queue of an ancestor starts before a barrier that waits for the ancestor`(
        _ kind: StoreKind
    ) async throws {
        try await withStore(kind) { test in
            let store = test.store
            _ = try await store.commit { try $0.add([sum(in: "q")]) }
            let lease = try await start(store, "q")[0]
            _ = try await store.commit { try $0.add([sum(in: "r", isChild: true)], position: 0, by: lease) }
            let child = try await start(store, "r")[0]
            _ = try await store.commit { try $0.add([sum(in: "q", isBarrier: true)]) }
            await #expect(throws: DurableError.self) {
                try await store.commit {
                    try $0.add([sum(in: "q", isChild: true, isBarrier: true)], position: 0, by: child)
                }
            }
            let grandchild = try await store.commit {
                try $0.add([sum(in: "q", isChild: true)], position: 0, by: child)[0]
            }
            // A child that is added again by `retry` is no exception.
            try await store.commit { try $0.discard([grandchild], reason: "test") }
            try await store.commit { try $0.retry([grandchild]) }
            let started = try await start(store, "q", 9)
            #expect(started.map(\.operation) == [grandchild])
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `R18: a child starts before a barrier that waits for a dependent of its parent`(_ kind: StoreKind) async throws
    {
        try await withStore(kind) { test in
            let store = test.store
            let parent = try await store.commit { try $0.add([sum(in: "r")])[0] }
            _ = try await store.commit { try $0.add([sum(in: "q", after: [parent])]) }
            _ = try await store.commit { try $0.add([sum(in: "q", isBarrier: true)]) }
            let lease = try await start(store, "r")[0]
            await #expect(throws: DurableError.self) {
                try await store.commit {
                    try $0.add([sum(in: "q", isChild: true, isBarrier: true)], position: 0, by: lease)
                }
            }
            let child = try await store.commit { try $0.add([sum(in: "q", isChild: true)], position: 0, by: lease)[0] }
            let started = try await start(store, "q", 9)
            #expect(started.map(\.operation) == [child])
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `R4: a child whose unique key is held is the holder, also if its dependencies would be a cycle`(
        _ kind: StoreKind
    )
        async throws
    {
        try await withStore(kind) { test in
            let store = test.store
            var unique = sum(in: "r")
            unique.unique = "k"
            let holder = try await store.commit { [unique] in try $0.add([unique])[0] }
            let parent = try await store.commit { try $0.add([sum(in: "q")])[0] }
            let dependent = try await store.commit { try $0.add([sum(in: "r", after: [parent])])[0] }
            let lease = try await start(store, "q")[0]
            var child = sum(in: "r", after: [dependent], isChild: true)
            child.unique = "k"
            let ids = try await store.commit { [child] in try $0.add([child], position: 0, by: lease) }
            #expect(ids == [holder])
        }
    }
}
