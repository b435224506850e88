#if Postgres
import CPostgres
import DurableCore

/// An error of the server or of the connection to the server.
///
/// No text of libpq is part of an error as it is: libpq repeats parts of the address, and an address may contain a password.
struct PostgresFailure: Error {
    enum Kind {
        /// The connection does not exist or has ended. The fate of a transaction that was not committed is known: the server
        /// rolls it back.
        case lost
        /// The server refused a statement.
        case refused
        /// The connection ended after the client sent COMMIT. The transaction may be durable.
        case unknownOutcome
    }

    var kind: Kind
    /// The five characters of SQLSTATE; empty for an error without a reply.
    var sqlState = ""
    var text: String
    /// Whether statements of the application ended the session. The other requests of the group are not concerned.
    var isOfStatements = false

    static let lostConnection = PostgresFailure(kind: .lost, text: "the connection to PostgreSQL is lost")
    /// The server keeps the connection, and sends nothing.
    static let silentServer = PostgresFailure(kind: .lost, text: "the server of PostgreSQL does not answer")
    /// The address leads to a server that does not have the store any more.
    static let otherServer = PostgresFailure(
        kind: .lost, text: "the server at the address has another store, or none, in the schema")
    /// The server executed statements of one connection in several sessions.
    static let pooler = PostgresFailure(
        kind: .lost,
        text: """
            the sessions of the server change between statements, as with a pooler in transaction mode; \
            connect without the pooler, or in its session mode
            """)
    /// An application removed prepared statements of the library in its transaction, which the store repeats.
    static let forgottenStatement = PostgresFailure(
        kind: .refused, sqlState: "26000", text: "an application removed the prepared statements of the store")
    /// The schema has the tables of another store.
    static let foreignStore = PostgresFailure(
        kind: .refused, sqlState: "42P01", text: "the tables durable_ are those of another store")

    /// The statements of an application would lead the store to other tables, or to triggers and rules.
    static let changedTables = PostgresFailure(
        kind: .refused, sqlState: "42P16", text: "the statements change the tables of the store")

    var isOfForeignStore: Bool { sqlState == Self.foreignStore.sqlState && text == Self.foreignStore.text }

    /// Whether a table, a column, a function or a type does not exist, or is of another kind.
    var isOfSchema: Bool { kind == .refused && sqlState.hasPrefix("42") || sqlState == "0A000" }

    /// Whether the failure is the answer of a server that accepts no changes, as after a failover.
    var isOfReadOnlyServer: Bool { sqlState == "25006" || sqlState == "55000" && text.contains("recovery") }

    /// Whether the server answers that it has no place for a connection.
    var isOfFullServer: Bool { text == Self.fullServer }

    /// Whether a prepared statement does not exist, or exists already, in the session of the connection.
    var isOfPreparedStatement: Bool { sqlState == "26000" || sqlState == "42P05" }

    /// Whether a repetition of the transaction may succeed: after a deadlock, a conflict of transactions, or the loss of
    /// prepared statements.
    var permitsRepetition: Bool { sqlState == "40001" || sqlState == "40P01" || text == Self.forgottenStatement.text }

    /// The text, unless the text may name the database or the schema of the address.
    private var safeText: String { sqlState == "42501" ? "a permission of the user is missing" : text }

    /// The error for the caller of the store.
    var durableError: DurableError {
        switch sqlState {
        case "42P01" where text.contains("durable_"): .noSchema
        case "": .unavailable(text)
        case _ where isOfReadOnlyServer: .unavailable(Self.readOnly)
        default: .unavailable("PostgreSQL error \(sqlState): \(safeText)")
        }
    }

    /// The error for the caller whose transaction the server refused.
    var statementsError: any Error {
        switch durableError {
        case .unavailable where !Self.isOutage(sqlState): PostgresError(sqlState: sqlState, message: safeText)
        case let error: error
        }
    }

    /// Whether the class of the error means that the server lacks a resource: a full disk, memory, or a file.
    static func isOutage(_ sqlState: String) -> Bool { sqlState.hasPrefix("53") || sqlState.hasPrefix("58") }

