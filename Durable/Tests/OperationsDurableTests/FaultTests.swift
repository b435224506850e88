import DurableCore
import DurableTesting
import Foundation
import GRDB
import OperationsTesting
import Testing

@testable import OperationsDurable

/// Rules R26 to R30, and injected faults.
@Suite struct FaultTests {
    @Test(arguments: 1...6)
    func `R28: lost replies and failed commits lose no operation and repeat no completed step`(_ seed: UInt64)
        async throws
    {
        let store = MemoryStore()
        let queue = DurableQueue("q", in: store)
        let name = "faults \(seed)"
        var handles: [DurableHandle<Int>] = []
        for number in 0..<60 {
            let after: [any DurableReference] = number % 3 == 2 ? [handles[number / 2]] : []
            handles.append(try await queue.add(Faulty(journal: name, number: number), after: after))
        }
        let random = Locked(SeededGenerator(seed: seed))
        store.setFaults {
            switch random.withLock({ Int.random(in: 0..<6, using: &$0) }) {
            case 0: .lostReply
            case 1: .failedCommit
            default: nil
            }
        }
        try await withWorker(store, [Faulty.self]) {
            for (number, handle) in handles.enumerated() {
                let value = try await handle.value
                #expect(value == number * 2, "seed \(seed)")
            }
            store.setFaults(nil)
        }
        try store.checkInvariants()
        let counts = try await queue.counts()
        #expect(counts == [.succeeded: 60], "seed \(seed)")
        // The worker repeats a lost record of a step, and not the body.
        for number in 0..<60 { #expect(Journal.named(name).count("step \(number)") == 1, "seed \(seed)") }
    }

    @Test func `R28: a worker that stops while the database is away ends after its grace`() async throws {
        let store = MemoryStore()
        let name = "stop without database"
        let handle = try await DurableQueue("q", in: store).add(Held(journal: name))
        var configuration = DurableWorker.Configuration()
        configuration.shutdownGrace = .milliseconds(50)
        try await withWorker(store, [Held.self], configuration: configuration) {
            try await poll("the operation runs") { Journal.named(name).count("start") == 1 }
            store.setFaults { .failedCommit }
            Journal.named(name).append("open")
            try await poll("the attempt has ended") { Journal.named(name).count("end") == 1 }
        }
        // The worker has ended. The lease passes, and another worker runs the operation again.
        store.setFaults(nil)
        store.advance(by: .seconds(31))
        try await withWorker(store, [Held.self]) {
            let value = try await handle.value
            #expect(value == 7)
        }
        #expect(Journal.named(name).count("start") == 2)
    }

    /// Records a step, sleeps for no time, and returns the double of its number.
    struct Faulty: DurableOperation {
        static let name = "faulty"
        var journal: String
        var number: Int

        func run(_ context: DurableContext) async throws -> Int {
            let value = try await context.step("double") {
                Journal.named(journal).append("step \(number)")
                return number * 2
            }
            try await context.sleep(for: .zero)
            return value
        }
    }

    @Test func `R28: a full disk refuses additions, and everything added before finishes afterward`() async throws {
        try await withTemporaryFile { path in
            let limit = Locked(Int64.max)
            var configuration = SQLiteStore.Configuration()
            configuration.pageLimit = { limit.withLock { min($0, 4_294_967_294) } }
            let store = try await SQLiteStore(path: path, configuration: configuration)
            let queue = DurableQueue("q", in: store)
            let journal = Journal.named("full disk")
            let held = try await queue.add(Held(journal: "full disk"))
            try await withWorker(store, [Held.self, Sum.self]) {
                try await poll("the operation runs") { journal.count("start") == 1 }
                // SQLite reports a file of the largest size exactly as it reports a full disk. The store sets the limit after
                // a transaction of the application, and the least limit is the size of the file.
                limit.withLock { $0 = 1 }
                try await store.transaction { _ in }
                let big = Note(journal: "full disk", word: String(repeating: "x", count: 200_000))
                let error = await #expect(throws: DurableError.self) { try await queue.add(big) }
                #expect("\(try #require(error))".contains("full"))
                journal.append("open")
                try await poll("the attempt has ended") { journal.count("end") == 1 }
                limit.withLock { $0 = .max }
                try await store.transaction { _ in }
                #expect(try await held.value == 7)
                #expect(try await queue.add(Sum(a: 1, b: 1)).value == 2)
            }
            #expect(journal.count("start") == 1)
        }
    }

    @Test func `R28: a removed file is an error of each addition, and a returned file continues`() async throws {
        try await withTemporaryFile { path in
            let store = try await SQLiteStore(path: path)
            let queue = DurableQueue("q", in: store)
            let journal = Journal.named("removed file")
            let held = try await queue.add(Held(journal: "removed file"))
            try await withWorker(store, [Held.self, Sum.self]) {
                try await poll("the operation runs") { journal.count("start") == 1 }
                func move(_ from: String, _ to: String) throws {
                    for suffix in ["", "-wal", "-shm"] {
                        try FileManager.default.moveItem(
                            atPath: path + from + suffix, toPath: path + to + suffix)
                    }
                }
                try move("", ".away")
                let error = await #expect(throws: DurableError.self) { try await queue.add(Sum(a: 1, b: 1)) }
                #expect("\(try #require(error))".contains("removed or replaced"))
                journal.append("open")
                try await poll("the attempt has ended") { journal.count("end") == 1 }
                try move(".away", "")
                #expect(try await held.value == 7)
            }
            #expect(journal.count("start") == 1)
            #expect(try await queue.counts() == [.succeeded: 1])
        }
    }

    @Test func `R26: a migrated file keeps its rows, and a second migration changes nothing`() async throws {
        try await withTemporaryFile { path in
            let first = try await SQLiteStore(path: path)
            let sum = try await DurableQueue("q", in: first).add(Sum(a: 1, b: 2))
            let second = try await SQLiteStore(path: path)
            #expect(second.identity == first.identity)
            #expect(try await DurableHandle<Int>(id: sum.id, store: second).state == .ready)
        }
    }

    @Test func `R26: a newer schema is refused unless it permits this version`() async throws {
        try await withTemporaryFile { path in
            let store = try await SQLiteStore(path: path)
            try await store.transaction {
                try $0.execute(sql: "UPDATE durable_meta SET value = 9 WHERE name IN ('schema', 'oldest_reader')")
            }
            await #expect(throws: DurableError.newerSchema(found: 9, supported: Schema.version)) {
                _ = try await SQLiteStore(path: path)
            }
            try await DatabaseQueue(path: path).write { database in
                try database.execute(sql: "UPDATE durable_meta SET value = 2 WHERE name = 'oldest_reader'")
            }
            _ = try await SQLiteStore(path: path)
        }
    }

