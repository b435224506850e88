#if Postgres
public import DurableCore
public import OperationsDurable

/// A store in a database of PostgreSQL. Any number of processes on any number of machines may share the database.
///
/// The tables are in the first schema of the connection's search path. The store commits the requests of many callers in one
/// transaction. All instants are those of the server's clock.
public final class PostgresStore: DurableStore {
    /// The options of a store.
    public struct Configuration: Sendable {
        /// The limits of names, payloads and retention.
        public var limits = DurableLimits()
        /// The time after which an attempt to connect fails. The default is 10 seconds.
        public var connectTimeout = Duration.seconds(10)
        /// The time for which a transaction waits for other processes. The default is 30 seconds.
        ///
        /// A request that waits longer throws `DurableError.unavailable`, which names the process that holds the lock.
        public var lockTimeout = Duration.seconds(30)
        /// The time after which workers report a transaction of any process by name, because it delays all others. The default
        /// is 5 seconds.
        public var longTransaction = Duration.seconds(5)
        /// The time after which the server ends a transaction whose process is silent. The default is 10 seconds.
        ///
        /// The time limits how long a frozen process delays other processes.
        public var transactionTimeout = Duration.seconds(10)
        /// The time after which a server that keeps the connection and sends nothing counts as lost. The time begins when
        /// `lockTimeout` has passed. The default is 10 seconds.
        ///
        /// The time limits how long a store waits for a server whose processes stand still, before it connects again. Statements of
        /// an application, and their commits, may take longer while the server has their session: the store then asks by another
        /// connection.
        public var replyTimeout = Duration.seconds(10)
        /// The time between two checks for changes of other processes whose notices did not arrive. The default is 2 seconds.
        public var pollInterval = Duration.seconds(2)
        /// Whether the store creates missing tables, and migrates an older schema. The default is true.
        ///
        /// With false, a schema without the tables of this version is an error, and the database is unchanged.
        public var createsSchema = true
        /// Converts the server's instant to the instant of the store. Tests replace the conversion.
        package var clock: @Sendable (DurableInstant) -> DurableInstant = { $0 }
        /// The time for which a lease that has expired is not taken, because a heartbeat may be on its way.
        package var leasePatience = Duration.seconds(1)
        /// Whether commits release the lock of the writers before they are durable. Nil means: while writers wait for the lock.
        package var releasesEarly: Bool?
        /// Returns the fault of the next commit. Only tests inject faults.
        package var fault: @Sendable () -> Fault? = { nil }

        /// A fault of one commit.
        package enum Fault: Sendable {
            /// The connection ends after the commit and before its reply.
            case lostReply
            /// The connection ends before the commit.
            case lostConnection
        }

        /// Creates the default options.
        public init() {}
    }

    public let limits: DurableLimits
    public let identity: String
    public let notices = StoreNotices()
    private let schema: String
    let committer: PostgresCommitter
    private let reader: PostgresReader
    private let leases: PostgresLeases
    private let listener: PostgresListener

    /// Connects to the database, and migrates its schema.
    ///
    /// - Parameters:
    ///   - url: The address: `postgresql://user:password@host/database`, or a list of options of libpq.
    ///   - configuration: Further options.
    /// - Throws: `DurableError.unavailable` if the connection fails, and `newerSchema`. Without `createsSchema`, `noSchema` and
    ///   `olderSchema`. No error contains a part of the address.
    public init(_ url: String, configuration: Configuration = Configuration()) async throws {
        let address = try PostgresAddress(url)
        limits = configuration.limits
        let timeouts: PostgresSession.Timeouts = [
            ("lock_timeout", "\(configuration.lockTimeout.milliseconds)"),
            ("idle_in_transaction_session_timeout", "\(configuration.transactionTimeout.milliseconds)"),
        ]
        let writer = PostgresSession(address, configuration, timeouts: timeouts)
        let sender = UInt64.random(in: 1...UInt64(Int64.max))
        // Weak: the notices hold the listener, and closures of callers hold the committer.
        committer = PostgresCommitter(writer, configuration, sender: sender) { [weak notices] in notices?.publish($0) }
        let home = try await committer.migrate()
        (identity, schema) = (home.identity ?? "", home.schema)
        reader = PostgresReader(PostgresSession(address, configuration, home: home), configuration)
        leases = PostgresLeases(
            PostgresSession(address, configuration, home: home, timeouts: timeouts), configuration)
        listener = try PostgresListener(
            PostgresSession(address, configuration, home: home), sender: sender,
            interval: configuration.pollInterval, notices: notices)
        notices.setUseObserver { [listener] in listener.setActive($0) }
    }