    /// Whether the class of the error means the end of the session.
    static func endsSession(_ sqlState: String) -> Bool {
        sqlState.hasPrefix("08") || sqlState.hasPrefix("57P") || sqlState == "25P03" || sqlState == "25P04"
    }

    private static let fullServer = "the server has too many connections"
    private static let readOnly = "the server accepts no changes; a copy does so after a failover only"

    /// The reasons that messages of a failed connection contain, with texts that name no part of an address.
    private static let reasons: [(fragment: String, text: String)] = [
        ("password authentication failed", "the server refused the password"),
        ("no password supplied", "the server requires a password"),
        ("no pg_hba.conf entry", "the server does not permit the connection"),
        ("authentication failed", "the server refused the authentication"),
        ("starting up", "the server is starting"),
        ("shutting down", "the server is stopping"),
        ("too many", fullServer),
        ("Connection refused", "no server accepts connections at the address"),
        ("No such file or directory", "no server accepts connections at the address"),
        ("could not translate host name", "the name of the host is unknown"),
        ("No route to host", "no route leads to the host"),
        ("unreachable", "no route leads to the host"),
        ("timeout expired", "the server did not answer in time"),
        ("invalid port number", "the port is not a number"),
        ("session is read-only", readOnly),
        ("server is in hot standby mode", readOnly),
        ("unsupported startup parameter", "a pooler refuses a parameter of the address"),
        ("permission denied for database", "the server does not permit the connection"),
        ("is not permitted to log in", "the server does not permit the user to connect"),
        ("is not currently accepting connections", "the database accepts no connections"),
        ("connection slots are reserved", fullServer),
        ("role \"", "the server does not know the user"),
        ("database \"", "the server does not have the database"),
    ]

    /// Creates the error of a connection that failed.
    static func connecting(_ handle: OpaquePointer) -> PostgresFailure {
        let message = PQerrorMessage(handle).map { String(cString: $0) } ?? ""
        let reason = reasons.first { message.contains($0.fragment) }?.text
        return PostgresFailure(
            kind: .lost,
            text: reason ?? "the connection to PostgreSQL failed: \(redacted(message, values: values(of: handle)))")
    }

    /// The values of the address that libpq may repeat. Its own default values are no secrets.
    private static func values(of handle: OpaquePointer) -> [String] {
        guard let options = PQconninfo(handle) else { return [] }
        defer { PQconninfoFree(options) }
        var values: [String] = []
        var option = options
        while option.pointee.keyword != nil {
            let (value, standard) = (option.pointee.val, option.pointee.compiled)
            if let value = value.map({ String(cString: $0) }), value != standard.map({ String(cString: $0) }) {
                values.append(value)
            }
            option += 1
        }
        return values
    }

    /// Returns the last reason of a message of libpq without values of the address: libpq puts values in quotes and brackets.
    static func redacted(_ message: String, values: [String]) -> String {
        var text = message
        // A long value first, because a short one may be a part of it.
        for value in values.sorted(by: { $0.utf8.count > $1.utf8.count }) where value.utf8.count > 2 {
            text = text.replacing(value, with: "…")
        }
        var (result, end): (String, Character?) = ("", nil)
        for character in text {
            if let expected = end {
                if character == expected { end = nil }
                continue
            }
            switch character {
            case "\"": end = "\""
            case "(": end = ")"
            case _ where character.isWhitespace: if result.last != " " { result.append(" ") }
            default: result.append(character)
            }
        }
        let reason = result.split(separator: "failed: ").last.map(String.init) ?? ""
        return String(reason.prefix(300)).trimmed
    }
}

extension String {
    fileprivate var trimmed: String {
        let start = drop { $0.isWhitespace }
        return String(start.prefix(start.count - start.reversed().prefix { $0.isWhitespace }.count))
    }
}

extension DurableError {
    /// Returns an error of the database as an error of the store. Returns other errors unchanged.
    static func wrapping(postgres error: any Error) -> any Error {
        (error as? PostgresFailure).map { $0.durableError } ?? error
    }
}
#endif
