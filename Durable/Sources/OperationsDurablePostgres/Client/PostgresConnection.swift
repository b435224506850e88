#if Postgres
import CPostgres
import DurableCore
import Foundation
import OperationsDurable

/// A connection to a server of PostgreSQL. The calls block, and one serial queue makes all calls.
final class PostgresConnection {
    let handle: OpaquePointer
    let settings: PostgresSettings
    private(set) var home: PostgresHome
    private var prepared = [Bool](repeating: false, count: PostgresSQL.allCases.count)
    private let marker: String
    /// The time after which a server that sends no reply to statements of the library counts as lost; nil for no limit.
    private let replyLimit: Duration?
    private let probe: PostgresProbe
    private var pending: [Message] = []
    /// The number of waiting messages before the savepoint of an application; nil if the server has the savepoint.
    private var savepoint: Int?
    var side = Side.library
    /// The definitions of the tables before the statements of an application.
    var tables: String?
    /// Whether statements of an application may have changed the session.
    var hasForeignTraces = false
    /// Whether an application removed prepared statements of the library. Messages then have texts in place of names.
    var hasForgottenStatements = false

    /// The schema of the tables, as the key of the lock of writing transactions.
    var lockKey: Int64 { home.lockKey }
    var identity: String? { home.identity }

    /// Connects to the server.
    ///
    /// - Parameters:
    ///   - home: The place of the store; nil for the first schema of the search path.
    ///   - timeouts: Settings of the server that limit times.
    ///   - replyLimit: The time after which a silent server counts as lost.
    /// - Throws: `PostgresFailure` of kind `lost`. The error contains no part of the address.
    init(
        _ address: PostgresAddress, timeout: Duration, home: PostgresHome? = nil,
        timeouts: [(name: String, value: String)] = [], replyLimit: Duration? = nil
    ) throws {
        self.replyLimit = replyLimit
        let options = address.options(timeout: timeout)
        let handle = withCStrings(options.map(\.name)) { names in
            withCStrings(options.map(\.value)) { values in PQconnectdbParams(names, values, 1) }
        }
        guard let handle else { throw PostgresFailure(kind: .lost, text: "no memory for a connection") }
        guard PQstatus(handle) == CONNECTION_OK else {
            let failure = PostgresFailure.connecting(handle)
            PQfinish(handle)
            throw failure
        }
        // libpq would print notices of the server.
        PQsetNoticeProcessor(handle, { _, _ in }, nil)
        do {
            let found = try Self.check(PQexec(handle, PostgresSettings.reading), of: handle)
            guard let place = home ?? found.home else {
                throw PostgresFailure(kind: .refused, sqlState: "3F000", text: "no schema of the search path exists")
            }
            let last = found.columnCount - 1
            let values = (2..<last).map { found.isNull(0, $0) ? nil : found.text(0, $0) }
            probe = PostgresProbe(address: address, timeout: timeout, session: found.text(0, last))
            marker = "\(UInt64.random(in: 1...UInt64.max))"
            settings = PostgresSettings(schema: place.schema, values: values, timeouts: timeouts, marker: marker)
            self.home = place
            _ = try Self.check(PQexec(handle, settings.settingOwn), of: handle)
        } catch {
            PQfinish(handle)
            throw error
        }
        self.handle = handle
        guard let expected = home?.identity else { return }
        // The address may lead to another server meanwhile, for example to one of a test.
        guard try run(.identity).first?.text(0) == expected else { throw PostgresFailure.otherServer }
    }

    /// Notes the identity of the store, which each later connection and transaction checks.
    func setIdentity(_ identity: String) { home.identity = identity }

    deinit { PQfinish(handle) }

    /// The identifier of the session on the server.
    var backend: Int32 { PQbackendPID(handle) }
    /// The descriptor of the socket.
    var socket: Int32 { PQsocket(handle) }
    var isInTransaction: Bool { PQtransactionStatus(handle) == PQTRANS_INTRANS }

    /// Executes constant statements without parameters.
    ///
    /// - Parameter isLimited: Whether the server counts as lost after a time without a reply.
    @discardableResult
    func execute(_ sql: StaticString, isLimited: Bool = true) throws -> PostgresResult {
        try lastResult(of: executeAll("\(sql)", isLimited: isLimited))
    }

