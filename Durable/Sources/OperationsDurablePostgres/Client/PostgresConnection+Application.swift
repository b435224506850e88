#if Postgres
import CPostgres
import DurableCore

/// The statements of an application share the session and the transaction with the library's statements, but no settings.
///
/// The library restores the session when it needs the session again, and not at the end of the statements.
extension PostgresConnection {
    /// Whose settings the open transaction has.
    enum Side {
        case library
        case application
        /// The library has its settings within the statements of an application, whose values wait.
        case interlude([String])
        /// The statements of an application have ended, and their savepoint, settings and other traces remain.
        case residue
    }

    /// The statements that messages execute by their names.
    private static let named: [PostgresSQL] = [.settle, .exchange, .verify, .unlock]

    /// Begins statements of an application, after a savepoint.
    func beginStatements() throws {
        try enterLibrary()
        enqueueSavepoint()
    }

    /// Gives the transaction the settings of the application, before a statement of the application.
    func enterApplication() throws {
        switch side {
        case .library:
            hasForeignTraces = true
            if !hasForgottenStatements { try prepare(Self.named) }
            for command in settings.settingInitial { enqueue(command: command) }
        case .interlude(let values):
            try send()
            try executeAll(settings.settingBack(values))
        case .application, .residue: break
        }
        side = .application
    }

    /// Gives the transaction the settings of the library, before a statement of the library.
    ///
    /// - Throws: `PostgresFailure`; `foreignStore` if the tables are those of another store.
    func enterLibrary() throws {
        switch side {
        case .application:
            try restoreEncoding()
            let results = try executeByName([], [part(.exchange), part(.verify)])
            let values = results[results.count - 2]
            side = .interlude((0..<values.columnCount / 2).map { values.text(0, $0) })
            try verify(results[results.count - 1])
        case .residue: try restore()
        case .library, .interlude: break
        }
    }

    /// Ends the statements of the application.
    func endStatements() {
        if case .library = side { enqueue(command: "RELEASE SAVEPOINT durable") } else { side = .residue }
    }

    /// Undoes and ends the statements of the application.
    func undoStatements() throws {
        guard discardToSavepoint() else {
            side = .library
            return
        }
        try execute("ROLLBACK TO SAVEPOINT durable")
        endStatements()
    }

    /// Restores the session before statements of the library that precede the commit.
    ///
    /// Deferred triggers are the last statements of an application. They run before the settings of the library return.
    ///
    /// - Parameter isEarly: Whether the commit returns before it is durable.
    func endApplications(isEarly: Bool) throws {
        guard hasForeignTraces else { return }
        try restore(beforeCommit: true)
        hasForeignTraces = false
        enqueue(command: Self.synchronousCommit(isEarly: isEarly))
    }

    /// Restores the session, and commits the open transaction in the same message.
    ///
    /// - Returns: The result of the commit.
    func commitApplications(isEarly: Bool) throws -> PostgresResult {
        let results = try restore(beforeCommit: true, then: [Self.synchronousCommit(isEarly: isEarly), "COMMIT"])
        hasForeignTraces = false
        return results[results.count - 1]
    }

    private static func synchronousCommit(isEarly: Bool) -> String {
        "SET LOCAL synchronous_commit = \(isEarly ? "off" : "on")"
    }

    /// Rolls the open transaction back, and discards all traces of an application in the session. A lost connection has no open
    /// transaction.
    ///
    /// - Throws: `PostgresFailure` if the session is unusable.
    func rollBack() throws {
        discardPending()
        side = .library
        if PQtransactionStatus(handle) != PQTRANS_IDLE { try execute("ROLLBACK") }
        guard hasForeignTraces else { return }
        try restore()
        hasForeignTraces = false
    }

    /// Discards everything that statements of an application have left in the session, and checks the tables.
    ///
    /// - Parameters:
    ///   - beforeCommit: Whether deferred triggers run before, with the initial settings.
    ///   - commands: Commands that follow.
    @discardableResult
    private func restore(beforeCommit: Bool = false, then commands: [String] = []) throws -> [PostgresResult] {
        try restoreEncoding()
        var parts: [String] = []
        if case .residue = side { parts.append("RELEASE SAVEPOINT durable") }
        if beforeCommit {
            parts += ["RESET SESSION AUTHORIZATION", "RESET ROLE"] + settings.settingInitial
            parts.append("SET CONSTRAINTS ALL IMMEDIATE")
        }
        let named = [part(.unlock), part(.settle), part(.verify)] + commands
        let results = try executeByName(parts + PostgresSettings.cleaning, named)
        side = .library
        try verify(results[results.count - 1 - commands.count])
        return results
    }

    /// Executes statements, and after them statements that may refer to prepared statements of the library.
    ///
    /// The server executes no statement of an application that has the name of one of the library.
    private func executeByName(_ statements: [String], _ named: [String]) throws -> [PostgresResult] {
        let guarded = hasForgottenStatements ? [] : [PostgresSettings.refusingReplaced]
        let text = (statements + guarded + named).joined(separator: "; ")
        // Deferred triggers of an application may take any time.
        do { return try executeAll(text, isLimited: statements.isEmpty) } catch let failure as PostgresFailure {
            for known in [PostgresFailure.foreignStore, .changedTables] where failure.text.contains(known.text) {
                throw known
            }
            guard failure.text.contains(PostgresSettings.replaced) else { throw replacing(failure) }
            hasForgottenStatements = true
            throw PostgresFailure.forgottenStatement
        }
    }

    /// Returns the execution of a statement by its name, or its text if an application removes prepared statements.
    private func part(_ sql: PostgresSQL) -> String {
        let values = sql == .verify ? [identity, tables].map { PostgresSettings.literal($0 ?? "") } : []
        if hasForgottenStatements {
            return values.enumerated().reduce(settings.text(of: sql)) { text, value in
                text.replacing("$\(value.offset + 1)", with: value.element)
            }
        }
        return "EXECUTE \(sql.name)\(values.isEmpty ? "" : "(\(values.joined(separator: ", ")))")"
    }

    /// Restores the encoding, in which the server reads the text of the next statements.
    private func restoreEncoding() throws {
        if parameter("client_encoding") != "UTF8" { try execute("SET LOCAL client_encoding = 'UTF8'") }
    }

    /// Checks the result of the statement `verify`. Discards all prepared statements if the application changed them.
    private func verify(_ result: PostgresResult) throws {
        if Int(result.text(0, 1)) != preparedCount || result.text(0, 2) != "0" {
            try execute("DEALLOCATE ALL")
            forgetPrepared()
        }
    }
}
#endif
