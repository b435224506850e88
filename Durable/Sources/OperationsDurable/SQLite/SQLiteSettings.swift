import DurableCore
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
    ///
    /// Most changes make SQLite prepare all statements again, and a change of `temp_store` makes it read the schema again. Together they
    /// cost several times the transaction of an application. Therefore the call changes only the settings that differ.
    func apply(to database: Database) throws {
        // A change of `temp_store` discards all temporary objects, and the journal mode of their file.
        let temporary = "PRAGMA temp_store = FILE; PRAGMA temp_store = MEMORY"
        var settings: [(name: String, values: [String], change: String)] = [
            ("query_only", [isReader ? "1" : "0"], "PRAGMA query_only = \(isReader ? "ON" : "OFF")"),
            ("locking_mode", ["normal"], "PRAGMA locking_mode = NORMAL"),
            ("writable_schema", ["0"], "PRAGMA writable_schema = OFF"), ("temp_store", ["2"], temporary),
            ("temp.journal_mode", ["memory", "delete"], temporary),
            ("max_page_count", ["\(pageLimit())"], "PRAGMA max_page_count = \(pageLimit())"),
            ("journal_size_limit", ["-1"], "PRAGMA journal_size_limit = -1"),
            ("short_column_names", ["1"], "PRAGMA short_column_names = ON"),
            ("full_column_names", ["0"], "PRAGMA full_column_names = OFF"),
            ("trusted_schema", ["1"], "PRAGMA trusted_schema = ON"),
            ("recursive_triggers", ["0"], "PRAGMA recursive_triggers = OFF"),
            ("synchronous", [synchronous == .full ? "2" : "1"], synchronous.statement),
        ]
        // The changes of one transaction fit. SQLite would otherwise write pages to the file, and read them again.
        if !isReader { settings.append(("cache_size", ["-16384"], "PRAGMA cache_size = -16384")) }
        for setting in settings where !setting.values.contains(Self.value(of: setting.name, in: database)) {
            try database.execute(sql: setting.change)
        }
        sqlite3_wal_autocheckpoint(database.sqliteConnection, 4_000)
        // `BEGIN IMMEDIATE` would lock each attached database, too.
        sqlite3_limit(database.sqliteConnection, SQLITE_LIMIT_ATTACHED, 0)
        Self.setBusyTimeout(busyTimeout, of: database)
    }

    /// Returns the value of a setting; empty if SQLite returns none. The functions of settings would not do: an application may create tables
    /// with their names.
    private static func value(of name: String, in database: Database) -> String {
        var statement: OpaquePointer?
        defer { sqlite3_finalize(statement) }
        guard sqlite3_prepare_v2(database.sqliteConnection, "PRAGMA \(name)", -1, &statement, nil) == SQLITE_OK,
            sqlite3_step(statement) == SQLITE_ROW, let text = sqlite3_column_text(statement, 0)
        else { return "" }
        return String(cString: text)
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

    /// The number that each change of the schema increases.
    static func schemaVersion(of database: Database) -> String { value(of: "main.schema_version", in: database) }

    /// Returns the definitions of the tables and views of the store, and of the triggers on them.
    static func definitions(in database: Database) throws -> [String] {
        let names = Table.names.map { "'\($0)'" }.joined(separator: ", ")
        return try String.fetchAll(
            database,
            sql: """
                SELECT type || ' ' || name || ' ' || coalesce(sql, '') FROM main.sqlite_master \
                WHERE type <> 'index' AND tbl_name IN (\(names)) ORDER BY 1
                """)
    }

    /// Discards the temporary objects of an application, in its transaction. The next application would find them.
    static func discardTemporaryObjects(in database: Database) throws {
        if value(of: "query_only", in: database) != "0" { try database.execute(sql: "PRAGMA query_only = OFF") }
        let objects = try Row.fetchAll(
            database,
            sql: """
                SELECT type, name FROM temp.sqlite_master WHERE type IN ('trigger', 'view', 'table') \
                AND substr(name, 1, 7) <> 'sqlite_' ORDER BY type DESC
                """)
        for object in objects {
            // By position: an application can change the names of columns.
            let (type, name): (String, String) = (object[0], object[1])
            try database.execute(sql: "DROP \(type) IF EXISTS temp.\(name.quotedDatabaseIdentifier)")
        }
    }
}