    /// Executes statements without parameters in one message. Returns the result of each.
    ///
    /// - Parameter isLimited: Whether the server counts as lost after a time without a reply.
    @discardableResult
    func executeAll(_ sql: String, isLimited: Bool = true) throws -> [PostgresResult] {
        guard PQsendQuery(handle, sql) == 1 else { throw PostgresFailure.lostConnection }
        var results: [PostgresResult] = []
        var failure: (any Error)?
        while let result = try nextResult(isLimited: isLimited) {
            do { results.append(try check(result)) } catch { failure = failure ?? error }
        }
        if let failure { throw failure }
        guard !results.isEmpty else { throw PostgresFailure.lostConnection }
        return results
    }

    // MARK: - Messages

    /// A statement that waits for the next message to the server.
    fileprivate enum Message {
        case library(PostgresSQL, PostgresParameters)
        case command(String)
        case application(String, [PostgresValue?])
    }

    /// Sends the statement with the next statement whose result the caller needs.
    ///
    /// A round trip costs more than most statements. The server executes waiting statements in their order, and none after an
    /// error.
    func enqueue(_ sql: PostgresSQL, _ parameters: PostgresParameters = PostgresParameters()) {
        pending.append(.library(sql, parameters))
    }

    /// Sends the command with the next statement whose result the caller needs.
    func enqueue(command: String) { pending.append(.command(command)) }

    /// Sends a savepoint with the next statement whose result the caller needs.
    func enqueueSavepoint() {
        savepoint = pending.count
        enqueue(command: "SAVEPOINT durable")
    }

    /// Returns to the savepoint. Statements that wait since then are discarded.
    ///
    /// - Returns: Whether the server has the savepoint.
    func discardToSavepoint() -> Bool {
        pending.removeSubrange((savepoint ?? 0)...)
        return savepoint == nil
    }

    var hasPending: Bool { !pending.isEmpty }

    func discardPending() { pending = [] }

    /// Executes one of the library's statements, which the session prepares at the first use.
    @discardableResult
    func run(_ sql: PostgresSQL, _ parameters: PostgresParameters = PostgresParameters()) throws -> PostgresResult {
        enqueue(sql, parameters)
        return try lastResult(of: send())
    }

    /// Executes a statement of the application. Results are in the text format.
    func run(text: String, _ values: [PostgresValue?]) throws -> PostgresResult {
        if PostgresTransaction.withoutLeadingComments(text).prefix(4).lowercased() != "copy" {
            pending.append(.application(text, values))
            return try lastResult(of: send())
        }
        // A message of several statements permits no transfer.
        try send()
        let parameters = PostgresParameters(values)
        let result = parameters.withPointers(isTerminated: true) { pointers, lengths, _, count in
            PQexecParams(handle, text, count, values.types, pointers, lengths, values.formats, 0)
        }
        try endCopy(result)
        return try check(result)
    }

    /// Returns the next result; nil at the end of a statement.
    ///
    /// A server whose processes stand still answers no packet and no end, and the system of its machine keeps the connection.
    ///
    /// - Parameter isLimited: Whether the statements have a limit of time. Others end when the server does not have the session any
    ///   more, or accepts no connection.
    /// - Throws: `PostgresFailure.silentServer`.
    private func nextResult(isLimited: Bool) throws -> OpaquePointer? {
        guard let replyLimit else { return PQgetResult(handle) }
        var end = ContinuousClock.now + replyLimit
        while PQisBusy(handle) == 1 {
            let rest = end - .now
            if rest <= .zero {
                if isLimited || !probe.findsSession() { throw PostgresFailure.silentServer }
                end = .now + replyLimit
                continue
            }
            var entry = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
            _ = poll(&entry, 1, Int32(clamping: rest.microseconds / 1_000 + 1))
            // The result then has the reason.
            if entry.revents != 0, PQconsumeInput(handle) != 1 { break }
        }
        return PQgetResult(handle)
    }

    private func lastResult(of results: [PostgresResult]) throws -> PostgresResult {
        guard let result = results.last else { throw PostgresFailure.lostConnection }
        return result
    }

