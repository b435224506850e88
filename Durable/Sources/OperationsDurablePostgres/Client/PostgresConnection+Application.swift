#if Postgres
import CPostgres
import DurableCore

/// The statements of an application share the session and the transaction with the library's statements, but no settings.
extension PostgresConnection {
    /// Whose settings the open transaction has.
    enum Side {
        case library
        case application
        /// The library has its settings within the statements of an application, whose values wait.
        case interlude([String])
    }

    /// Begins statements of an application, after a savepoint.
    func beginStatements() throws {
        hasForeignTraces = true
        try executeAll("SAVEPOINT durable; \(settings.settingInitial)")
        side = .application
    }

    /// Gives the transaction the settings of the library, before the library's statements.
    ///
    /// - Throws: `PostgresFailure`; `foreignStore` if the tables are those of another store.
    func enterLibrary() throws {
        guard case .application = side else { return }
        try restoreEncoding()
        let results = try executeAll(settings.exchangingForOwn)
        side = .interlude((0..<results[0].columnCount).map { results[0].text(0, $0) })
        try verify(results[results.count - 1])
    }

    /// Gives the transaction the settings of the application again.
    func enterApplication() throws {
        guard case .interlude(let values) = side else { return }
        try executeAll(settings.settingBack(values))
        side = .application
    }

    /// Ends the statements of the application.
    ///
    /// - Throws: `PostgresFailure`; `foreignStore` if the statements moved the tables of the store. The savepoint does not
    ///   exist any more after `foreignStore`.
    func endStatements() throws { try leave("RELEASE SAVEPOINT durable") }

    /// Undoes and ends the statements of the application.
    func undoStatements() throws { try leave("ROLLBACK TO SAVEPOINT durable; RELEASE SAVEPOINT durable") }

    private func leave(_ text: String) throws {
        try restoreEncoding()
        let results = try executeAll("\(text); \(settings.cleaning); \(settings.checking)")
        side = .library
        try verify(results[results.count - 1])
    }

    /// Commits the open transaction, and discards everything that statements of an application have left in the session.
    ///
    /// Deferred triggers are the last statements of an application. They run before the settings of the library return.
    ///
    /// - Parameter isEarly: Whether the commit returns before it is durable.
    func commitStatements(isEarly: Bool) throws {
        let results = try executeAll(
            """
            \(settings.settingInitial); SET CONSTRAINTS ALL IMMEDIATE; \(settings.cleaning); \
            SET LOCAL synchronous_commit = \(isEarly ? "off" : "on"); \(settings.checking); COMMIT
            """)
        hasForeignTraces = false
        guard results[results.count - 1].command == "COMMIT" else {
            throw PostgresFailure(kind: .refused, sqlState: "25P02", text: "the transaction was rolled back")
        }
        do { try verify(results[results.count - 2]) } catch var failure as PostgresFailure {
            // The transaction is committed, and must not be repeated.
            failure.kind = .unknownOutcome
            throw failure
        }
    }

    /// Rolls the open transaction back, and discards all traces of an application in the session. A lost connection has no open
    /// transaction.
    ///
    /// - Throws: `PostgresFailure` if the session is unusable.
    func rollBack() throws {
        side = .library
        if PQtransactionStatus(handle) != PQTRANS_IDLE { try execute("ROLLBACK") }
        guard hasForeignTraces else { return }
        let results = try executeAll("\(settings.cleaning); \(settings.checking)")
        hasForeignTraces = false
        try verify(results[results.count - 1])
    }

    /// Restores the encoding, in which the server reads the text of the next statements.
    private func restoreEncoding() throws {
        if parameter("client_encoding") != "UTF8" { try execute("SET LOCAL client_encoding = 'UTF8'") }
    }

    /// Checks the result of `PostgresSettings.checking`. Discards all prepared statements if the application changed them.
    private func verify(_ result: PostgresResult) throws {
        guard identity == nil || result.text(0, 0) == identity else { throw PostgresFailure.foreignStore }
        if Int(result.text(0, 1)) != preparedCount || result.text(0, 2) != "0" {
            try execute("DEALLOCATE ALL")
            forgetPrepared()
        }
    }
}
#endif
