#if Postgres

/// The place of a store: a schema of a database. The first connection of a store finds the place, and later connections keep it.
struct PostgresHome: Sendable {
    var schema: String
    /// The key of the lock of writing transactions.
    var lockKey: Int64
    /// The text that identifies the store; nil before the migration.
    var identity: String?
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
    private let schema: String

    /// The settings whose initial values an application finds in its transaction.
    ///
    /// A change of `session_authorization` resets `role`, so that `role` follows. With `row_security = off`, a policy that would
    /// hide a row of the store is an error.
    private static let changed: [(name: String, value: String?)] = [
        ("session_authorization", nil), ("role", nil), ("search_path", nil), ("row_security", "off"),
        ("statement_timeout", nil), ("transaction_timeout", nil), ("lock_timeout", nil),
        ("idle_in_transaction_session_timeout", nil), ("synchronous_commit", "on"),
        // The plans of the library's statements do not depend on the statistics of growing tables.
        ("plan_cache_mode", "force_generic_plan"), ("enable_seqscan", "off"), ("enable_bitmapscan", "off"),
        ("enable_sort", "off"), ("enable_hashjoin", "off"), ("enable_mergejoin", "off"), ("jit", "off"),
    ]

    /// The last settings end the session on the server when no packet of the client arrives. By default, the session of a
    /// lost client stays for two hours, and keeps its locks while the server sends a result.
    private static let fixed: [(name: String, value: String)] = [
        ("default_transaction_isolation", "read committed"), ("default_transaction_deferrable", "off"),
        ("standard_conforming_strings", "on"), ("tcp_keepalives_idle", "5"), ("tcp_keepalives_interval", "2"),
        ("tcp_keepalives_count", "3"), ("tcp_user_timeout", "10000"),
    ]

    /// The name of a setting that only a session of this library has. A pooler in transaction mode leads to another session.
    static let marker = "durable.session"

    /// The statement that reads the schema, the key of the lock, and the initial values of a new session.
    static let reading = """
        SELECT pg_catalog.current_schema(), pg_catalog.hashtextextended(\
        pg_catalog.concat('swift-operations-durable ', pg_catalog.current_schema()), 0), \
        \(changed.map { "pg_catalog.current_setting('\($0.name)', true)" }.joined(separator: ", "))
        """

    /// - Parameters:
    ///   - schema: The name of the schema of the store.
    ///   - values: The initial values that `reading` found; nil for a setting that the server does not have.
    ///   - timeouts: Time limits for the statements of the library and of the application.
    ///   - marker: The text that distinguishes the session.
    init(schema: String, values: [String?], timeouts: [(name: String, value: String)], marker: String) {
        self.schema = Self.quoted(schema)
        let path = "\(self.schema), pg_temp"
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
    private static func literal(_ text: String) -> String {
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

    /// Gives the transaction the initial values of the session.
    var settingInitial: String { Self.setting(initial, isLocal: true) }

    /// Reads the values of the application, and gives the transaction the values of the library.
    var exchangingForOwn: String {
        let names = initial.map { "pg_catalog.current_setting('\($0.name)')" }
        return "SELECT \(names.joined(separator: ", ")); \(Self.setting(own, isLocal: true)); \(checking)"
    }

    /// Gives the transaction the values of the application that `exchangingForOwn` read.
    func settingBack(_ values: [String]) -> String {
        Self.setting(zip(initial, values).map { ($0.name, $1) }, isLocal: true)
    }

    /// Discards everything that statements of an application may leave in the session, except prepared statements.
    var cleaning: String {
        """
        RESET SESSION AUTHORIZATION; RESET ALL; RESET ROLE; CLOSE ALL; UNLISTEN *; DISCARD SEQUENCES; DISCARD TEMP; \
        SELECT pg_catalog.pg_advisory_unlock_all(); \(settingOwn)
        """
    }

    /// Reads the identity of the store, and the numbers of statements that the library and an application prepared.
    var checking: String {
        """
        SELECT (SELECT text FROM \(schema).durable_meta WHERE name OPERATOR(pg_catalog.=) 'store'), \
        pg_catalog.count(*) FILTER (WHERE NOT from_sql), pg_catalog.count(*) FILTER (WHERE from_sql) \
        FROM pg_catalog.pg_prepared_statements
        """
    }

    /// Returns the text of a statement of the library, whose mark `@` stands for the schema.
    func text(of sql: PostgresSQL) -> String { sql.text.replacing("@.", with: "\(schema).") }
}
#endif