    /// Sends the waiting statements in one message, and returns the result of each.
    ///
    /// - Throws: The first error. The server has then executed no later statement.
    @discardableResult
    func send() throws -> [PostgresResult] {
        if pending.isEmpty { return [] }
        let messages = pending
        (pending, savepoint) = ([], nil)
        guard PQenterPipelineMode(handle) == 1 else { throw PostgresFailure.lostConnection }
        var results: [PostgresResult] = []
        var preparing: [PostgresSQL?] = []
        for message in messages { try append(message, to: &preparing) }
        guard PQpipelineSync(handle) == 1 else { throw PostgresFailure.lostConnection }
        var failure: (error: any Error, isOfApplication: Bool)?
        // Statements of an application may take any time.
        let isLimited = !messages.contains(where: \.isOfApplication)
        for sql in preparing {
            while let result = try nextResult(isLimited: isLimited) {
                if failure != nil || PQresultStatus(result) == PGRES_PIPELINE_ABORTED {
                    PQclear(result)
                    continue
                }
                do {
                    let checked = try check(result)
                    if let sql { prepared[sql.rawValue] = true } else { results.append(checked) }
                } catch { failure = (error, sql == nil && messages[results.count].isOfApplication) }
            }
        }
        // The mark of the end of the message.
        PQclear(try nextResult(isLimited: isLimited))
        guard PQexitPipelineMode(handle) == 1, PQstatus(handle) == CONNECTION_OK else {
            if let lost = failure?.error as? PostgresFailure, lost.kind == .lost { throw lost }
            throw PostgresFailure.lostConnection
        }
        guard let failure else { return results }
        throw failure.isOfApplication ? failure.error : replacing(failure.error)
    }

    /// Returns the error of a statement of the library. A prepared statement that does not exist has a cause of its own.
    func replacing(_ error: any Error) -> any Error {
        guard let failure = error as? PostgresFailure, failure.isOfPreparedStatement else { return error }
        if !hasForeignTraces { return PostgresFailure.pooler }
        hasForgottenStatements = true
        return PostgresFailure.forgottenStatement
    }

    /// Appends a statement to the message, and before it the preparation of a statement that is not prepared.
    ///
    /// - Parameter preparing: The replies to expect: a statement for its preparation, and nil for an execution.
    private func append(_ message: Message, to preparing: inout [PostgresSQL?]) throws {
        preparing.append(nil)
        var isSent: Int32
        switch message {
        case .library(let sql, let parameters):
            if !prepared[sql.rawValue], !preparing.contains(sql) {
                preparing.insert(sql, at: preparing.count - 1)
                guard PQsendPrepare(handle, sql.name, settings.text(of: sql), 0, nil) == 1 else {
                    throw PostgresFailure.lostConnection
                }
            }
            isSent = parameters.withPointers { values, lengths, formats, count in
                PQsendQueryPrepared(handle, sql.name, count, values, lengths, formats, 1)
            }
        case .command(let text): isSent = PQsendQueryParams(handle, text, 0, nil, nil, nil, nil, 1)
        case .application(let text, let values):
            isSent = PostgresParameters(values).withPointers(isTerminated: true) { pointers, lengths, _, count in
                PQsendQueryParams(handle, text, count, values.types, pointers, lengths, values.formats, 0)
            }
        }
        guard isSent == 1 else { throw PostgresFailure.lostConnection }
    }

    /// Prepares statements that later messages execute by their names.
    func prepare(_ statements: [PostgresSQL]) throws {
        for sql in statements where !prepared[sql.rawValue] {
            try check(PQprepare(handle, sql.name, settings.text(of: sql), 0, nil))
            prepared[sql.rawValue] = true
        }
    }

    /// Ends a transfer of `COPY`, which the application cannot continue.
    private func endCopy(_ result: OpaquePointer?) throws {
        let status = PQresultStatus(result)
        guard status == PGRES_COPY_IN || status == PGRES_COPY_OUT || status == PGRES_COPY_BOTH else { return }
        PQclear(result)
        if status != PGRES_COPY_OUT { PQputCopyEnd(handle, "not supported") }
        var row: UnsafeMutablePointer<CChar>?
        while status != PGRES_COPY_IN, PQgetCopyData(handle, &row, 0) > 0 { PQfreemem(row) }
        while let rest = PQgetResult(handle) { PQclear(rest) }
        throw PostgresFailure(kind: .refused, sqlState: "0A000", text: "COPY from or to the client is not supported")
    }

    /// Commits the open transaction, after the waiting statements.
    ///
    /// - Parameter isEarly: Whether the commit of statements of an application returns before it is durable.
    /// - Throws: `PostgresFailure` of kind `unknownOutcome` if the reply did not arrive.
    func commit(isEarly: Bool = false) throws {
        do {
            let command: String
            if hasForeignTraces, !hasPending {
                command = try commitApplications(isEarly: isEarly).command
            } else {
                try endApplications(isEarly: isEarly)
                enqueue(command: "COMMIT")
                command = try lastResult(of: send()).command
            }
            guard command == "COMMIT" else {
                throw PostgresFailure(kind: .refused, sqlState: "25P02", text: "the transaction was rolled back")
            }
        } catch var failure as PostgresFailure where failure.kind == .lost {
            failure.kind = .unknownOutcome
            throw failure
        }
    }

