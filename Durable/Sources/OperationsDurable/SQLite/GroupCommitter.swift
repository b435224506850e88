import DurableCore
import GRDB
import GRDBSQLite

/// A writer that commits the requests of many callers in one transaction.
///
/// Requests that arrive during a commit go together into the next transaction. Each caller resumes after the commit that
/// contains its request.
final class GroupCommitter: Sendable {
    /// One request of a caller.
    struct Request: Sendable {
        enum Work: Sendable {
            /// An event of the machine. An event that throws a `DurableError` has changed nothing.
            case event(@Sendable (inout DurableMachine) throws -> Void)
            /// Statements of the application, which a savepoint separates from the other requests.
            case statements(@Sendable (Database) throws -> Void)
        }

        var work: Work
        /// Called after the commit with nil, or with the error of the request.
        var finish: @Sendable ((any Error)?) -> Void
    }

    private let writer: DatabaseQueue
    private let settings: SQLiteSettings
    private let files: SQLiteFiles
    private let limits: DurableLimits
    private let clock: @Sendable () -> DurableInstant
    private let publish: @Sendable (Effects) -> Void
    private let leases: LeaseFile
    let requests: GroupDrain<Request>
    /// Used only inside `writer`'s write access, which is serial.
    private let connection = ConnectionState()

    init(
        writer: DatabaseQueue, settings: SQLiteSettings, files: SQLiteFiles, leases: LeaseFile, limits: DurableLimits,
        clock: @escaping @Sendable () -> DurableInstant, publish: @escaping @Sendable (Effects) -> Void
    ) async throws {
        (self.writer, self.settings, self.files) = (writer, settings, files)
        (self.leases, self.limits, self.clock, self.publish) = (leases, limits, clock, publish)
        requests = GroupDrain(
            label: "swift-operations-durable.commit",
            limit: .init(settings.busyTimeout) { request, time in
                request.finish(files.lockError(after: time))
            })
        try await writer.writeWithoutTransaction { [connection] in connection.handle = $0.sqliteConnection }
        writer.add(transactionObserver: connection.commits, extent: .observerLifetime)
    }

    /// Returns the prepared statements for a connection, which belong to the writer or to the application.
    ///
    /// - Parameter database: A connection, in the serial access of its owner.
    func statements(of database: Database) -> SQLiteStatements {
        connection.handle == database.sqliteConnection ? connection.statements : SQLiteStatements()
    }

    func submit(_ request: Request) { requests.submit(request) { self.commitTogether($0) } }

    /// Returns a text about a transaction that has delayed all others for a long time.
    func obstacle() -> String? {
        guard let time = requests.busyTime, time >= SQLiteSettings.longTime else { return nil }
        return files.holder(after: time)
    }

    /// Returns whether another connection has committed since the last call.
    func otherConnectionCommitted() throws -> Bool {
        try writer.inDatabase { database in
            let version = try Int64.fetchOne(database, sql: "PRAGMA data_version")
            defer { connection.dataVersion = version }
            return version != connection.dataVersion
        }
    }

    /// Rebuilds the file between two commits.
    func compact() async throws {
        try await writer.writeWithoutTransaction { [files, connection] database in
            try files.check(database)
            connection.hasForeignSettings = true
            defer { try? self.restoreSettings(of: database) }
            // The new file is an attached temporary database at first, which would fill the memory.
            sqlite3_limit(database.sqliteConnection, SQLITE_LIMIT_ATTACHED, 1)
            try database.execute(sql: "PRAGMA temp_store = FILE; VACUUM")
            // A reader may prevent this, and other writers wait meanwhile. The file becomes shorter at a later commit then.
            SQLiteSettings.setBusyTimeout(.milliseconds(10), of: database)
            _ = try? database.checkpoint(.truncate)
        }
    }

    private func commitTogether(_ group: [GroupDrain<Request>.Pending]) {
        let group = group.filter { $0.start() }
        guard let oldest = group.first else { return }
        let (timeout, start) = (oldest.rest(of: settings.busyTimeout), ContinuousClock.now)
        do {
            try commit(group, timeout: timeout)
        } catch let error as DatabaseError where error.resultCode == .SQLITE_BUSY {
            // A lock that another process holds too long is the fault of no request. Later requests wait on, unless SQLite
            // does not wait, for example to prevent a deadlock.
            let hasWaited = ContinuousClock.now - start >= timeout / 2
            let hasTime = group.drop { !hasWaited || $0.rest(of: settings.busyTimeout) <= .zero }
            let error = files.lockError(after: settings.busyTimeout - oldest.rest(of: settings.busyTimeout))
            for pending in group.prefix(group.count - hasTime.count) { pending.request.finish(error) }
            commitTogether(Array(hasTime))
        } catch {
            if group.count == 1 { return oldest.request.finish(Self.reply(to: oldest.request, after: error)) }
            // The database refused the group. One request may be the cause, so that each request has a transaction.
            for pending in group { commitTogether([pending]) }
        }
    }

    /// Returns the error for the caller of a request whose transaction failed, and is not repeated.
    private static func reply(to request: Request, after error: any Error) -> any Error {
        switch (request.work, error) {
        case (_, let error as StatementsError): DurableError.wrapping(statements: error.cause)
        // SQLite checks deferred constraints of the application at the end of the transaction.
        case (.statements, let error as DatabaseError) where error.resultCode == .SQLITE_CONSTRAINT: error
        default: DurableError.wrapping(error)
        }
    }

