import Dispatch
import DurableCore
import Foundation
import GRDB
import Operations
import Testing

@testable import OperationsDurable

#if Postgres
@testable import OperationsDurablePostgres
#endif

@Suite struct HeartbeatTests {
    @Test func `R7: a worker renews its leases while tasks occupy all threads of the concurrency runtime`() async {
        // In a process of its own, because all other tasks of the process stand still.
        await #expect(processExitsWith: .success) {
            let queue = Operations.OperationQueue()
            queue.maxConcurrentOperationCount = 4
            try await withTaskExecutorPreference(queue) { try await HeartbeatTests.renewLeasesWithoutRuntime() }
        }
    }

    private static func renewLeasesWithoutRuntime() async throws {
        try await withTemporaryFile { path in
            let store = try await SQLiteStore(path: path)
            var configuration = DurableWorker.Configuration()
            configuration.lease = .milliseconds(300)
            let worker = try DurableWorker(
                store, queues: ["q": .limit(1)], operations: [Sum.self], configuration: configuration)
            let running = Task { try await worker.run() }
            func registration() async throws -> WorkerRow? { try await store.read { try $0.rows.workers().first } }
            func poll(_ condition: () async throws -> Bool) async throws {
                while try await !condition() { try await OperationClock().sleep(for: .milliseconds(2)) }
            }
            try await poll { try await registration() != nil }
            let first = try await registration()
            let (blocked, isOver) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
            let count = ProcessInfo.processInfo.activeProcessorCount * 4
            for _ in 0..<count {
                Task.detached {
                    blocked.signal()
                    block(isOver)
                }
            }
            for _ in 0..<ProcessInfo.processInfo.activeProcessorCount { block(blocked) }
            for _ in 0..<3 {
                let before = try await registration()
                try await poll { try await registration()?.leaseEnd != before?.leaseEnd }
                // A worker whose leases have expired registers again.
                let present = try await registration()
                precondition(present?.id == first?.id)
            }
            let sum = try await DurableQueue("q", in: store).add(Sum(a: 1, b: 2)).value
            precondition(sum == 3)
            for _ in 0..<count { isOver.signal() }
            running.cancel()
            try await running.value
        }
    }

    // MARK: - Transactions of an application

    /// Keeps a transaction of another process open until the body has returned.
    private static func withTransaction(
        of store: any DurableStore, _ body: () async throws -> Void
    ) async throws {
        let (isOpen, mayEnd) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        @Sendable func hold() {
            isOpen.signal()
            mayEnd.wait()
        }
        let transaction = Task.detached {
            if let store = store as? SQLiteStore {
                try await store.transaction { database in
                    try database.execute(sql: "CREATE TABLE t(a)")
                    hold()
                }
            }
            #if Postgres
            if let store = store as? PostgresStore {
                try await store.transaction { transaction in
                    try transaction.execute("CREATE TABLE t(a int)")
                    hold()
                }
            }
            #endif
        }
        await pass(isOpen)
        let result: Result<Void, any Error>
        do { result = .success(try await body()) } catch { result = .failure(error) }
        mayEnd.signal()
        try await transaction.value
        try result.get()
    }

    /// Calls the body with two stores of one database, as two processes have them.
    private func withStores(
        _ kind: StoreKind, wait: Duration,
        _ body: (any DurableStore, any DurableStore, any DurableStore) async throws -> Void
    ) async throws {
        switch kind {
        case .memory: return
        case .sqlite:
            try await withTemporaryFile { path in
                var configuration = SQLiteStore.Configuration()
                configuration.busyTimeout = wait
                try await body(
                    try await SQLiteStore(path: path, configuration: configuration), try await SQLiteStore(path: path),
                    try await SQLiteStore(path: path))
            }
        #if Postgres
        case .postgres:
            try await withPostgres { server, schema in
                var configuration = PostgresStore.Configuration()
                (configuration.lockTimeout, configuration.longTransaction) = (wait, .milliseconds(300))
                // On a busy machine, the tests keep transactions open for more than the default.
                configuration.transactionTimeout = .seconds(60)
                let url = server.url(schema: schema)
                var other = PostgresStore.Configuration()
                other.transactionTimeout = .seconds(60)
                try await body(
                    try await PostgresStore(url, configuration: configuration),
                    try await PostgresStore("\(url)&application_name=invoices", configuration: other),
                    try await PostgresStore(url))
            }
        #endif
        }
    }

    @Test(arguments: StoreKind.allCases.filter { $0 != .memory }, [false, true])
    func `R33: no transaction of an application costs a live worker its lease`(_ kind: StoreKind, isOwn: Bool)
        async throws
    {
        try await withStores(kind, wait: .seconds(30)) { store, other, third in
            let journal = Journal.named("R33 \(kind) \(isOwn)")
            let queue = DurableQueue("q", in: store)
            let endless = try await queue.add(Endless(journal: "R33 \(kind) \(isOwn)"))
            var configuration = DurableWorker.Configuration()
            configuration.lease = .seconds(2)
            try await withWorker(store, [Endless.self], configuration: configuration) {
                try await endless.reaches(.running)
                let row = try await store.read { try $0.rows.operations([endless.id])[0] }
                var release: Task<Void, any Error>?
                try await Self.withTransaction(of: isOwn ? store : other) {
                    // The first request at the lock releases expired leases.
                    release = Task { _ = try await third.commit { try $0.expireLeases() } }
                    // The transaction is longer than some leases. The readers wait for no transaction.
                    for _ in 0..<3 {
                        let now = try await store.read { $0.now }
                        try await poll("a lease has passed") {
                            try await store.read { $0.now } > now + .seconds(2)
                        }
                    }
                }
                try await release?.value
                let sum = try await DurableQueue("p", in: other).add(Sum(a: 1, b: 2))
                _ = try await other.commit { try $0.expireLeases() }
                #expect(try await sum.state == .ready)
                let last = try await store.read { try $0.rows.operations([endless.id])[0] }
                #expect(last.state == .running && last.fence == row.fence && last.lostLeases == 0)
                try await endless.cancel()
                try await endless.reaches(.cancelled)
            }
            #expect(journal.count("start") == 1)
        }
    }

    @Test(arguments: StoreKind.allCases.filter { $0 != .memory })
    func `R33: a renewal of leases does not wait for a question, however long its answer takes`(
        _ kind: StoreKind
    ) async throws {
        try await withStore(kind) { test in
            let store = test.store
            let worker = try await store.commit { try $0.register("w", kinds: [], queues: [], lease: .seconds(60)) }
            let (isRead, mayEnd, isAnswered) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0), Locked(false))
            let question = Task.detached {
                try await store.read { _ in
                    isRead.signal()
                    // The limit ends a renewal that waits, so that the test fails.
                    _ = mayEnd.wait(timeout: .now() + 60)
                    isAnswered.withLock { $0 = true }
                }
            }
            await Self.pass(isRead)
            let result: Result<String?, any Error>
            do { result = .success(try await store.renewLeases(of: worker, for: .seconds(90))) } catch {
                result = .failure(error)
            }
            #expect(!isAnswered.withLock { $0 })
            mayEnd.signal()
            try await question.value
            _ = try result.get()
        }
    }

    #if Postgres
    @Test(
        .enabled(if: PostgresServer.isInstalled),
        arguments: ["LOCK TABLE durable_worker", "SELECT FROM durable_worker FOR UPDATE"])
    func `R33: a lock of the rows of workers that ends costs no live worker its lease`(_ statement: String) async throws
    {
        try await withPostgres { server, schema in
            var options = PostgresStore.Configuration()
            // On a busy machine, a heartbeat may take long after the lock.
            options.leasePatience = .seconds(20)
            let store = try await PostgresStore(server.url(schema: schema), configuration: options)
            let endless = try await DurableQueue("q", in: store).add(Endless(journal: "R33 \(statement)"))
            var configuration = DurableWorker.Configuration()
            configuration.lease = .seconds(3)
            try await withWorker(store, [Endless.self], configuration: configuration) {
                try await endless.reaches(.running)
                let connection = try server.connection(schema)
                try connection.executeAll("BEGIN; \(statement)")
                try await OperationClock().sleep(for: configuration.lease * 2)
                try connection.execute("COMMIT")
                for number in 0..<20 {
                    try await DurableQueue("p", in: store).add(Sum(a: number, b: 0))
                    _ = try await store.commit { try $0.expireLeases() }
                }
                let row = try await store.read { try $0.rows.operations([endless.id])[0] }
                #expect(row.state == .running && row.lostLeases == 0 && row.fence == 1)
                try await endless.cancel()
                try await endless.reaches(.cancelled)
            }
        }
    }

    @Test(.enabled(if: PostgresServer.isInstalled))
    func `R33: a commit that has read the row of a worker does not shorten a lease that is renewed meanwhile`()
        async throws
    {
        try await withPostgres { server, schema in
            let store = try await PostgresStore(server.url(schema: schema))
            let worker = try await store.commit { try $0.register("w", kinds: [], queues: [], lease: .seconds(5)) }
            let (isRead, mayEnd) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
            let commit = Task.detached {
                try await store.commit { machine in
                    try machine.heartbeat(worker, lease: .seconds(10))
                    isRead.signal()
                    mayEnd.wait()
                }
            }
            await Self.pass(isRead)
            let result: Result<String?, any Error>
            do { result = .success(try await store.renewLeases(of: worker, for: .seconds(600))) } catch {
                result = .failure(error)
            }
            mayEnd.signal()
            try await commit.value
            _ = try result.get()
            let rest = try await store.read { try $0.rows.workers()[0].leaseEnd - $0.now }
            #expect(rest > .seconds(300))
        }
    }
    #endif

    @Test(arguments: StoreKind.allCases.filter { $0 != .memory }, [false, true])
    func `R33: an addition waits for a transaction no longer than its limit, and names the holder`(
        _ kind: StoreKind, isOwn: Bool
    ) async throws {
        try await withStores(kind, wait: .milliseconds(400)) { store, other, _ in
            let queue = DurableQueue("q", in: store)
            try await Self.withTransaction(of: isOwn ? store : other) {
                // The second addition begins while the first one waits.
                let start = ContinuousClock.now
                let first = Task { try await queue.add(Sum(a: 1, b: 2)) }
                try await OperationClock().sleep(for: .milliseconds(200))
                let second = Task { try await queue.add(Sum(a: 3, b: 4)) }
                for addition in [first, second] {
                    let error = await #expect(throws: DurableError.self) { try await addition.value }
                    let text = "\(try #require(error))"
                    let holder = kind == .sqlite ? "process \(getpid())" : isOwn ? "of this process" : "'invoices'"
                    #expect(text.contains(holder), "\(text)")
                    #expect(ContinuousClock.now - start < .seconds(20))
                }
            }
            #expect(try await queue.counts() == [:])
            try await queue.add(Sum(a: 5, b: 6))
        }
    }

    @Test(arguments: sharedKinds)
    func `R33: an addition that shares a commit with a transaction waits for it no longer than its limit`(
        _ kind: StoreKind
    )
        async throws
    {
        try await withStores(kind, wait: .milliseconds(800)) { store, _, _ in
            let queue = DurableQueue("q", in: store)
            var additions: [Task<DurableHandle<Int>, any Error>] = []
            var transactions: [Task<Void, any Error>] = []
            let (first, second) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
            defer { for semaphore in [first, second] { semaphore.signal() } }
            let isFirst = Locked(false)
            transactions.append(
                Task {
                    try await Self.transaction(of: store) {
                        isFirst.withLock { $0 = true }
                        Self.block(first)
                    }
                })
            try await poll("the transaction runs") { isFirst.withLock { $0 } }
            // The next group has an addition and a transaction, whichever comes first.
            transactions.append(Task { try await Self.transaction(of: store) { Self.block(second) } })
            additions.append(Task { try await queue.add(Sum(a: 1, b: 2)) })
            try await poll("both wait") { Self.pendingCount(store) == 2 }
            first.signal()
            let error = await #expect(throws: DurableError.self) { try await additions[0].value }
            let text = "\(try #require(error))"
            #expect(text.contains(kind == .sqlite ? "process \(getpid())" : "of this process"), "\(text)")
            second.signal()
            for transaction in transactions { try await transaction.value }
            // The addition is not in the commit of the transaction.
            #expect(try await queue.counts() == [:])
            _ = try await queue.add(Sum(a: 3, b: 4))
        }
    }

    private static func transaction(of store: any DurableStore, _ body: @escaping @Sendable () -> Void) async throws {
        #if Postgres
        if let store = store as? PostgresStore { return try await store.transaction { _ in body() } }
        #endif
        try await (store as? SQLiteStore)?.transaction { _ in body() }
    }

    private static func pendingCount(_ store: any DurableStore) -> Int? {
        #if Postgres
        if let store = store as? PostgresStore { return store.committer.requests.pendingCount }
        #endif
        return (store as? SQLiteStore)?.committer.requests.pendingCount
    }

    private static func pass(_ semaphore: DispatchSemaphore) async {
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async {
                semaphore.wait()
                continuation.resume()
            }
        }
    }

    /// Blocks the thread of a task on purpose.
    private static func block(_ semaphore: DispatchSemaphore) { semaphore.wait() }
}
