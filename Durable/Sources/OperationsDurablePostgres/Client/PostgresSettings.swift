#if Postgres

/// The place of a store: a schema of a database. The first connection of a store finds the place, and later connections keep it.
struct PostgresHome: Sendable {
    var schema: String
    /// The key of the lock of writing transactions.
    var lockKey: Int64
    /// The text that identifies the store; nil before the migration.
    var identity: String?
}

/// The settings of the planner of the server for the statements of the library.
package enum PostgresPlanner {
    /// The plans do not depend on the statistics of growing tables.
    package static let settings: [(name: String, value: String?)] = [
        ("plan_cache_mode", "force_generic_plan"), ("enable_seqscan", "off"), ("enable_bitmapscan", "off"),
        ("enable_sort", "off"), ("enable_hashjoin", "off"), ("enable_mergejoin", "off"), ("jit", "off"),
    ]
}

/// The settings of a session, as texts of statements.
///
/// The library's statements depend on no setting of an application, and the other way around. The texts name all functions and
/// operators with their schema, because the search path of an application may lead to other functions of the same name.
struct PostgresSettings {
    /// The settings that differ between the library's statements and the application's statements, and their initial values.
    private let initial: [(name: String, value: String)]
    /// The values of the library, in the order in which a session takes them.
    private let own: [(name: String, value: String)]
    /// Settings with one value for the library and the application.
    private let shared: [(name: String, value: String)]
    /// The time limits for statements of the application.
    private let timeouts: [(name: String, value: String)]
    private let schema: String

    /// The settings whose initial values an application finds in its transaction.
    ///
    /// A change of `session_authorization` resets `role`, so that `role` follows. With `row_security = off`, a policy that would
    /// hide a row of the store is an error.
    private static let changed: [(name: String, value: String?)] =
        [
            ("session_authorization", nil), ("role", nil), ("search_path", nil), ("row_security", "off"),
            ("statement_timeout", nil), ("transaction_timeout", nil), ("lock_timeout", nil),
            ("idle_in_transaction_session_timeout", nil), ("synchronous_commit", "on"),
        ] + PostgresPlanner.settings

    /// The last settings end the session on the server when no packet of the client arrives. By default, the session of a
    /// lost client stays for two hours, and keeps its locks while the server sends a result.
    private static let fixed: [(name: String, value: String)] = [
        ("default_transaction_isolation", "read committed"), ("default_transaction_deferrable", "off"),
        ("standard_conforming_strings", "on"), ("tcp_keepalives_idle", "5"), ("tcp_keepalives_interval", "2"),
        ("tcp_keepalives_count", "3"), ("tcp_user_timeout", "10000"),
    ]

    /// The name of a setting that only a session of this library has. A pooler in transaction mode leads to another session.
    static let marker = "durable.session"

    /// The statement that reads the schema, the key of the lock, the initial values of a new session, and the text that identifies it.
    static let reading = """
        SELECT pg_catalog.current_schema(), pg_catalog.hashtextextended(\
        pg_catalog.concat('swift-operations-durable ', pg_catalog.current_schema()), 0), \
        \(changed.map { "pg_catalog.current_setting('\($0.name)', true)" }.joined(separator: ", ")), \
        (SELECT pg_catalog.concat(pid, ' ', backend_start) FROM pg_catalog.pg_stat_activity \
        WHERE pid OPERATOR(pg_catalog.=) pg_catalog.pg_backend_pid())
        """

    /// - Parameters:
    ///   - schema: The name of the schema of the store.
    ///   - values: The initial values that `reading` found; nil for a setting that the server does not have.
    ///   - timeouts: Time limits for the statements of the library and of the application.
    ///   - marker: The text that distinguishes the session.
    init(schema: String, values: [String?], timeouts: [(name: String, value: String)], marker: String) {
        (self.schema, self.timeouts) = (Self.quoted(schema), timeouts)
        // The tables have their schema in the statements. A function in the schema could be a better match than one of the server.
        let path = "pg_catalog, pg_temp"
        let found = zip(Self.changed, values).compactMap { setting, value in
            value.map { value in
                (setting.name, timeouts.first { $0.name == setting.name }?.value ?? value, setting.value)
            }
        }
        initial = found.map { ($0.0, $0.1) }
        own = found.map { name, value, own in (name, name == "search_path" ? path : own ?? value) }
        shared = Self.fixed + [(Self.marker, marker)]
    }

