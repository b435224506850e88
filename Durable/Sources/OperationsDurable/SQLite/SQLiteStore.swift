public import DurableCore
import Foundation
public import GRDB

/// A store in a file of SQLite. Any number of processes of one machine may share the file.
///
/// The store commits the requests of many callers in one transaction.
public final class SQLiteStore: DurableStore {
    /// The options of a store.
    public struct Configuration: Sendable {
        /// The durability of a commit.
        public enum Synchronous: String, Sendable {
            /// A committed change survives a loss of power.
            case full = "FULL"
            /// A committed change survives the end of the process. A loss of power may undo the last commits.
            case normal = "NORMAL"

            var statement: String {
                switch self {
                case .full: "PRAGMA synchronous = FULL"
                case .normal: "PRAGMA synchronous = NORMAL"
                }
            }
        }

        /// The durability of a commit. The default is `full`.
        public var synchronous = Synchronous.full
        /// The limits of names, payloads and retention.
        public var limits = DurableLimits()
        /// The time for which a transaction waits for other processes. The default is 30 seconds.
        ///
        /// A request that waits longer throws `DurableError.unavailable`, also while a transaction of this process runs. The error
        /// names the process that holds the lock of the file.
        public var busyTimeout = Duration.seconds(30)
        /// The time between two checks for changes of other processes, while tasks wait. The default is 4 ms.
        public var pollInterval = Duration.milliseconds(4)
        /// Whether the store creates a missing file or missing tables, and migrates an older schema. The default is true.
        ///
        /// With false, a path that leads to no store of this version is an error, and the file is unchanged.
        public var createsSchema = true
        /// The clock of the database. All processes of a machine share the clock.
        package var clock: @Sendable () -> DurableInstant = { .systemNow }
        /// Returns the largest number of pages of the file. Tests lower the number, as a full disk does.
        package var pageLimit: @Sendable () -> Int64 = { 4_294_967_294 }

        /// Creates the default options.
        public init() {}
    }

    public let limits: DurableLimits
    public let identity: String
    public let notices = StoreNotices()
    let committer: GroupCommitter
    private let reader: DatabaseQueue
    private let clock: @Sendable () -> DurableInstant
    private let poll: ChangePoll
    private let readStatements = ReadStatements()
    let files: SQLiteFiles
    private let leases: LeaseFile

    /// Opens the file, creates it if necessary, and migrates its schema.
    ///
    /// - Throws: `DurableError.unavailable` if the file cannot be opened or written, and `newerSchema`. Without `createsSchema`,
    ///   `noSchema` and `olderSchema`.
    public init(path: String, configuration: Configuration = Configuration()) async throws {
        (limits, clock) = (configuration.limits, configuration.clock)
        do {
            if !configuration.createsSchema { try ExistingFile(path: path, configuration.busyTimeout).check() }
            let (writer, settings) = try await Self.connect(path, configuration, isReader: false)
            identity = try await configuration.createsSchema ? Migrator.migrate(writer) : Migrator.find(writer)
            (reader, _) = try await Self.connect(path, configuration, isReader: true)
            files = try await writer.writeWithoutTransaction { SQLiteFiles(of: $0) }
            leases = LeaseFile(database: files.path.isEmpty ? path : files.path, identity: identity)
            // Weak: the notices hold the poll, which holds the committer.
            committer = try await GroupCommitter(
                writer: writer, settings: settings, files: files, leases: leases, limits: limits, clock: clock
            ) { [weak notices] effects in
                notices?.publish(effects)
            }
        } catch { throw DurableError(database: error, path: path) }
        poll = ChangePoll(interval: configuration.pollInterval) { [committer, weak notices] in
            // An error of the check is an error of the next commit, which has a caller.
            if (try? committer.otherConnectionCommitted()) == true { notices?.publishUnknownChange() }
        }
        notices.setUseObserver { [poll] in poll.setActive($0) }
    }

    deinit { poll.setActive(false) }

    public func commit<Reply: Sendable>(
        _ event: @escaping @Sendable (inout DurableMachine) throws -> Reply
    ) async throws -> Reply {
        let reply = ReplyBox<Reply>()
        return try await withCheckedThrowingContinuation { continuation in
            committer.submit(
                GroupCommitter.Request(work: .event { try reply.set(event(&$0)) }) {
                    continuation.resume(with: reply.result($0))
                })
        }
    }

