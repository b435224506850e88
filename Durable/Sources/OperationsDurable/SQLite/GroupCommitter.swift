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
    private let limits: DurableLimits
    private let clock: @Sendable () -> DurableInstant
    private let publish: @Sendable (Effects) -> Void
    private let requests = GroupDrain<Request>(label: "swift-operations-durable.commit")
    /// Used only inside `writer`'s write access, which is serial.
    private let connection = ConnectionState()

    init(
        writer: DatabaseQueue, limits: DurableLimits, clock: @escaping @Sendable () -> DurableInstant,
        publish: @escaping @Sendable (Effects) -> Void
    ) {
        (self.writer, self.limits, self.clock, self.publish) = (writer, limits, clock, publish)
        writer.add(transactionObserver: connection.commits, extent: .observerLifetime)
    }

    func submit(_ request: Request) { requests.submit(request) { self.commitTogether($0) } }

    /// Returns whether another connection has committed since the last call.
    func otherConnectionCommitted() throws -> Bool {
        try writer.inDatabase { database in
            let version = try Int64.fetchOne(database, sql: "PRAGMA data_version")
            defer { connection.dataVersion = version }
            return version != connection.dataVersion
        }
    }

    private func commitTogether(_ group: [Request]) {
        do { try commit(group) } catch {
            // A lock that another process holds too long is the fault of no request. Each repetition would wait again.
            let isLocked = (error as? DatabaseError)?.resultCode == .SQLITE_BUSY
            if isLocked || group.count == 1 {
                for request in group { request.finish(Self.reply(to: request, after: error)) }
                return
            }
            // The database refused the group. One request may be the cause, so that each request has a transaction.
            for request in group { commitTogether([request]) }
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
    private func commit(_ group: [Request]) throws {
        var errors = [(any Error)?](repeating: nil, count: group.count)
        var effects = Effects()
        try writer.writeWithoutTransaction { database in
            // SQLite would commit to a removed file, which no other process sees and which nothing keeps.
            if database.fileHasMoved {
                throw DurableError.unavailable("the file of the database was removed or replaced")
            }
            do {
                try database.inTransaction(.immediate) {
                    (errors, effects) = try apply(group, in: database)
                    return .commit
                }
            } catch {
                connection.kinds = SQLiteRows.KindCache()
                throw error
            }
        }
        publish(effects)
        for (request, error) in zip(group, errors) { request.finish(error) }
    }

    private func apply(_ group: [Request], in database: Database) throws -> ([(any Error)?], Effects) {
        let rows = SQLiteRows(database, now: clock(), statements: connection.statements)
        rows.kinds = connection.kinds
        var machine = DurableMachine(rows: rows, limits: limits)
        var errors: [(any Error)?] = []
        for request in group {
            do {
                switch request.work {
                case .event(let event): try event(&machine)
                case .statements(let statements):
                    try rows.flush()
                    try isolate(statements, in: database)
                }
                errors.append(nil)
            } catch let error as DurableError {
                errors.append(error)
            } catch let error as StatementsError {
                // A statement may roll back the whole transaction, for example `INSERT OR ROLLBACK`. Each further statement
                // of the group would then commit on its own.
                guard database.isInsideTransaction else { throw error }
                errors.append(DurableError.wrapping(statements: error.cause))
            }
        }
        try rows.flush()
        connection.kinds = rows.kinds
        return (errors, machine.takeEffects())
    }

    /// An error of the application's statements, after the rollback to the savepoint.
    private struct StatementsError: Error {
        let cause: any Error
    }

    private func isolate(_ statements: (Database) throws -> Void, in database: Database) throws {
        connection.commits.isForbidden = true
        defer { connection.commits.isForbidden = false }
        try database.inSavepoint {
            do { try statements(database) } catch { throw StatementsError(cause: error) }
            return .commit
        }
    }
}

/// An observer that refuses a `COMMIT` among the statements of the application. It would commit a part of the group, and the
/// repetition of the group would then apply that part twice.
private final class CommitGuard: TransactionObserver {
    var isForbidden = false

    func observes(eventsOfKind eventKind: DatabaseEventKind) -> Bool { false }

    func databaseDidChange(with event: DatabaseEvent) {}

    func databaseWillCommit() throws {
        if isForbidden { throw DurableError.invalidValue("the store begins and ends the transaction") }
    }

    func databaseDidCommit(_ database: Database) {}

    func databaseDidRollback(_ database: Database) {}
}

extension Database {
    /// Whether the path of the file leads to no file, or to another file than the open file.
    fileprivate var fileHasMoved: Bool {
        var hasMoved: CInt = 0
        guard sqlite3_file_control(sqliteConnection, "main", SQLITE_FCNTL_HAS_MOVED, &hasMoved) == SQLITE_OK else {
            return false
        }
        return hasMoved != 0
    }
}

/// The state that belongs to the connection of the writer.
private final class ConnectionState: @unchecked Sendable {
    // Sendable: only used inside the serial access of the writer.
    let statements = SQLiteStatements()
    var kinds = SQLiteRows.KindCache()
    var dataVersion: Int64?
    let commits = CommitGuard()
}
