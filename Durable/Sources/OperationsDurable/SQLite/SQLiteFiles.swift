import DurableCore
import Foundation
import GRDB
import GRDBSQLite

/// The files of an open database, by which the store notices that a file was removed or replaced.
///
/// SQLite commits to removed files without an error, and nothing keeps such commits.
struct SQLiteFiles: Sendable {
    /// A file, independent of its names.
    struct Identity: Hashable, Sendable {
        private let device: UInt64
        private let number: UInt64

        /// Returns nil if no file has the path.
        init?(path: String) {
            var status = stat()
            guard stat(path, &status) == 0 else { return nil }
            (device, number) = (UInt64(truncatingIfNeeded: status.st_dev), UInt64(truncatingIfNeeded: status.st_ino))
        }
    }

    /// The path of the database as SQLite resolves it: absolute, and without links.
    let path: String
    /// The file of the database; nil for a database in memory.
    private let main: Identity?
    /// The log and its index, while the database is open. SQLite replaces neither before the last connection closes.
    private let others: [(path: String, identity: Identity?)]

    /// - Parameter database: A connection that has used the file.
    init(of database: Database) {
        let path = database.mainPath
        (self.path, main) = (path, Identity(path: path))
        others = path.isEmpty ? [] : ["-wal", "-shm"].map { (path + $0, Identity(path: path + $0)) }
    }

    /// Whether the path leads to the file that the store opened.
    var isInPlace: Bool { Identity(path: path) == main }

    /// - Throws: `DurableError.unavailable` if a file was removed or replaced.
    func check(_ database: Database) throws {
        if database.fileHasMoved {
            throw DurableError.unavailable("the file of the database was removed or replaced")
        }
        for other in others where Identity(path: other.path) != other.identity {
            let name = URL(fileURLWithPath: other.path).lastPathComponent
            throw DurableError.unavailable(
                "the file '\(name)' of the open database was removed or replaced; the last changes may be lost")
        }
    }

    /// Returns the error of a request that waited too long for the lock of writers.
    func lockError(after time: Duration) -> DurableError { .unavailable(holder(after: time)) }

    /// Returns a text about the process that holds the lock of writers.
    func holder(after time: Duration) -> String {
        let holder = WriterLock.holder(ofDatabase: path) ?? "a process"
        return "\(holder) has held the lock of the file for \(time.formattedSeconds)"
    }

    /// Whether the connection has the same file as main database, with the same log.
    ///
    /// A hard link of the file has a log of its own, which the connections of other names do not read.
    func areFiles(of database: Database) -> Bool {
        let other = database.mainPath
        guard !path.isEmpty, !other.isEmpty, !database.fileHasMoved else { return false }
        return ["", "-wal"].allSatisfy { suffix in
            Identity(path: path + suffix).map { $0 == Identity(path: other + suffix) } ?? false
        }
    }
}

extension Duration {
    /// The time in whole seconds, or in milliseconds below a second.
    package var formattedSeconds: String {
        let milliseconds = microseconds / 1_000
        return milliseconds < 1_000 ? "\(milliseconds) ms" : "\(milliseconds / 1_000) s"
    }
}

extension Database {
    /// The path of the file of the main database; empty for a database in memory.
    fileprivate var mainPath: String {
        sqlite3_db_filename(sqliteConnection, "main").map { String(cString: $0) } ?? ""
    }

    /// Whether the path of the file leads to no file, or to another file than the open file.
    fileprivate var fileHasMoved: Bool {
        var hasMoved: CInt = 0
        guard sqlite3_file_control(sqliteConnection, "main", SQLITE_FCNTL_HAS_MOVED, &hasMoved) == SQLITE_OK else {
            return false
        }
        return hasMoved != 0
    }
}
