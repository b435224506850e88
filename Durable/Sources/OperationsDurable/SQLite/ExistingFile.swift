import DurableCore
import Foundation
import GRDBSQLite

/// A file that a store may open, but neither create nor change.
///
/// A connection for writing creates a missing file, and changes the journal mode of a database of another program. Therefore the
/// check precedes the first such connection.
struct ExistingFile {
    private let path: String
    private let busyTimeout: Duration

    init(path: String, _ busyTimeout: Duration) { (self.path, self.busyTimeout) = (path, busyTimeout) }

    /// Checks that the file is a database with the tables of this version.
    ///
    /// - Throws: `DurableError.unavailable`, `noSchema`, `newerSchema` or `olderSchema`.
    func check() throws(DurableError) {
        try checkPresence()
        // With a log beside the file, other processes use the file, or have ended without closing it.
        if SQLiteFiles.Identity(path: path + "-wal") == nil, let found = try? numbers(isImmutable: true) {
            return try check(found)
        }
        try check(numbers(isImmutable: false))
    }

    private func check(_ numbers: [String: Int]) throws(DurableError) {
        guard let version = numbers["schema"] ?? (numbers.isEmpty ? nil : 1) else { throw .noSchema }
        if let oldest = numbers["oldest_reader"], oldest > Schema.version {
            throw .newerSchema(found: version, supported: Schema.version)
        }
        try Migrator.checkAge(of: version)
    }

    /// Checks that a file with content exists.
    ///
    /// The end of a descriptor of the file would release the locks that other stores of the process hold. Only SQLite opens it.
    private func checkPresence() throws(DurableError) {
        var status = stat()
        guard stat(path, &status) == 0 else {
            throw .unavailable("the file '\(path)' cannot be read: \(String(cString: strerror(errno)))")
        }
        guard status.st_mode & S_IFMT == S_IFREG else { throw .unavailable("'\(path)' is not a file") }
        if status.st_size == 0 { throw .noSchema }
        guard access(path, R_OK) == 0 else {
            throw .unavailable("the file '\(path)' cannot be read: \(String(cString: strerror(errno)))")
        }
    }

    /// Returns the numbers about the schema; nothing if the file has no such table.
    ///
    /// - Parameter isImmutable: Whether SQLite makes no files beside the database. No other process may change the file then.
    private func numbers(isImmutable: Bool) throws(DurableError) -> [String: Int] {
        var handle: OpaquePointer?
        defer { sqlite3_close_v2(handle) }
        let name = "\(uri)\(isImmutable ? "?immutable=1" : "")"
        try check(sqlite3_open_v2(name, &handle, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, nil), handle)
        sqlite3_busy_timeout(handle, Int32(clamping: busyTimeout.microseconds / 1_000))
        if try rows("SELECT 1, 1 FROM main.sqlite_master WHERE type = 'table' AND name = 'durable_meta'", handle)
            .isEmpty
        {
            return [:]
        }
        // The identity of the store makes the list of a store of version 1 longer than nothing.
        return try rows("SELECT name, value FROM main.durable_meta", handle)
    }

    private func rows(_ sql: String, _ handle: OpaquePointer?) throws(DurableError) -> [String: Int] {
        var statement: OpaquePointer?
        defer { sqlite3_finalize(statement) }
        try check(sqlite3_prepare_v2(handle, sql, -1, &statement, nil), handle)
        var found: [String: Int] = [:]
        while true {
            let code = sqlite3_step(statement)
            if code == SQLITE_DONE { return found }
            guard code == SQLITE_ROW else {
                try check(code, handle)
                return found
            }
            let name = sqlite3_column_text(statement, 0).map { String(cString: $0) } ?? ""
            found[name] = Int(sqlite3_column_int64(statement, 1))
        }
    }

    private func check(_ code: CInt, _ handle: OpaquePointer?) throws(DurableError) {
        guard code != SQLITE_OK else { return }
        if code & 0xFF == SQLITE_NOTADB { throw .unavailable("the file '\(path)' is not a database") }
        let text = handle.flatMap { sqlite3_errmsg($0) }.map { String(cString: $0) } ?? "SQLite error \(code)"
        throw .unavailable("the file '\(path)': \(text)")
    }

    /// The path in the form of a URI.
    private var uri: String {
        path.utf8.reduce(into: path.hasPrefix("/") ? "file://" : "file:") { text, byte in
            let isPlain =
                byte != UInt8(ascii: "%") && byte != UInt8(ascii: "?") && byte != UInt8(ascii: "#") && byte < 128
            let digits = String(byte, radix: 16, uppercase: true)
            text += isPlain ? String(UnicodeScalar(byte)) : "%\(digits.count < 2 ? "0" : "")\(digits)"
        }
    }
}
