#if Postgres
import DurableCore

/// A connection of the store in an open transaction of the application.
///
/// The object is valid during the call that received the object.
public final class PostgresTransaction {
    private let rows: PostgresRows
    private let limits: DurableLimits
    private let storeID: ObjectIdentifier
    private var isOpen = true
    /// The error after which the store repeats the transaction, or reports the loss of the connection.
    private(set) var fatal: PostgresFailure?
    private(set) var effects = Effects()
    private(set) var hooks: [@Sendable () -> Void] = []

    init(_ rows: PostgresRows, limits: DurableLimits, storeID: ObjectIdentifier) {
        (self.rows, self.limits, self.storeID) = (rows, limits, storeID)
    }

    /// Executes one statement, with all values as parameters: `$1` is the first.
    ///
    /// - Throws: `PostgresError` if the server refuses the statement. The transaction then rolls back.
    @discardableResult
    public func execute(_ sql: String, _ parameters: [PostgresValue?] = []) throws -> [PostgresRow] {
        guard isOpen else { throw PostgresError(sqlState: "25000", message: "the transaction has ended") }
        guard !Self.endsTransaction(sql) else {
            throw PostgresError(sqlState: "2D000", message: "the store begins and ends the transaction")
        }
        guard !sql.utf8.contains(0), !parameters.contains(where: { $0?.hasZero == true }) else {
            // The client would end the statement at the byte, and PostgreSQL stores no such text.
            throw PostgresError(sqlState: "22021", message: "a text contains a zero byte")
        }
        do {
            try rows.connection.enterApplication()
            let result = try rows.connection.run(text: sql, parameters)
            return (0..<result.count).map { PostgresRow(result, $0) }
        } catch let failure as PostgresFailure {
            if failure.kind != .refused || failure.permitsRepetition { fatal = failure }
            throw PostgresError(sqlState: failure.sqlState, message: failure.text)
        }
    }

    /// Whether the statement would begin or end a transaction.
    private static func endsTransaction(_ sql: String) -> Bool {
        let word = withoutLeadingComments(sql).prefix { $0.isLetter }.lowercased()
        return ["begin", "start", "commit", "end", "rollback", "abort", "savepoint", "release", "prepare"].contains(
            word)
    }

    /// Returns the text from the first word on.
    static func withoutLeadingComments(_ sql: String) -> Substring {
        var rest = sql[...]
        while true {
            rest = rest.drop { $0.isWhitespace || $0 == ";" }
            if rest.hasPrefix("--") {
                rest = rest.drop { !$0.isNewline }
            } else if rest.hasPrefix("/*") {
                // Comments of PostgreSQL nest.
                var depth = 0
                repeat {
                    if rest.hasPrefix("/*") {
                        (depth, rest) = (depth + 1, rest.dropFirst(2))
                    } else if rest.hasPrefix("*/") {
                        (depth, rest) = (depth - 1, rest.dropFirst(2))
                    } else {
                        rest = rest.dropFirst()
                    }
                } while depth > 0 && !rest.isEmpty
            } else {
                return rest
            }
        }
    }

    /// Applies an event of the store in the transaction.
    ///
    /// - Throws: `DurableError.noSchema` for the transaction of another store, and the errors of the event.
    func apply<Reply>(to store: PostgresStore, _ event: (inout DurableMachine) throws -> Reply) throws -> Reply {
        guard isOpen, storeID == ObjectIdentifier(store) else { throw DurableError.noSchema }
        var machine = DurableMachine(rows: rows, limits: limits)
        do {
            let reply = try event(&machine)
            effects.merge(machine.takeEffects())
            return reply
        } catch let failure as PostgresFailure {
            if failure.kind != .refused || failure.permitsRepetition { fatal = failure }
            // The cause may be a statement of the application, whose error the closure hides.
            throw fatal?.durableError ?? failure.statementsError
        }
    }

    /// Calls the closure after the commit.
    func afterCommit(_ hook: @escaping @Sendable () -> Void) { hooks.append(hook) }

    func close() { isOpen = false }
}

/// An error of the server about a statement of the application.
public struct PostgresError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The five characters of SQLSTATE; empty for a lost connection.
    public let sqlState: String
    /// The text of the server.
    public let message: String

    public var description: String {
        sqlState.isEmpty ? "PostgreSQL: \(message)" : "PostgreSQL error \(sqlState): \(message)"
    }
}
#endif