    @Test(arguments: sharedKinds)
    func `R35: a program reports a newer schema also if the schema lacks the tables and columns of the program`(
        _ kind: StoreKind
    ) async throws {
        try await withDatabase(kind) { database in
            let queue = DurableQueue("q", in: database.store)
            let held = try await queue.add(Sum(a: 1, b: 2))
            let worker = try DurableWorker(database.store, queues: ["q": .limit(1)], operations: [Note.self])
            let running = Task { try await worker.run() }
            try await poll("the worker is registered") { try await database.store.snapshot().workers.count == 1 }
            let connection = try database.connect()
            let (prefix, column) = database.schema.map { ("\($0).", "number") } ?? ("", "value")
            try connection.execute("BEGIN")
            for (table, old) in [("queue", "last_epoch"), ("operation", "fence"), ("worker", "process")] {
                try connection.execute("ALTER TABLE \(prefix)durable_\(table) RENAME COLUMN \(old) TO newer")
            }
            try connection.execute("ALTER TABLE \(prefix)durable_counter RENAME TO durable_newer")
            try connection.execute(
                "UPDATE \(prefix)durable_meta SET \(column) = 99 WHERE name IN ('schema', 'oldest_reader')")
            try connection.execute("COMMIT")
            let error = DurableError.newerSchema(found: 99, supported: Schema.version)
            await #expect(throws: error) { try await queue.add(Sum(a: 1, b: 2)) }
            await #expect(throws: error) { try await held.state }
            await #expect(throws: error) { try await queue.counts() }
            await #expect(throws: error) { try await database.store.snapshot() }
            await #expect(throws: error) { try await database.store.cancel([held.id]) }
            await #expect(throws: error) { _ = try await database.open() }
            await #expect(throws: error) { try await running.value }
        }
    }

