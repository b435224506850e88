#if Postgres
import DurableCore

/// The connection of one serial queue. The session connects again after a loss.
final class PostgresSession: @unchecked Sendable {
    // Sendable: only the serial queue of the owner uses the session.

    /// Settings of the server that limit times, by their names in PostgreSQL.
    typealias Timeouts = [(name: String, value: String)]

    private let address: PostgresAddress
    private let timeout: Duration
    private let timeouts: Timeouts
    private let replyLimit: Duration
    private var connection: PostgresConnection?
    /// The place of the store. All connections of the store have the place that its first connection found.
    private var home: PostgresHome?
    /// The names of operations that are committed, and the number of their table.
    var kinds = PostgresRows.KindCache()
    var kindTable: Int64 = 0
    /// The places at which the next claims begin.
    var floors = ReadyFloors()
    /// The leases that were expired at the last look.
    var expiredLeases: ExpiredLeases
    /// The queues that the last transaction used.
    var usedQueues: [QueueID] = []
    /// The number of next transactions that release the lock of the writers early.
    var earlyReleases = 0

    /// - Parameter configuration: The options of the store, of which the session takes the limits of times.
    init(
        _ address: PostgresAddress, _ configuration: PostgresStore.Configuration, home: PostgresHome? = nil,
        timeouts: Timeouts = []
    ) {
        (self.address, timeout, self.home, self.timeouts) = (address, configuration.connectTimeout, home, timeouts)
        expiredLeases = ExpiredLeases(patience: configuration.leasePatience)
        replyLimit = configuration.lockTimeout + configuration.replyTimeout
    }

    /// Migrates the schema or checks its version, and keeps its place for later connections.
    func migrate(createsSchema: Bool) throws -> PostgresHome {
        let found = try withConnection { connection in
            _ = try createsSchema ? PostgresMigrator.migrate(connection) : PostgresMigrator.find(connection)
            return connection.home
        }
        home = found
        return found
    }

    var isOpen: Bool { connection != nil }

    /// Returns the connection. Connects if necessary.
    ///
    /// - Throws: `PostgresFailure` of kind `lost`.
    func open() throws -> PostgresConnection {
        if let connection { return connection }
        let new = try PostgresConnection(
            address, timeout: timeout, home: home, timeouts: timeouts, replyLimit: replyLimit)
        connection = new
        return new
    }

    /// Removes and returns the connection.
    func take() -> PostgresConnection? {
        (kinds, floors) = (PostgresRows.KindCache(), ReadyFloors())
        return connection.take()
    }

    /// Ends a transaction that failed. Closes a connection that is lost.
    func abandon(after error: any Error) {
        (kinds, floors) = (PostgresRows.KindCache(), ReadyFloors())
        if let failure = error as? PostgresFailure, failure.kind != .refused {
            connection = nil
        } else {
            do { try connection?.rollBack() } catch { connection = nil }
        }
    }

    /// Calls the body with the connection. If an idle connection was lost, repeats the call once with a new connection.
    ///
    /// - Parameter body: Statements that permit repetition unless they fail with an unknown outcome.
    func withConnection<Result>(_ body: (PostgresConnection) throws -> Result) throws -> Result {
        let wasOpen = isOpen
        do { return try attempt(body) } catch let failure as PostgresFailure where failure.kind == .lost && wasOpen {
            return try attempt(body)
        }
    }

    private func attempt<Result>(_ body: (PostgresConnection) throws -> Result) throws -> Result {
        do { return try body(open()) } catch {
            abandon(after: error)
            // A newer schema may lack tables and columns that statements use before the store knows the version.
            if let failure = error as? PostgresFailure, failure.isOfSchema, let connection {
                try PostgresMigrator.checkVersion(connection)
            }
            throw error
        }
    }
}
#endif
