import OperationsDurable

/// A kind of database that the rows measure. A row uses only these members and `DurableStore`.
protocol Backend: Sendable {
    /// The value of the option `--database`.
    var option: String { get }

    /// The name in reports.
    var name: String { get }

    /// Whether one process writes at a time.
    var hasOneWriter: Bool { get }

    /// Creates an empty database, and returns its address. Another process opens the address with `open(_:)`.
    func newAddress() async throws -> String

    /// Opens a store.
    func open(_ address: String) async throws -> any DurableStore

    /// Creates a bare loop of SQL with an empty database.
    func newBareLoop() async throws -> any BareLoop

    /// Starts to count the commits of a store. The returned closure returns the number of commits since then, or nil if the
    /// database does not report the number.
    func countCommits(of store: any DurableStore) async throws -> @Sendable () -> Int?

    /// Creates the table of the application, in which effects are rows.
    func createEffects(in store: any DurableStore) async throws

    /// Begins a transaction that has read one row, and does nothing more. The transaction ends with the returned object.
    func openSnapshot(of address: String) throws -> AnyObject

    /// Removes all databases.
    func removeFiles()
}

extension Backend {
    func newStore() async throws -> any DurableStore { try await open(try await newAddress()) }
}

/// Returns the backend of a name.
func backend(named name: String) throws -> any Backend {
    switch name {
    case "sqlite": SQLiteBackend(isNormal: false)
    case "sqlite-normal": SQLiteBackend(isNormal: true)
    #if Postgres
    case _ where name.hasPrefix("postgresql://"): PostgresBackend(url: name)
    #endif
    default: throw Options.Misuse(text: "unknown database: \(name)\n\(Options.usage)")
    }
}