    /// Returns the process that holds the lock of the writers, and the age of its transaction.
    func lockHolder() throws -> (text: String, time: Duration)? {
        var key = PostgresParameters()
        key.append(lockKey)
        guard let row = try run(.lockHolder, key).first else { return nil }
        let (name, time) = (row.text(1), Duration.microseconds(row.int(3)))
        let process = "process \(row.int(0)) of the server\(name.isEmpty ? "" : ", '\(name)'"), \(row.text(2)),"
        return ("\(process) has held the lock of the store for \(time.formattedSeconds)", time)
    }

    /// The number of statements that the session has prepared for the library.
    var preparedCount: Int { prepared.count { $0 } }

    /// Notes that the session has no prepared statements any more.
    func forgetPrepared() { prepared = [Bool](repeating: false, count: prepared.count) }

    /// Checks that the server executed the last statement in the session of this connection.
    ///
    /// - Parameter marker: The value of the setting `durable.session`.
    func checkSession(_ marker: String?) throws { if marker != self.marker { throw PostgresFailure.pooler } }

    /// A value that the server reports when it changes, for example the encoding.
    func parameter(_ name: String) -> String? { PQparameterStatus(handle, name).map { String(cString: $0) } }

    // MARK: - Notifications

    /// Reads the data that the server has sent, and returns the texts of notifications. Does not wait.
    ///
    /// - Throws: `PostgresFailure` of kind `lost`.
    func notifications() throws -> [String] {
        guard PQconsumeInput(handle) == 1 else {
            throw PostgresFailure.lostConnection
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
    private func check(_ result: OpaquePointer?) throws -> PostgresResult {
        do { return try Self.check(result, of: handle) } catch var failure as PostgresFailure {
            if failure.isOfReadOnlyServer, !hasForeignTraces || isReadOnly { failure.kind = .lost }
            throw failure
        }
    }

    /// Whether the server reports that it accepts no changes. Servers before version 14 report nothing.
    private var isReadOnly: Bool {
        parameter("in_hot_standby") == "on" || parameter("default_transaction_read_only") == "on"
    }

    private static func check(_ result: OpaquePointer?, of connection: OpaquePointer) throws -> PostgresResult {
        guard let handle = result else { throw PostgresFailure.lostConnection }
        let result = PostgresResult(handle)
        let status = PQresultStatus(handle)
        if status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK || status == PGRES_EMPTY_QUERY { return result }
        let state = field("C", of: handle)
        // An error without a state is an error of libpq: the connection is unusable.
        let isLost = state.isEmpty || PQstatus(connection) != CONNECTION_OK || PostgresFailure.endsSession(state)
        if isLost { throw PostgresFailure(kind: .lost, sqlState: state, text: PostgresFailure.lostConnection.text) }
        let text = field("M", of: handle)
        throw PostgresFailure(
            kind: .refused, sqlState: state, text: text.isEmpty ? "the server refused a statement" : text)
    }

    /// Returns a field of an error by the letter of the protocol.
    private static func field(_ letter: Unicode.Scalar, of result: OpaquePointer) -> String {
        PQresultErrorField(result, Int32(letter.value)).map { String(cString: $0) } ?? ""
    }
}

extension PostgresConnection.Message {
    fileprivate var isOfApplication: Bool { if case .application = self { true } else { false } }
}

extension [PostgresValue?] {
    /// The fixed numbers of the types; 0 for a type that the server infers.
    fileprivate var types: [Oid] { map { $0?.type ?? 0 } }
    /// 1 for the binary format, 0 for the text format.
    fileprivate var formats: [Int32] { map { $0?.isBinary == true ? 1 : 0 } }
}

extension PostgresParameters {
    /// Creates the parameters of a statement of the application.
    fileprivate init(_ values: [PostgresValue?]) {
        self.init()
        for value in values { append(value?.bytes) }
    }
}

extension PostgresResult {
    /// The place of a new store, in the result of `PostgresSettings.reading`; nil if the search path has no schema.
    fileprivate var home: PostgresHome? {
        guard !isNull(0, 0), let key = Int64(text(0, 1)) else { return nil }
        return PostgresHome(schema: text(0, 0), lockKey: key)
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