    deinit { listener.close() }

    public func commit<Reply: Sendable>(
        _ event: @escaping @Sendable (inout DurableMachine) throws -> Reply
    ) async throws -> Reply {
        try await submit { reply in .event { try reply.set(event(&$0)) } }
    }

    public func read<Reply: Sendable>(
        _ question: @escaping @Sendable (inout DurableMachine) throws -> Reply
    ) async throws -> Reply {
        let reply = ReplyBox<Reply>()
        return try await withCheckedThrowingContinuation { continuation in
            reader.submit(
                PostgresReader.Question(ask: { try reply.set(question(&$0)) }) {
                    continuation.resume(with: reply.result($0))
                })
        }
    }

    public func renewLeases(of worker: WorkerID, for lease: Duration) async throws -> String? {
        try await leases.renew(worker, for: lease)
    }

    /// Executes statements of the application, and returns when they are durable.
    ///
    /// The statements share a transaction with other requests, and other writers wait for its end. A savepoint separates the
    /// statements: an error undoes only the statements of the closure. After a deadlock or the loss of an idle connection,
    /// the store calls the closure again.
    ///
    /// - Throws: The error of the closure. `PostgresError` if the server refuses the commit, for example because of a deferred
    ///   constraint. `DurableError.unavailable` while the server is away. After `unavailable`, the statements may be durable.
    public func transaction<Reply: Sendable>(
        _ statements: @escaping @Sendable (PostgresTransaction) throws -> Reply
    ) async throws -> Reply {
        let id = ObjectIdentifier(self)
        return try await submit { reply in .statements(id) { try reply.set(statements($0)) } }
    }

    private func submit<Reply: Sendable>(
        _ work: (ReplyBox<Reply>) -> PostgresCommitter.Request.Work
    ) async throws -> Reply {
        let reply = ReplyBox<Reply>()
        return try await withCheckedThrowingContinuation { continuation in
            committer.submit(
                PostgresCommitter.Request(work: work(reply), operations: CommitHint.operations) {
                    continuation.resume(with: reply.result($0))
                })
        }
    }
}

extension PostgresStore: StatementStore {
    package func statement(adding columns: [AdditionColumn]) -> DurableStatement {
        let arguments = columns.enumerated().map { index, column in
            let value = "$\(index + 1)::text"
            let typed =
                switch column.kind {
                case .text: value
                case .json: "\(value)::json"
                case .number: "\(value)::bigint"
                case .identifiers: "\(value)::bigint[]"
                // A literal in seconds is exact. A function would take a number with a fraction that is not.
                case .date: "timestamptz 'epoch' + (\(value) || ' seconds')::interval"
                case .seconds: "(\(value) || ' seconds')::interval"
                case .boolean: "\(value)::boolean"
                }
            return "\(column.name) => \(typed)"
        }
        return DurableStatement(
            sql: "SELECT \(PostgresSettings.quoted(schema)).durable_add(\(arguments.joined(separator: ", ")))",
            parameters: columns.map { $0.kind == .identifiers ? "{\($0.value)}" : $0.value })
    }
}

extension Duration {
    /// The whole milliseconds, at least 1, within the range of PostgreSQL's settings.
    fileprivate var milliseconds: Int32 { Int32(clamping: max(1, microseconds / 1_000)) }
}
#endif