    @Test func `R26: a worker of version 2, which misreads caught errors, does not open the file`() async throws {
        try await withTemporaryFile { path in
            _ = try await SQLiteStore(path: path)
            let numbers = try await DatabaseQueue(path: path).read { database in
                try Row.fetchAll(
                    database, sql: "SELECT name, value FROM durable_meta WHERE name IN ('schema', 'oldest_reader')"
                )
                .reduce(into: [:]) { $0[$1["name"] as String] = $1["value"] as Int }
            }
            // A worker refuses the file if the oldest reader is newer than the worker.
            #expect(numbers == ["schema": 5, "oldest_reader": 3])
        }
    }

    @Test
    func `R26: statements of a worker of version 3 keep the deaths of an operation, and register without a process`()
        async throws
    {
        try await withTemporaryFile { path in
            let store = try await SQLiteStore(path: path)
            let sum = try await DurableQueue("q", in: store).add(Sum(a: 1, b: 2))
            try await store.transaction { database in
                try database.execute(
                    sql: """
                        UPDATE durable_operation SET crashes = 2, death = 7; UPDATE durable_operation SET reason = 'x';
                        INSERT INTO durable_worker(id, name, lease_end, kinds, queues) VALUES (9, '', 1, 'sum', 'q') \
                        ON CONFLICT (id) DO UPDATE SET name = '', lease_end = 1, kinds = 'sum', queues = 'q'
                        """)
            }
            let (row, worker) = try await store.read { machine in
                (try machine.rows.operations([sum.id])[0], try machine.rows.worker(WorkerID(9)))
            }
            #expect(row.crashes == 2 && row.death == WorkerID(7) && row.reason == "x")
            #expect(worker != nil && worker?.process == nil && worker?.isolates == nil)
            // A program of version 3 knows no state, counter or end of a wait with the number of `crashed`.
            var crashed = row
            crashed.state = .crashed
            #expect(crashed.counter.state == .failed)
            #expect(AwaitedEnd(state: .crashed, content: []).bytes[0] == UInt8(DurableState.failed.rawValue))
        }
    }

    @Test func `R26: all statements of a worker of version 1 run on this schema`() async throws {
        try await withTemporaryFile { path in
            let store = try await SQLiteStore(path: path)
            try await store.transaction { database in
                for (name, text) in Version1.statements {
                    #expect(throws: Never.self, "\(name)") { try database.makeStatement(sql: text) }
                }
            }
        }
    }

    @Test func `R26: operations of a file of version 1 run after the migration, beside statements of version 1`()
        async throws
    {
        try await withTemporaryFile { path in
            var waiting = Configuration()
            waiting.busyMode = .timeout(60)
            let old = try DatabaseQueue(path: path, configuration: waiting)
            try await old.write { database in
                try database.execute(sql: Schema.migrations[0])
                try database.execute(sql: "INSERT INTO durable_meta(name, value) VALUES ('schema', 1)")
                try database.execute(sql: "INSERT INTO durable_queue(name) VALUES ('q')")
                try database.execute(sql: "INSERT INTO durable_kind(name) VALUES ('sum')")
            }
            try await Self.addByVersion1(OperationID(1), to: old)
            let store = try await SQLiteStore(path: path)
            try await withWorker(store, [Sum.self]) {
                #expect(try await DurableHandle<Int>(id: OperationID(1), store: store).value == 5)
                try await Self.addByVersion1(OperationID(2), to: old)
                #expect(try await DurableHandle<Int>(id: OperationID(2), store: store).value == 5)
            }
            #expect(try await DurableQueue("q", in: store).counts() == [.succeeded: 2])
        }
    }

