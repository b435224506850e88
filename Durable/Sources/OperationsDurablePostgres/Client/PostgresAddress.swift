#if Postgres
import CPostgres
import DurableCore

/// The address of a database, with credentials. The value appears in no description and in no reflection.
struct PostgresAddress: Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    private let text: String

    /// - Throws: `DurableError.unavailable` if the text is not a connection string of PostgreSQL. The error contains no part
    ///   of the text.
    init(_ text: String) throws {
        guard let options = PQconninfoParse(text, nil), !text.utf8.contains(0) else {
            throw DurableError.unavailable("the address is not a valid address of PostgreSQL")
        }
        PQconninfoFree(options)
        self.text = text
    }

    var description: String { "an address of PostgreSQL" }
    var debugDescription: String { description }
    var customMirror: Mirror { Mirror(self, children: [:]) }

    /// The options of a connection. Options of the address replace the options before it.
    func options(timeout: Duration) -> [(name: String, value: String)] {
        let seconds = "\(min(max(2, timeout.microseconds / 1_000_000), 86_400))"
        return [
            ("connect_timeout", seconds), ("keepalives_idle", "5"), ("keepalives_interval", "2"),
            ("keepalives_count", "3"), ("tcp_user_timeout", "\(seconds)000"),
            ("fallback_application_name", "swift-operations-durable"),
            // After a failover, the address of the old server may lead to a copy that accepts no changes.
            ("target_session_attrs", "read-write"), ("dbname", text), ("client_encoding", "UTF8"),
        ]
    }
}
#endif
