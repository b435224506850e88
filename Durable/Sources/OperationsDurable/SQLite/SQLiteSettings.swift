import Foundation
import GRDB
import GRDBSQLite

/// The settings of a connection. The store sets them again after statements of an application.
struct SQLiteSettings: Sendable {
    let synchronous: SQLiteStore.Configuration.Synchronous
    let busyTimeout: Duration
    /// Returns the largest number of pages of the file.
    let pageLimit: @Sendable () -> Int64
    let isReader: Bool

    /// Gives the connection the settings. Not for use within a transaction.
    func apply(to database: Database) throws {
        // A change of `temp_store` discards all temporary objects, and the journal mode of their file.
        try database.execute(
            sql: """
                PRAGMA query_only = \(isReader ? "ON" : "OFF"); PRAGMA locking_mode = NORMAL; PRAGMA writable_schema = OFF;
                PRAGMA temp_store = FILE; PRAGMA temp_store = MEMORY; PRAGMA wal_autocheckpoint = 4000;
                PRAGMA max_page_count = \(pageLimit()); PRAGMA journal_size_limit = -1
                """)
        try database.execute(sql: synchronous.statement)
        // The changes of one transaction fit. SQLite would otherwise write pages to the file, and read them again.
        if !isReader { try database.execute(sql: "PRAGMA cache_size = -16384") }
        // `BEGIN IMMEDIATE` would lock each attached database, too.
        sqlite3_limit(database.sqliteConnection, SQLITE_LIMIT_ATTACHED, 0)
        Self.setBusyTimeout(busyTimeout, of: database)
    }

    /// The time after which a transaction is reported, because it delays all others.
    static let longTime = Duration.seconds(5)

    static func setBusyTimeout(_ timeout: Duration, of database: Database) {
        let attempts = Int(clamping: max(1, timeout.microseconds / 500))
        // Short sleeps: another process holds the lock for about one commit. The pointer is only the number of attempts.
        sqlite3_busy_handler(
            database.sqliteConnection,
            { attempts, attempt in
                usleep(500)
                return Int(attempt) < Int(bitPattern: attempts) ? 1 : 0
            }, UnsafeMutableRawPointer(bitPattern: attempts))
    }

    /// Discards the temporary objects of an application, in its transaction. The next application would find them.
    static func discardTemporaryObjects(in database: Database) throws {
        try database.execute(sql: "PRAGMA query_only = OFF")
        let objects = try Row.fetchAll(
            database,
            sql: """
                SELECT type, name FROM temp.sqlite_master WHERE type IN ('trigger', 'view', 'table') \
                AND substr(name, 1, 7) <> 'sqlite_' ORDER BY type DESC
                """)
        for object in objects {
            let (type, name): (String, String) = (object["type"], object["name"])
            try database.execute(sql: "DROP \(type) IF EXISTS temp.\(name.quotedDatabaseIdentifier)")
        }
    }
}