    public func read<Reply: Sendable>(
        _ question: @escaping @Sendable (inout DurableMachine) throws -> Reply
    ) async throws -> Reply {
        do {
            return try await reader.read { [limits, clock, readStatements, files, leases] database in
                try files.check(database)
                let rows = SQLiteRows(
                    database, now: clock(), statements: readStatements.statements, leases: leases)
                var machine = DurableMachine(rows: rows, limits: limits)
                do { return try question(&machine) } catch let error as DatabaseError
                    where error.resultCode == .SQLITE_ERROR
                {
                    // A newer schema may lack the tables and columns of the question.
                    try rows.checkVersion()
                    throw error
                }
            }
        } catch { throw DurableError.wrapping(error) }
    }

    public func renewLeases(of worker: WorkerID, for lease: Duration) async throws -> String? {
        // The file of leases beside a restored copy has places of workers of the copy, with the numbers of workers of this store.
        guard files.isInPlace else {
            throw DurableError.unavailable("the file of the database was removed or replaced")
        }
        leases.renew(worker, until: clock() + lease)
        return committer.obstacle()
    }

    /// Executes statements of the application, and returns when they are durable.
    ///
    /// The statements share a transaction with other requests. A savepoint separates them: an error undoes only the
    /// statements of the closure.
    ///
    /// - Throws: The error of the closure. `DatabaseError` if SQLite refuses the commit because of a deferred constraint.
    ///   `DurableError.unavailable` if the file cannot be read or written, or stays locked. After `unavailable`, the statements
    ///   may be durable.
    public func transaction<Reply: Sendable>(
        _ statements: @escaping @Sendable (Database) throws -> Reply
    ) async throws -> Reply {
        let reply = ReplyBox<Reply>()
        return try await withCheckedThrowingContinuation { continuation in
            committer.submit(
                GroupCommitter.Request(work: .statements { try reply.set(statements($0)) }) {
                    continuation.resume(with: reply.result($0))
                })
        }
    }

    /// Applies an event in an open transaction of the application.
    ///
    /// - Parameter database: A connection to the file of this store, in a transaction.
    /// - Throws: `DurableError.noSchema` for a connection to another file. `DurableError.invalidValue` without a transaction.
    package func apply<Reply>(in database: Database, _ event: (inout DurableMachine) throws -> Reply) throws -> Reply {
        // The identity alone is not sufficient, because a copy of the file has the same identity.
        guard files.areFiles(of: database) else { throw DurableError.noSchema }
        // Each statement would commit on its own.
        guard database.isInsideTransaction else {
            throw DurableError.invalidValue("the connection has no open transaction")
        }
        let rows = SQLiteRows(
            database, now: clock(), statements: committer.statements(of: database), leases: leases)
        guard try rows.identity() == identity else { throw DurableError.noSchema }
        try rows.checkVersion()
        var machine = DurableMachine(rows: rows, limits: limits)
        let reply = try event(&machine)
        try rows.flush()
        let effects = machine.takeEffects()
        database.afterNextTransaction { [notices] _ in notices.publish(effects) }
        return reply
    }

    /// Returns whether the operation runs under the lease, in the view of a connection to the file of this store.
    package func isRunning(_ lease: Lease, in database: Database) throws -> Bool {
        let rows = SQLiteRows(database, now: clock(), statements: SQLiteStatements())
        return try rows.operations([lease.operation]).first?.isRunning(under: lease) ?? false
    }

    private static func connect(
        _ path: String, _ options: Configuration, isReader: Bool
    ) async throws -> (DatabaseQueue, SQLiteSettings) {
        let settings = SQLiteSettings(
            synchronous: options.synchronous, busyTimeout: options.busyTimeout, pageLimit: options.pageLimit,
            isReader: isReader)
        var configuration = GRDB.Configuration()
        configuration.journalMode = .wal
        configuration.readonly = isReader
        configuration.label = "swift-operations-durable"
        configuration.prepareDatabase { try settings.apply(to: $0) }
        let queue = try DatabaseQueue(path: path, configuration: configuration)
        // GRDB sets `synchronous` when it opens a file in WAL mode, after the preparation of the connection.
        try await queue.writeWithoutTransaction { try settings.apply(to: $0) }
        return (queue, settings)
    }
}

extension SQLiteStore: StatementStore {
    package func statement(adding columns: [AdditionColumn]) -> DurableStatement {
        let names = columns.map { "\"\($0.name)\"" }.joined(separator: ", ")
        let marks = columns.indices.map { "?\($0 + 1)" }.joined(separator: ", ")
        return DurableStatement(
            sql: "INSERT INTO main.durable_add(\(names)) VALUES (\(marks))",
            parameters: columns.map { $0.kind == .identifiers ? "[\($0.value)]" : $0.value })
    }
}

/// The statements of the connection for reading.
private final class ReadStatements: @unchecked Sendable {
    // Sendable: only used inside the serial access of the reader.
    let statements = SQLiteStatements()
}
