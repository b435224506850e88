#if Postgres
import Dispatch
import DurableCore

/// The connection that answers questions, one at a time. Each question has a consistent snapshot.
final class PostgresReader: Sendable {
    private static let repetitions = 3

    private let session: PostgresSession
    private let flusher: PostgresFlusher?
    private let limits: DurableLimits
    private let clock: @Sendable (DurableInstant) -> DurableInstant
    private let queue = DispatchQueue(label: "swift-operations-durable.postgres.read")

    /// - Parameter session: A session that only the reader uses.
    init(
        _ session: PostgresSession, flusher: PostgresFlusher?, limits: DurableLimits,
        clock: @escaping @Sendable (DurableInstant) -> DurableInstant
    ) {
        (self.session, self.flusher, self.limits, self.clock) = (session, flusher, limits, clock)
    }

    /// Answers a question. The answer contains only durable commits: a crash of the server does not undo the answer.
    func read<Reply: Sendable>(
        _ question: @escaping @Sendable (inout DurableMachine) throws -> Reply
    ) async throws -> Reply {
        // A question changes nothing. The reader therefore asks again if a flush fails.
        for _ in 0..<Self.repetitions {
            do { return try await ask(question) } catch is PostgresFlusher.Failure { continue }
        }
        throw DurableError.unavailable("the connection to PostgreSQL ended during a flush")
    }

    private func ask<Reply: Sendable>(
        _ question: @escaping @Sendable (inout DurableMachine) throws -> Reply
    ) async throws -> Reply {
        try await withCheckedThrowingContinuation { continuation in
            queue.async {
                let result = Result { try self.answer(question) }
                guard case .success((_, let generation?)) = result, let flusher = self.flusher else {
                    continuation.resume(
                        with: result.map(\.reply).mapError { DurableError.wrapping(postgres: $0) })
                    return
                }
                flusher.submit(generation) { error in
                    continuation.resume(with: error.map { .failure($0) } ?? result.map(\.reply))
                }
            }
        }
    }

    /// Returns the reply, and the connection of a flush that the reply needs.
    private func answer<Reply>(
        _ question: (inout DurableMachine) throws -> Reply
    ) throws -> (reply: Reply, generation: PostgresFlusher.Generation?) {
        try session.withConnection { connection in
            let generation = try flusher?.prepare()
            try connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
            guard let snapshot = try connection.run(.snapshot).first else { throw DurableError.noSchema }
            let now = DurableInstant(microseconds: snapshot.int(0))
            let rows = PostgresRows(connection, now: clock(now))
            rows.kinds = session.kinds
            var machine = DurableMachine(rows: rows, limits: limits)
            let reply = try question(&machine)
            session.kinds = rows.kinds
            try connection.execute("COMMIT")
            return (reply, snapshot.int(1) == 1 ? nil : generation)
        }
    }
}
#endif
