#if Postgres
import Dispatch
import DurableCore
import OperationsDurable

/// The connection that renews leases. No question delays a renewal, and of a transaction only its end, after its statements.
///
/// A program without workers never opens the connection.
final class PostgresLeases: Sendable {
    private let session: PostgresSession
    private let configuration: PostgresStore.Configuration
    private let queue = DispatchQueue(label: "swift-operations-durable.postgres.leases")

    /// - Parameter session: A session that only the renewals use.
    init(_ session: PostgresSession, _ configuration: PostgresStore.Configuration) {
        (self.session, self.configuration) = (session, configuration)
    }

    /// Extends the leases of a worker, outside the lock of the writers.
    ///
    /// - Returns: A text about a transaction that has held the lock for a long time.
    /// - Throws: `DurableError`.
    func renew(_ worker: WorkerID, for lease: Duration) async throws -> String? {
        try await withCheckedThrowingContinuation { continuation in
            queue.async {
                do {
                    let text = try self.session.withConnection { try self.renew(worker, for: lease, $0) }
                    continuation.resume(returning: text)
                } catch { continuation.resume(throwing: DurableError.wrapping(postgres: error)) }
            }
        }
    }

    private func renew(_ worker: WorkerID, for lease: Duration, _ connection: PostgresConnection) throws -> String? {
        let now = DurableInstant(microseconds: try connection.run(.now).first?.int(0) ?? 0)
        var parameters = PostgresParameters()
        parameters.append(worker.rawValue)
        parameters.append((configuration.clock(now) + lease - now).microseconds)
        guard try connection.run(.renewLease, parameters).first != nil else { throw DurableError.workerExpired(worker) }
        let holder = try connection.lockHolder()
        return holder.flatMap { $0.time >= configuration.longTransaction ? $0.text : nil }
    }
}
#endif
