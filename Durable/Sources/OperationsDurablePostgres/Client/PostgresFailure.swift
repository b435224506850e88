#if Postgres
import DurableCore

/// An error of the server or of the connection to the server.
///
/// No text of libpq is part of an error, because libpq repeats parts of the address, and an address may contain a password.
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

    /// Whether a repetition of the transaction may succeed: a deadlock or a conflict of transactions.
    var permitsRepetition: Bool { sqlState == "40001" || sqlState == "40P01" }

    /// The text, unless the text may name the database or the schema of the address.
    private var safeText: String { sqlState == "42501" ? "a permission of the user is missing" : text }

    /// The error for the caller of the store.
    var durableError: DurableError {
        switch sqlState {
        case "42P01" where text.contains("durable_"): .noSchema
        case "": .unavailable(text)
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
        sqlState.hasPrefix("08") || sqlState.hasPrefix("57P") || sqlState == "25P03"
    }

    /// The reasons that messages of a failed connection contain, with texts that name no part of an address.
    private static let reasons: [(fragment: String, text: String)] = [
        ("password authentication failed", "the server refused the password"),
        ("no password supplied", "the server requires a password"),
        ("no pg_hba.conf entry", "the server does not permit the connection"),
        ("authentication failed", "the server refused the authentication"),
        ("starting up", "the server is starting"),
        ("shutting down", "the server is stopping"),
        ("too many", "the server has too many connections"),
        ("Connection refused", "no server accepts connections at the address"),
        ("No such file or directory", "no server accepts connections at the address"),
        ("could not translate host name", "the name of the host is unknown"),
        ("No route to host", "no route leads to the host"),
        ("unreachable", "no route leads to the host"),
        ("timeout expired", "the server did not answer in time"),
        ("invalid port number", "the port is not a number"),
        ("role \"", "the server does not know the user"),
        ("database \"", "the server does not have the database"),
    ]

    /// Creates the error of a failed connection from a message of libpq.
    static func connecting(_ message: String) -> PostgresFailure {
        let reason = reasons.first { message.contains($0.fragment) }?.text
        return PostgresFailure(kind: .lost, text: reason ?? "the connection to PostgreSQL failed")
    }
}

extension DurableError {
    /// Returns an error of the database as an error of the store. Returns other errors unchanged.
    static func wrapping(postgres error: any Error) -> any Error {
        (error as? PostgresFailure).map { $0.durableError } ?? error
    }
}
#endif