    /// Applies the requests in one transaction, and resumes the callers after the commit.
    ///
    /// - Parameter timeout: The time to wait for another process.
    private func commit(_ group: [GroupDrain<Request>.Pending], timeout: Duration) throws {
        // First, because the statements may take any time, and events that wait for them can still expire.
        let group = group.filter(\.request.isStatements) + group.filter { !$0.request.isStatements }
        var (replies, effects): ([Reply], Effects) = ([], Effects())
        try writer.writeWithoutTransaction { database in
            try files.check(database)
            try restoreSettings(of: database)
            let isShort = timeout < settings.busyTimeout * 0.9
            if isShort { SQLiteSettings.setBusyTimeout(timeout, of: database) }
            defer { if isShort { SQLiteSettings.setBusyTimeout(settings.busyTimeout, of: database) } }
            do {
                try database.inTransaction(.immediate) {
                    (replies, effects) = try apply(group, in: database)
                    return .commit
                }
            } catch {
                try? restoreSettings(of: database)
                throw error
            }
            // An error returns before the next transaction. This transaction is committed.
            try? restoreSettings(of: database)
            // A file that was removed meanwhile may lack the commit.
            try files.check(database)
        }
        publish(effects)
        for (request, error) in replies { request.finish(error) }
    }

    /// Gives the connection its settings after statements of an application.
    private func restoreSettings(of database: Database) throws {
        guard connection.hasForeignSettings else { return }
        try settings.apply(to: database)
        connection.hasForeignSettings = false
    }

    /// A request that has not expired, and its error.
    private typealias Reply = (request: Request, error: (any Error)?)

    private func apply(_ group: [GroupDrain<Request>.Pending], in database: Database) throws -> ([Reply], Effects) {
        let rows = SQLiteRows(database, now: clock(), statements: connection.statements, leases: leases)
        try rows.checkVersion()
        var machine = DurableMachine(rows: rows, limits: limits)
        var replies: [Reply] = []
        for (index, pending) in group.enumerated() where pending.start() {
            let request = pending.request
            do {
                switch request.work {
                case .event(let event): try event(&machine)
                case .statements(let statements):
                    try rows.flush()
                    requests.pause(group[(index + 1)...])
                    try isolate(statements, in: database)
                }
                replies.append((request, nil))
            } catch let error as DurableError {
                replies.append((request, error))
            } catch let error as StatementsError {
                // A statement may roll back the whole transaction, for example `INSERT OR ROLLBACK`. Each further statement
                // of the group would then commit on its own.
                guard database.isInsideTransaction, !connection.commits.hasRolledBack else { throw error }
                replies.append((request, DurableError.wrapping(statements: error.cause)))
            }
        }
        try rows.flush()
        return (replies, machine.takeEffects())
    }

    /// An error of the application's statements, after the rollback to the savepoint.
    private struct StatementsError: Error {
        let cause: any Error
    }

    private func isolate(_ statements: (Database) throws -> Void, in database: Database) throws {
        let commits = connection.commits
        (commits.isForbidden, commits.hasRolledBack, connection.hasForeignSettings) = (true, false, true)
        defer { commits.isForbidden = false }
        // The name is unknown to the application, whose statements would otherwise release the savepoint.
        let savepoint = connection.savepoint
        try database.execute(sql: "SAVEPOINT \(savepoint)")
        do {
            let version = SQLiteSettings.schemaVersion(of: database)
            if connection.definitions.version != version {
                connection.definitions = (version, try SQLiteSettings.definitions(in: database))
            }
            try statements(database)
            if commits.hasRolledBack {
                throw DurableError.invalidValue("the store begins and ends the transaction")
            }
            if SQLiteSettings.schemaVersion(of: database) != version,
                try SQLiteSettings.definitions(in: database) != connection.definitions.texts
            {
                throw DurableError.invalidValue("the statements change the tables of the store")
            }
            try SQLiteSettings.discardTemporaryObjects(in: database)
            try database.execute(sql: "RELEASE \(savepoint)")
        } catch {
            if database.isInsideTransaction, !commits.hasRolledBack {
                try database.execute(sql: "PRAGMA query_only = OFF; ROLLBACK TO \(savepoint); RELEASE \(savepoint)")
                // Without a journal, which the application can forbid, temporary objects survive.
                try SQLiteSettings.discardTemporaryObjects(in: database)
            }
            throw StatementsError(cause: error)
        }
    }
}

extension GroupCommitter.Request {
    fileprivate var isStatements: Bool { if case .statements = work { true } else { false } }
}

/// An observer that refuses a `COMMIT` among the statements of the application. It would commit a part of the group, and the
/// repetition of the group would then apply that part twice.
private final class CommitGuard: TransactionObserver {
    var isForbidden = false
    /// Whether the transaction of the statements was rolled back. A next transaction would not have the rest of the group.
    var hasRolledBack = false

    func observes(eventsOfKind eventKind: DatabaseEventKind) -> Bool { false }

    func databaseDidChange(with event: DatabaseEvent) {}

    func databaseWillCommit() throws {
        if isForbidden { throw DurableError.invalidValue("the store begins and ends the transaction") }
    }

    func databaseDidCommit(_ database: Database) {}

    func databaseDidRollback(_ database: Database) { hasRolledBack = true }
}

/// The state that belongs to the connection of the writer.
private final class ConnectionState: @unchecked Sendable {
    // Sendable: only used inside the serial access of the writer.
    let statements = SQLiteStatements()
    var dataVersion: Int64?
    /// The connection itself.
    var handle: SQLiteConnection?
    /// Whether statements of an application may have changed the settings.
    var hasForeignSettings = false
    /// The definitions of the tables of the store at a version of the schema.
    var definitions: (version: String, texts: [String]) = ("", [])
    let savepoint = "durable_\(UInt64.random(in: 0...UInt64.max))"
    let commits = CommitGuard()
}