    /// Returns an identifier in quotes.
    static func quoted(_ name: String) -> String { "\"\(name.replacing("\"", with: "\"\""))\"" }

    /// Returns a literal that has the same meaning for each value of `standard_conforming_strings`.
    static func literal(_ text: String) -> String {
        let doubled = text.replacing("'", with: "''")
        return doubled.contains("\\") ? "E'\(doubled.replacing("\\", with: "\\\\"))'" : "'\(doubled)'"
    }

    private static func setting(_ values: [(name: String, value: String)], isLocal: Bool) -> String {
        // `SET` is several times faster than `set_config`, but reads the text of a search path as one name.
        let statements = values.map { setting in
            setting.name == "search_path"
                ? "SELECT pg_catalog.set_config('search_path', \(literal(setting.value)), \(isLocal))"
                : "SET \(isLocal ? "LOCAL " : "")\(setting.name) = \(literal(setting.value))"
        }
        return statements.joined(separator: "; ")
    }

    // MARK: - Texts

    /// Gives the session the values of the library.
    var settingOwn: String { Self.setting(own + shared, isLocal: false) }

    /// Gives the transaction the initial values of the session, in a session whose user and role are the initial ones.
    var settingInitial: [String] {
        // The limits of the network hold for the application too: a lost client would keep its locks.
        let network = Self.fixed.filter { $0.name.hasPrefix("tcp_") }
        return ["RESET ALL"] + (timeouts + network).map { "SET LOCAL \($0.name) = \(Self.literal($0.value))" }
    }

    /// Gives the transaction the values of the application that `exchange` read.
    func settingBack(_ values: [String]) -> String {
        Self.setting(zip(initial, values).map { ($0.name, $1) }, isLocal: true)
    }

    /// Discards everything that statements of an application may leave in the session, except locks and prepared statements.
    static let cleaning = [
        "RESET SESSION AUTHORIZATION", "RESET ROLE", "RESET ALL", "CLOSE ALL", "UNLISTEN *", "DISCARD SEQUENCES",
        "DISCARD TEMP",
    ]

    static let replaced = "the application has prepared statements with names of the store"

    /// Fails if a prepared statement of an application has the name of one of the library.
    static let refusingReplaced = """
        SELECT CASE WHEN pg_catalog.count(*) OPERATOR(pg_catalog.=) 0 THEN '0' \
        ELSE pg_catalog.concat('\(replaced): ', pg_catalog.count(*)) END::pg_catalog.int8 \
        FROM pg_catalog.pg_prepared_statements WHERE from_sql AND pg_catalog.starts_with(name, 'durable_')
        """

    /// Gives the transaction the search path of a migration, whose statements do not name the schema.
    var settingMigrationPath: String { Self.setting([("search_path", "\(schema), pg_temp")], isLocal: true) }

    /// Returns the text of a statement of the library. Its mark `@` stands for the schema, and `@schema` for a literal of it.
    func text(of sql: PostgresSQL) -> String {
        switch sql {
        case .settle: "SELECT \((own + shared).map { Self.changing($0, isLocal: false) }.joined(separator: ", "))"
        case .exchange:
            // All readings precede the changes, because a change of `session_authorization` changes `role`.
            "SELECT \((own.map { Self.reading($0.name) } + own.map { Self.changing($0, isLocal: true) }).joined(separator: ", "))"
        default: sql.text.replacing("@.", with: "\(schema).").replacing("@schema", with: Self.literal(schema))
        }
    }

    private static func reading(_ name: String) -> String { "pg_catalog.current_setting('\(name)')" }

    private static func changing(_ setting: (name: String, value: String), isLocal: Bool) -> String {
        "pg_catalog.set_config('\(setting.name)', \(literal(setting.value)), \(isLocal))"
    }
}
#endif
