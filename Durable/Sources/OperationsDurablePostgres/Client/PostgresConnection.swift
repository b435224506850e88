#if Postgres
import CPostgres
import DurableCore

/// A connection to a server of PostgreSQL. The calls block, and one serial queue makes all calls.
final class PostgresConnection {
    private let handle: OpaquePointer
    private var prepared = [Bool](repeating: false, count: PostgresSQL.allCases.count)
    /// The schema of the tables, as the key of the lock of writing transactions.
    private(set) var lockKey: Int64 = 0

    /// Settings that keep the plans of the library's statements independent of the statistics of growing tables.
    ///
    /// The last settings end the session on the server when no packet of the client arrives. By default, the session of a
    /// lost client stays for two hours, and keeps its locks while the server sends a result.
    private static let settings: StaticString = """
        SET plan_cache_mode = force_generic_plan; SET enable_seqscan = off; SET enable_bitmapscan = off;
        SET enable_sort = off; SET enable_hashjoin = off; SET enable_mergejoin = off; SET jit = off;
        SET default_transaction_isolation = 'read committed'; SET standard_conforming_strings = on;
        SET tcp_keepalives_idle = 5; SET tcp_keepalives_interval = 2; SET tcp_keepalives_count = 3;
        SET tcp_user_timeout = 10000
        """

    /// Connects to the server.
    ///
    /// - Throws: `PostgresFailure` of kind `lost`. The error contains no part of the address.
    init(_ address: PostgresAddress, timeout: Duration) throws {
        let options = address.options(timeout: timeout)
        let handle = withCStrings(options.map(\.name)) { names in
            withCStrings(options.map(\.value)) { values in PQconnectdbParams(names, values, 1) }
        }
        guard let handle else { throw PostgresFailure(kind: .lost, text: "no memory for a connection") }
        guard PQstatus(handle) == CONNECTION_OK else {
            let message = PQerrorMessage(handle).map { String(cString: $0) } ?? ""
            PQfinish(handle)
            throw PostgresFailure.connecting(message)
        }
        self.handle = handle
        // libpq would print notices of the server.
        PQsetNoticeProcessor(handle, { _, _ in }, nil)
        try execute(Self.settings)
        guard let key = try run(.lockKey).first?.optionalInt(0) else {
            throw PostgresFailure(kind: .refused, sqlState: "3F000", text: "no schema of the search path exists")
        }
        lockKey = key
    }

    deinit { PQfinish(handle) }

    /// The identifier of the session on the server.
    var backend: Int32 { PQbackendPID(handle) }
    /// The descriptor of the socket.
    var socket: Int32 { PQsocket(handle) }
    var isInTransaction: Bool { PQtransactionStatus(handle) == PQTRANS_INTRANS }

    /// Executes constant statements without parameters.
    @discardableResult
    func execute(_ sql: StaticString) throws -> PostgresResult {
        let result = sql.withUTF8Buffer { buffer in
            buffer.withMemoryRebound(to: CChar.self) { PQexec(handle, $0.baseAddress) }
        }
        return try check(result)
    }

    /// Executes one of the library's statements, which the session prepares at the first use.
    @discardableResult
    func run(_ sql: PostgresSQL, _ parameters: PostgresParameters = PostgresParameters()) throws -> PostgresResult {
        if !prepared[sql.rawValue] {
            try check(PQprepare(handle, sql.name, sql.text, 0, nil))
            prepared[sql.rawValue] = true
        }
        let result = parameters.withPointers { values, lengths, formats, count in
            PQexecPrepared(handle, sql.name, count, values, lengths, formats, 1)
        }
        return try check(result)
    }

    /// Executes a statement of the application. Results are in the text format.
    func run(text: String, _ values: [PostgresValue?]) throws -> PostgresResult {
        var parameters = PostgresParameters()
        var types: [Oid] = []
        var formats: [Int32] = []
        for value in values {
            parameters.append(value?.bytes)
            types.append(value?.type ?? 0)
            formats.append(value?.isBinary == true ? 1 : 0)
        }
        let result = parameters.withPointers(isTerminated: true) { values, lengths, _, count in
            PQexecParams(handle, text, count, types, values, lengths, formats, 0)
        }
        return try check(result)
    }