    /// Adds a ready `Sum` by the statements of version 1.
    private static func addByVersion1(_ id: OperationID, to database: DatabaseQueue) async throws {
        try await database.write { database in
            func run(_ name: String, _ arguments: StatementArguments) throws {
                try database.execute(sql: #require(Version1.statements[name]), arguments: arguments)
            }
            let empty: (any DatabaseValueConvertible)? = nil
            let head: [(any DatabaseValueConvertible)?] = [id.rawValue, 1, 1, 0, 0, 3, 0, empty, 0, 0, empty, 0, empty]
            let middle: [(any DatabaseValueConvertible)?] = [empty, empty, 0, 0, 0, empty, empty, empty, 0]
            let tail: [(any DatabaseValueConvertible)?] = [empty, empty, empty, 0, 0, empty, empty, empty]
            let input = Data(#"{"a":2,"b":3}"#.utf8)
            try run("insertOperation", StatementArguments(head + middle + tail + [input]))
            try run("addCounter", [1, 0, 1, 3, 1])
            try run("setMeta", ["next_operation", id.rawValue + 1])
        }
    }

    @Test func `a file that cannot be opened is an error with its path`() async throws {
        let error = await #expect(throws: DurableError.self) {
            _ = try await SQLiteStore(path: "/nonexistent/work.db")
        }
        #expect(error?.description.contains("'/nonexistent/work.db' cannot be opened") == true)
        try await withTemporaryFile { path in
            try Data("this is no database, and long enough to be refused".utf8).write(to: URL(fileURLWithPath: path))
            let error = await #expect(throws: DurableError.self) { _ = try await SQLiteStore(path: path) }
            #expect(error?.description.contains("is not a database") == true)
        }
    }

    @Test func `R1: a commit reaches the disk unless the configuration relaxes this`() async throws {
        try await withTemporaryFile { path in
            var configuration = SQLiteStore.Configuration()
            let level: @Sendable (Database) throws -> Int? = { try Int.fetchOne($0, sql: "PRAGMA synchronous") }
            let full = try await SQLiteStore(path: path).transaction(level)
            #expect(full == 2)
            configuration.synchronous = .normal
            let normal = try await SQLiteStore(path: path, configuration: configuration).transaction(level)
            #expect(normal == 1)
        }
    }

    @Test func `an addition in a transaction of another file is refused`() async throws {
        try await withStore(.sqlite) { test in
            let queue = DurableQueue("q", in: test.store)
            let other = try DatabaseQueue()
            #expect(throws: DurableError.noSchema) {
                _ = try other.write { try queue.add(Sum(a: 1, b: 1), in: $0) }
            }
            _ = try await queue.counts()
        }
    }

    @Test func `one request that throws does not affect the other requests of its commit`() async throws {
        try await withStore(.sqlite) { test in
            let store = try test.sqlite
            let queue = DurableQueue("q", in: store)
            let results = await withTaskGroup(of: Bool.self) { group in
                for number in 0..<100 {
                    group.addTask {
                        do {
                            if number % 3 == 0 {
                                _ = try await store.transaction { database in
                                    _ = try queue.add(Sum(a: number, b: 0), in: database)
                                    throw TestFailure()
                                }
                            } else if number % 3 == 1 {
                                let unknown = DurableHandle<Int>(id: OperationID(9_999), store: store)
                                try await queue.add(Sum(a: number, b: 0), after: [unknown])
                            } else {
                                try await queue.add(Sum(a: number, b: 0))
                            }
                            return true
                        } catch { return false }
                    }
                }
                return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
            }
            #expect(results == 33)
            let counts = try await queue.counts()
            #expect(counts == [.ready: 33])
        }
    }

    @Test(arguments: ["INSERT OR ROLLBACK INTO once VALUES (1)", "ROLLBACK", "COMMIT", "/* */ END"])
    func `a statement that ends the transaction of its group repeats no other request of the group`(statement: String)
        async throws
    {
        try await withTemporaryFile { path in
            let store = try await SQLiteStore(path: path)
            try await store.transaction { try $0.execute(sql: "CREATE TABLE once(id INTEGER PRIMARY KEY)") }
            let committer = try await GroupCommitter(testing: DatabaseQueue(path: path))
            let (begins, mayEnd, ends) = (
                DispatchSemaphore(value: 0), DispatchSemaphore(value: 0), DispatchSemaphore(value: 0)
            )
            let errors = Locked<[Bool]>([])
            func submit(_ work: GroupCommitter.Request.Work) {
                committer.submit(
                    .init(work: work) { error in
                        errors.withLock { $0.append(error != nil) }
                        ends.signal()
                    })
            }
            submit(
                .statements { database in
                    try database.execute(sql: "INSERT INTO once VALUES (1)")
                    begins.signal()
                    mayEnd.wait()
                })
            await Task.detached { begins.wait() }.value
            // Submitted during the first transaction, these requests are one group.
            submit(.event { _ = try $0.add([NewOperation(name: "sum", queue: "q")]) })
            submit(.statements { try $0.execute(sql: statement) })
            submit(.event { _ = try $0.add([NewOperation(name: "sum", queue: "q")]) })
            mayEnd.signal()
            await Task.detached { for _ in 0..<4 { ends.wait() } }.value
            #expect(errors.withLock { $0 } == [false, false, true, false])
            let counts = try await DurableQueue("q", in: store).counts()
            #expect(counts == [.ready: 2])
        }
    }

