#if Postgres
import CPostgres

/// Another connection to a server, which finds out whether the server still has a session.
///
/// A server that works on a long statement looks from the connection of the statement as one that stands still.
struct PostgresProbe {
    let address: PostgresAddress
    let timeout: Duration
    /// The process of the session, and the instant of its start. The process that libpq knows may be that of a pooler, and after
    /// a failover the address leads to another server.
    let session: String

    /// Returns whether the server has the session, or works and has no place for a connection.
    func findsSession() -> Bool {
        do {
            let sessions = try PostgresConnection(address, timeout: timeout).run(
                text: "SELECT FROM pg_catalog.pg_stat_activity WHERE pg_catalog.concat(pid, ' ', backend_start) = $1",
                [.text(session)])
            return sessions.count == 1
        } catch { return (error as? PostgresFailure)?.isOfFullServer == true }
    }
}
#endif
