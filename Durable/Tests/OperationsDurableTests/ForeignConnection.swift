import Foundation
import GRDBSQLite
import Testing

@testable import OperationsDurable

#if Postgres
import CPostgres
@testable import OperationsDurablePostgres
#endif

/// A connection of another driver, which knows nothing of the library.
protocol ForeignConnection: AnyObject {
    /// Executes a statement whose parameters are texts. Returns the first column of the first row.
    func execute(_ sql: String, _ parameters: [String?]) throws -> String?
}

/// An error of the database, with its code.
struct ForeignError: Error, CustomStringConvertible {
    let code: String
    let text: String

    var description: String { "\(code): \(text)" }
}

extension ForeignConnection {
    @discardableResult
    func execute(_ sql: String) throws -> String? { try execute(sql, []) }

    /// Executes the statement of an addition. Returns the identifier of the operation.
    func add(_ statement: DurableStatement) throws -> OperationID {
        var id = try execute(statement.sql, statement.parameters)
        if self is ForeignSQLite {
            id = try execute("SELECT value FROM main.durable_meta WHERE name = 'last_addition'")
        }
        return OperationID(try #require(id.flatMap { Int64($0) }))
    }

    /// Returns the error of a statement.
    func error(_ sql: String, _ parameters: [String?] = []) throws -> ForeignError {
        try #require(throws: ForeignError.self) { try self.execute(sql, parameters) }
    }
}

/// A connection by the functions of SQLite.
final class ForeignSQLite: ForeignConnection {
    private var handle: OpaquePointer?

    init(_ path: String) throws {
        guard sqlite3_open_v2(path, &handle, SQLITE_OPEN_READWRITE, nil) == SQLITE_OK else { throw failure }
        sqlite3_busy_timeout(handle, 30_000)
    }

    deinit { sqlite3_close_v2(handle) }

    private var failure: ForeignError {
        ForeignError(code: "\(sqlite3_extended_errcode(handle))", text: String(cString: sqlite3_errmsg(handle)))
    }

    func execute(_ sql: String, _ parameters: [String?]) throws -> String? {
        var statement: OpaquePointer?
        guard sqlite3_prepare_v2(handle, sql, -1, &statement, nil) == SQLITE_OK else { throw failure }
        defer { sqlite3_finalize(statement) }
        let copy = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
        for (index, value) in parameters.enumerated() {
            guard let value else { continue }
            sqlite3_bind_text(statement, Int32(index + 1), value, Int32(value.utf8.count), copy)
        }
        var first: String?
        while true {
            switch sqlite3_step(statement) {
            case SQLITE_DONE: return first
            case SQLITE_ROW: first = first ?? sqlite3_column_text(statement, 0).map { String(cString: $0) }
            default: throw failure
            }
        }
    }
}

#if Postgres
/// A connection by the functions of libpq.
final class ForeignPostgres: ForeignConnection {
    private let handle: OpaquePointer?

    init(_ url: String) throws {
        handle = PQconnectdb(url)
        try #require(PQstatus(handle) == CONNECTION_OK)
        PQsetNoticeProcessor(handle, { _, _ in }, nil)
    }

    deinit { PQfinish(handle) }

    func execute(_ sql: String, _ parameters: [String?]) throws -> String? {
        let values = parameters.map { $0.map { strdup($0) } ?? nil }
        defer { for value in values { free(value) } }
        let pointers = values.map { UnsafePointer($0) }
        let result = PQexecParams(handle, sql, Int32(values.count), nil, pointers, nil, nil, 0)
        defer { PQclear(result) }
        let status = PQresultStatus(result)
        guard status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK else {
            let state = PQresultErrorField(result, Int32(UnicodeScalar("C").value)).map { String(cString: $0) } ?? ""
            throw ForeignError(code: state, text: String(cString: PQresultErrorMessage(result)))
        }
        guard PQntuples(result) > 0, PQnfields(result) > 0, PQgetisnull(result, 0, 0) == 0 else { return nil }
        return String(cString: PQgetvalue(result, 0, 0))
    }
}
#endif

/// A store, and connections of another driver to its database.
struct SharedDatabase {
    let store: any DurableStore
    /// The schema in PostgreSQL.
    var schema: String?
    let connect: () throws -> any ForeignConnection
    /// Opens another store of the database.
    let open: () async throws -> any DurableStore

    var isPostgres: Bool { !(store is SQLiteStore) }
}

/// The stores whose databases other drivers reach.
let sharedKinds = StoreKind.allCases.filter { $0 != .memory }

/// Calls the body with a new store in a database that other drivers reach.
func withDatabase(_ kind: StoreKind, _ body: (SharedDatabase) async throws -> Void) async throws {
    switch kind {
    case .memory: break
    case .sqlite:
        try await withTemporaryFile { path in
            let store = try await SQLiteStore(path: path)
            try await body(
                SharedDatabase(
                    store: store, connect: { try ForeignSQLite(path) }, open: { try await SQLiteStore(path: path) }))
        }
    #if Postgres
    case .postgres:
        try await withPostgres { server, schema in
            let store = try await PostgresStore(server.url(schema: schema))
            // A connection whose search path does not lead to the store.
            let address = server.url(schema: "pg_catalog")
            try await body(
                SharedDatabase(
                    store: store, schema: schema, connect: { try ForeignPostgres(address) },
                    open: { try await PostgresStore(server.url(schema: schema)) }))
        }
    #endif
    }
}