    #if os(Linux)
    /// The list of the system has more than a page then, and the lock of the file may be behind it.
    @Test func `the holder of a lock is named among thousands of other locks`() async throws {
        try await withTemporaryFile { path in
            let file = open(path + "-locks", O_RDWR | O_CREAT, 0o600)
            defer { close(file) }
            @Sendable func lock(_ count: Int) {
                for number in 0..<count {
                    var range = flock()
                    (range.l_type, range.l_whence) = (Int16(F_WRLCK), Int16(SEEK_SET))
                    (range.l_start, range.l_len) = (off_t(number * 2), 1)
                    #expect(fcntl(file, F_SETLK, &range) == 0)
                }
            }
            lock(500)
            let database = try DatabaseQueue(path: path)
            try await database.writeWithoutTransaction {
                try $0.execute(sql: "PRAGMA journal_mode = WAL; CREATE TABLE t(a)")
            }
            try await database.writeWithoutTransaction { database in
                try database.beginTransaction(.immediate)
                lock(2_000)
                #expect(WriterLock.holder(ofDatabase: path)?.hasPrefix("process \(getpid())") == true)
                try database.rollback()
            }
        }
    }
    #endif

    @Test func `the requests of a group wait once for a file that another process locks`() async throws {
        try await withTemporaryFile { path in
            _ = try await SQLiteStore(path: path)
            let other = try DatabaseQueue(path: path)
            let (waits, mayEnd) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
            let (count, ends) = (Locked(0), DispatchSemaphore(value: 0))
            var configuration = GRDB.Configuration()
            configuration.busyMode = .callback { _ in
                count.withLock { $0 += 1 }
                if count.withLock({ $0 }) == 1 {
                    waits.signal()
                    mayEnd.wait()
                }
                return false
            }
            let committer = try await GroupCommitter(
                testing: DatabaseQueue(path: path, configuration: configuration))
            let errors = Locked<[DurableError?]>([])
            @Sendable func submit(_ work: GroupCommitter.Request.Work) {
                committer.submit(
                    .init(work: work) { error in
                        errors.withLock { $0.append(error as? DurableError) }
                        ends.signal()
                    })
            }
            try await other.writeWithoutTransaction { database in
                try database.beginTransaction(.immediate)
                submit(.event { _ = try $0.add([NewOperation(name: "sum", queue: "q")]) })
                waits.wait()
                // Submitted while the first request waits, these requests are one group.
                for _ in 0..<2 { submit(.event { _ = try $0.add([NewOperation(name: "sum", queue: "q")]) }) }
                submit(.statements { try $0.execute(sql: "CREATE TABLE app(id INTEGER)") })
                mayEnd.signal()
                for _ in 0..<4 { ends.wait() }
                try database.rollback()
            }
            let texts = errors.withLock { $0 }.map { "\($0?.description ?? "")" }
            #expect(texts.count == 4 && texts.allSatisfy { $0.contains("process \(getpid())") }, "\(texts)")
            #expect(count.withLock { $0 } == 2)
        }
    }