    /// Commits the open transaction.
    ///
    /// - Throws: `PostgresFailure` of kind `unknownOutcome` if the reply did not arrive.
    func commit() throws {
        do {
            let command = try execute("COMMIT").command
            guard command == "COMMIT" else {
                throw PostgresFailure(kind: .refused, sqlState: "25P02", text: "the transaction was rolled back")
            }
        } catch var failure as PostgresFailure where failure.kind == .lost {
            failure.kind = .unknownOutcome
            throw failure
        }
    }

    /// Rolls the open transaction back. A lost connection has no open transaction.
    func rollBack() { if PQtransactionStatus(handle) != PQTRANS_IDLE { _ = try? execute("ROLLBACK") } }

    // MARK: - Notifications

    /// Reads the data that the server has sent, and returns the texts of notifications. Does not wait.
    ///
    /// - Throws: `PostgresFailure` of kind `lost`.
    func notifications() throws -> [String] {
        guard PQconsumeInput(handle) == 1 else {
            throw PostgresFailure(kind: .lost, text: "the connection to PostgreSQL is lost")
        }
        var found: [String] = []
        while let notification = PQnotifies(handle) {
            found.append(String(cString: notification.pointee.extra))
            PQfreemem(notification)
        }
        return found
    }

    // MARK: - Errors

    @discardableResult
    private func check(_ handle: OpaquePointer?) throws -> PostgresResult {
        guard let handle else {
            throw PostgresFailure(kind: .lost, text: "the connection to PostgreSQL is lost")
        }
        let result = PostgresResult(handle)
        let status = PQresultStatus(handle)
        if status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK || status == PGRES_EMPTY_QUERY { return result }
        let state = Self.field("C", of: handle)
        // An error without a state is an error of libpq: the connection is unusable.
        let isLost = state.isEmpty || PQstatus(self.handle) != CONNECTION_OK || PostgresFailure.endsSession(state)
        let text = isLost ? "the connection to PostgreSQL is lost" : Self.field("M", of: handle)
        throw PostgresFailure(
            kind: isLost ? .lost : .refused, sqlState: state,
            text: text.isEmpty ? "the server refused a statement" : text)
    }

    /// Returns a field of an error by the letter of the protocol.
    private static func field(_ letter: Unicode.Scalar, of result: OpaquePointer) -> String {
        PQresultErrorField(result, Int32(letter.value)).map { String(cString: $0) } ?? ""
    }
}

/// Calls the body with an array of C strings that ends with null.
private func withCStrings<Result>(
    _ texts: [String], _ body: (UnsafePointer<UnsafePointer<CChar>?>) -> Result
) -> Result {
    let bytes = texts.map { Array($0.utf8CString) }
    var joined: [CChar] = []
    let starts = bytes.map { text in
        defer { joined += text }
        return joined.count
    }
    return joined.withUnsafeBufferPointer { buffer in
        var pointers: [UnsafePointer<CChar>?] = starts.map { start in buffer.baseAddress.map { $0 + start } }
        pointers.append(nil)
        return pointers.withUnsafeBufferPointer { list in
            guard let base = list.baseAddress else { preconditionFailure("the list has at least one element") }
            return body(base)
        }
    }
}

extension PostgresParameters {
    /// Calls the body with the pointers, the lengths and the formats that libpq expects.
    ///
    /// - Parameter isTerminated: Whether each value ends with a zero byte, as libpq expects for the text format.
    fileprivate func withPointers<Result>(
        isTerminated: Bool = false,
        _ body: (UnsafePointer<UnsafePointer<CChar>?>?, UnsafePointer<Int32>?, UnsafePointer<Int32>?, Int32) -> Result
    ) -> Result {
        var (bytes, starts, lengths): ([UInt8], [Int], [Int32]) = ([], [], [])
        var start = 0
        for entry in entries {
            starts.append(isTerminated ? bytes.count : start)
            lengths.append(Int32(entry.end - start))
            if isTerminated { bytes += self.bytes[start..<entry.end] + [0] }
            start = entry.end
        }
        if !isTerminated { bytes = self.bytes }
        // A pointer to an empty value must not be null, because null would be NULL.
        if bytes.isEmpty { bytes.append(0) }
        return bytes.withUnsafeBytes { buffer in
            let base = buffer.bindMemory(to: CChar.self).baseAddress
            let pointers = zip(entries, starts).map { entry, start in entry.isNull ? nil : base.map { $0 + start } }
            return body(pointers, lengths, [Int32](repeating: 1, count: entries.count), Int32(entries.count))
        }
    }
}
#endif
