#if Postgres
import CPostgres

/// The rows of one execution. Rows of the library's own statements are in the binary format.
final class PostgresResult {
    let handle: OpaquePointer

    /// - Parameter handle: A result of libpq, which the object releases.
    init(_ handle: OpaquePointer) { self.handle = handle }

    deinit { PQclear(handle) }

    var count: Int { Int(PQntuples(handle)) }
    var columnCount: Int { Int(PQnfields(handle)) }
    /// The tag of the command, for example `COMMIT`.
    var command: String { PQcmdStatus(handle).map { String(cString: $0) } ?? "" }

    func name(ofColumn column: Int) -> String { PQfname(handle, Int32(column)).map { String(cString: $0) } ?? "" }

    func isNull(_ row: Int, _ column: Int) -> Bool { PQgetisnull(handle, Int32(row), Int32(column)) != 0 }

    /// The bytes of a value. The buffer is valid while the object exists.
    func buffer(_ row: Int, _ column: Int) -> UnsafeRawBufferPointer {
        let count = Int(PQgetlength(handle, Int32(row), Int32(column)))
        return UnsafeRawBufferPointer(start: PQgetvalue(handle, Int32(row), Int32(column)), count: count)
    }

    func text(_ row: Int, _ column: Int) -> String { String(decoding: buffer(row, column), as: UTF8.self) }

    func bytes(_ row: Int, _ column: Int) -> [UInt8] { Array(buffer(row, column)) }

    func int(_ row: Int, _ column: Int) -> Int64 {
        let bytes = buffer(row, column)
        guard bytes.count == 8 else { return 0 }
        return Int64(bigEndian: bytes.loadUnaligned(as: Int64.self))
    }

    /// Returns the values of each row.
    func map<Value>(_ value: (PostgresRecord) -> Value) -> [Value] {
        (0..<count).map { value(PostgresRecord(result: self, row: $0)) }
    }

    var first: PostgresRecord? { count > 0 ? PostgresRecord(result: self, row: 0) : nil }
}

/// One row of a result in the binary format.
struct PostgresRecord {
    let result: PostgresResult
    let row: Int

    func int(_ column: Int) -> Int64 { result.int(row, column) }
    func optionalInt(_ column: Int) -> Int64? { result.isNull(row, column) ? nil : int(column) }
    func text(_ column: Int) -> String { result.text(row, column) }
    func optionalText(_ column: Int) -> String? { result.isNull(row, column) ? nil : text(column) }
    func bytes(_ column: Int) -> [UInt8] { result.bytes(row, column) }
    func optionalBytes(_ column: Int) -> [UInt8]? { result.isNull(row, column) ? nil : bytes(column) }
}
#endif