    @Test func `R30: names and keys with quotes are values and not SQL`() async throws {
        try await withStore(.sqlite) { test in
            let name = #"q'"; DROP TABLE durable_operation; --"#
            let queue = DurableQueue(name, in: test.store)
            var options = DurableOptions()
            (options.unique, options.limitKey) = (name, name)
            let sum = try await queue.add(Sum(a: 1, b: 2), options: options)
            try await withWorker(test.store, queues: [name: .limit(1)], [Sum.self]) {
                let value = try await sum.value
                #expect(value == 3)
            }
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a graceful stop waits for running operations and starts no others`(_ kind: StoreKind) async throws {
        try await withStore(kind) { test in
            let queue = DurableQueue("q", in: test.store)
            let name = "stop \(kind)"
            let first = try await queue.add(Gated(journal: name))
            let second = try await queue.add(Gated(journal: name))
            let worker = try DurableWorker(test.store, queues: ["q": .limit(1)], operations: [Gated.self])
            let running = Task { try await worker.run() }
            try await poll("the operation runs") { Journal.named(name).count("start") == 1 }
            worker.stop()
            Journal.named(name).append("open")
            try await running.value
            #expect(try await first.state == .succeeded)
            #expect(try await second.state == .ready)
        }
    }

    /// A store that calls a closure between the first commit after which an operation runs, and the reply to the commit.
    private final class PausingStore: DurableStore {
        let memory = MemoryStore()
        let atClaim = Locked<(@Sendable () -> Void)?>(nil)

        var limits: DurableLimits { memory.limits }
        var identity: String { memory.identity }
        var notices: StoreNotices { memory.notices }

        func commit<Reply: Sendable>(
            _ event: @escaping @Sendable (inout DurableMachine) throws -> Reply
        ) async throws -> Reply {
            let reply = try await memory.commit(event)
            let counts = try await DurableQueue("q", in: memory).counts()
            if counts[.running, default: 0] > 0 { atClaim.withLock { $0.take() }?() }
            return reply
        }

        func read<Reply: Sendable>(
            _ question: @escaping @Sendable (inout DurableMachine) throws -> Reply
        ) async throws -> Reply { try await memory.read(question) }
    }

    @Test(arguments: [false, true])
    func `a stop starts no operation of a claim whose reply is under way`(_ isCancelled: Bool) async throws {
        let (store, name) = (PausingStore(), "claim under way \(isCancelled)")
        let worker = try DurableWorker(store, queues: ["q": .limit(3)], operations: [Note.self])
        let running = Task { try await worker.run() }
        store.atClaim.withLock { $0 = { if isCancelled { running.cancel() } else { worker.stop() } } }
        let notes = try await DurableQueue("q", in: store.memory).add(
            contentsOf: ["a", "b", "c"].map { Note(journal: name, word: $0) })
        try await running.value
        #expect(Journal.named(name).all.isEmpty)
        let rows = try await store.read { try $0.rows.operations(notes.map(\.id)) }
        #expect(rows.map(\.state) == [.ready, .ready, .ready])
        #expect(rows.allSatisfy { $0.failures == 0 && $0.readyAt == $0.addedAt })
        try store.memory.checkInvariants()
    }

    /// Runs until the journal has the word `open`.
    struct Gated: DurableOperation {
        static let name = "gated"
        var journal: String

        func run(_ context: DurableContext) async throws {
            let journal = Journal.named(journal)
            journal.append("start")
            while journal.count("open") == 0 { try await Task.sleep(for: .milliseconds(1)) }
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a cancelled worker releases its operations without a failed attempt`(_ kind: StoreKind) async throws {
        try await withStore(kind) { test in
            let name = "release \(kind)"
            let endless = try await DurableQueue("q", in: test.store).add(Endless(journal: name))
            try await withWorker(test.store, [Endless.self]) {
                try await poll("the operation runs") { Journal.named(name).count("start") == 1 }
            }
            #expect(try await endless.state == .ready)
            let row = try await test.store.read { try $0.rows.operations([endless.id]).first }
            #expect(row?.failures == 0)
            #expect(row?.lostLeases == 0)
        }
    }
}

/// Runs until its journal has the entry `open`, and returns 7.
struct Held: DurableOperation {
    static let name = "held"
    var journal: String

    func run(_ context: DurableContext) async throws -> Int {
        let journal = Journal.named(journal)
        journal.append("start")
        try await poll("the gate is open") { journal.count("open") == 1 }
        journal.append("end")
        return 7
    }
}

extension GroupCommitter {
    /// Creates a committer without a store, for the file of a store.
    fileprivate convenience init(testing writer: DatabaseQueue) async throws {
        let settings = SQLiteSettings(
            synchronous: .normal, busyTimeout: .seconds(30), pageLimit: { 4_294_967_294 }, isReader: false)
        let files = try await writer.writeWithoutTransaction { SQLiteFiles(of: $0) }
        try await self.init(
            writer: writer, settings: settings, files: files, leases: LeaseFile(database: writer.path, identity: ""),
            limits: DurableLimits(), clock: { DurableInstant(microseconds: 1) }, publish: { _ in })
    }
}
