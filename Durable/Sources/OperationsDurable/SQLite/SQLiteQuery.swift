import GRDB
import GRDBSQLite

/// One prepared statement with direct access to its parameters and columns.
///
/// GRDB owns the statement. The direct access avoids an array of parameters for each execution.
struct SQLiteQuery {
    let handle: OpaquePointer

    // MARK: - Parameters

    func bind(_ index: Int32, _ value: Int64) { sqlite3_bind_int64(handle, index, value) }

    func bind(_ index: Int32, _ value: Int64?) {
        if let value { sqlite3_bind_int64(handle, index, value) } else { sqlite3_bind_null(handle, index) }
    }

    func bind(_ index: Int32, _ value: Bool) { sqlite3_bind_int64(handle, index, value ? 1 : 0) }

    func bind(_ index: Int32, _ value: String?) {
        guard var value else {
            sqlite3_bind_null(handle, index)
            return
        }
        value.withUTF8 { bytes in
            bytes.withMemoryRebound(to: CChar.self) { characters in
                // SQLite copies the bytes. An empty buffer has no address, and null would bind NULL.
                let empty: StaticString = ""
                let start = characters.baseAddress
                if let start {
                    sqlite3_bind_text(handle, index, start, Int32(characters.count), Self.transient)
                } else {
                    empty.withUTF8Buffer {
                        $0.withMemoryRebound(to: CChar.self) {
                            _ = sqlite3_bind_text(handle, index, $0.baseAddress, 0, Self.transient)
                        }
                    }
                }
            }
        }
    }

    func bind(_ index: Int32, _ value: [UInt8]?) {
        guard let value else {
            sqlite3_bind_null(handle, index)
            return
        }
        if value.isEmpty {
            sqlite3_bind_zeroblob(handle, index, 0)
        } else {
            value.withUnsafeBytes { bytes in
                _ = sqlite3_bind_blob(handle, index, bytes.baseAddress, Int32(bytes.count), Self.transient)
            }
        }
    }

    /// The constant by which SQLite copies a value: `SQLITE_TRANSIENT`, a macro that Swift does not import.
    private static let transient = unsafeBitCast(-1, to: sqlite3_destructor_type.self)

    // MARK: - Columns

    func isNull(_ column: Int) -> Bool { sqlite3_column_type(handle, Int32(column)) == SQLITE_NULL }

    func int(_ column: Int) -> Int64 { sqlite3_column_int64(handle, Int32(column)) }

    func optionalInt(_ column: Int) -> Int64? { isNull(column) ? nil : int(column) }

    func text(_ column: Int) -> String { optionalText(column) ?? "" }

    func optionalText(_ column: Int) -> String? {
        guard let start = sqlite3_column_text(handle, Int32(column)) else { return nil }
        let count = Int(sqlite3_column_bytes(handle, Int32(column)))
        return String(decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self)
    }

    func bytes(_ column: Int) -> [UInt8] {
        guard let start = sqlite3_column_blob(handle, Int32(column)) else { return [] }
        return Array(UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(handle, Int32(column)))))
    }

    func optionalBytes(_ column: Int) -> [UInt8]? { isNull(column) ? nil : bytes(column) }

    // MARK: - Execution

    /// Executes the next step. Returns whether a row is available.
    func step() throws -> Bool {
        let code = sqlite3_step(handle)
        if code == SQLITE_ROW { return true }
        if code == SQLITE_DONE { return false }
        let message = String(cString: sqlite3_errmsg(sqlite3_db_handle(handle)))
        throw DatabaseError(resultCode: ResultCode(rawValue: code), message: message)
    }

    func reset() { sqlite3_reset(handle) }
}

/// The prepared statements of one connection.
final class SQLiteStatements {
    private var prepared = [Statement?](repeating: nil, count: SQL.allCases.count)

    func query(_ sql: SQL, in database: Database) throws -> SQLiteQuery {
        if let known = prepared[sql.rawValue] { return SQLiteQuery(handle: known.sqliteStatement) }
        let statement = try database.makeStatement(sql: sql.text)
        prepared[sql.rawValue] = statement
        return SQLiteQuery(handle: statement.sqliteStatement)
    }
}
