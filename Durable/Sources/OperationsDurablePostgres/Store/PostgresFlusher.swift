#if Postgres
import DurableCore
import OperationsDurable
import Synchronization

/// The flushes of commits. One flush makes all earlier commits of the server durable, also commits of other processes.
///
/// The committer therefore executes the next transaction while the server flushes the former one.
///
/// A crash of the server loses commits that are not flushed, and ends all connections. Therefore only a connection that
/// existed before a commit proves that the commit is durable: `prepare` precedes the commit, and a flush never reconnects.
final class PostgresFlusher: Sendable {
    /// The number of a connection. Each connection has a new number.
    typealias Generation = Int

    /// The connection ended before the flush. The fate of the commits is unknown.
    struct Failure: Error {}

    private struct State {
        var connection: Box?
        var generation = 0
        /// The session of the writer that committed under the current connection.
        var writer: Int32?
    }

    /// Sendable: only `flush` uses the connection, on the queue of `requests`.
    private final class Box: @unchecked Sendable {
        let connection: PostgresConnection
        init(_ connection: PostgresConnection) { self.connection = connection }
    }

    private struct Request: Sendable {
        var generation: Generation
        var finish: @Sendable (Failure?) -> Void
    }

    private let address: PostgresAddress
    private let timeout: Duration
    private let state = Mutex(State())
    private let requests = GroupDrain<Request>(label: "swift-operations-durable.postgres.flush")

    init(_ address: PostgresAddress, timeout: Duration) { (self.address, self.timeout) = (address, timeout) }

    /// Connects if necessary, and returns the number of the connection.
    ///
    /// - Parameter writer: The session that will commit. A new session of the writer means that the server may have
    ///   restarted, so that the flusher connects again.
    /// - Throws: `PostgresFailure` of kind `lost`.
    func prepare(for writer: Int32? = nil) throws -> Generation {
        try state.withLock { state in
            if let writer, state.writer != writer { (state.connection, state.writer) = (nil, writer) }
            if state.connection == nil {
                state.connection = Box(try PostgresConnection(address, timeout: timeout))
                state.generation += 1
            }
            return state.generation
        }
    }

    /// Calls the closure when all commits since `prepare` are durable.
    ///
    /// - Parameters:
    ///   - generation: The reply of the `prepare` that preceded the commits.
    ///   - finish: Receives an error if the fate of the commits is unknown.
    func submit(_ generation: Generation, _ finish: @escaping @Sendable (Failure?) -> Void) {
        requests.submit(Request(generation: generation, finish: finish)) { group in
            let flushed = self.flush()
            for request in group {
                request.finish(request.generation == flushed ? nil : Failure())
            }
        }
    }

    /// Flushes all commits. Returns the number of the connection that made the flush.
    private func flush() -> Generation? {
        let (box, generation) = state.withLock { ($0.connection, $0.generation) }
        guard let box else { return nil }
        do {
            try box.connection.run(.flush)
            return generation
        } catch {
            state.withLock { if $0.generation == generation { $0.connection = nil } }
            return nil
        }
    }
}
#endif
