#if Postgres
import DurableCore
import OperationsDurable

/// The connection that answers questions. Questions that arrive during a transaction share the next transaction.
///
/// An answer contains only durable commits: a crash of the server does not undo the answer.
final class PostgresReader: Sendable {
    /// One question of a caller.
    struct Question: Sendable {
        /// Asks the machine, and keeps the answer. Changes nothing, so that the reader may ask again.
        var ask: @Sendable (inout DurableMachine) throws -> Void
        /// Called with nil, or with the error of the question.
        var finish: @Sendable ((any Error)?) -> Void
    }

    private let session: PostgresSession
    private let configuration: PostgresStore.Configuration
    private let questions = GroupDrain<Question>(label: "swift-operations-durable.postgres.read")

    /// - Parameter session: A session that only the reader uses.
    init(_ session: PostgresSession, _ configuration: PostgresStore.Configuration) {
        (self.session, self.configuration) = (session, configuration)
    }

    func submit(_ question: Question) { questions.submit(question) { self.answer($0.map(\.request)) } }

    private func answer(_ group: [Question]) {
        do {
            let errors = try session.withConnection { try answer(group, $0) }
            for (question, error) in zip(group, errors) { question.finish(error) }
        } catch let failure as PostgresFailure where failure.kind == .refused && group.count > 1 {
            // One question may be the cause.
            for question in group { answer([question]) }
        } catch {
            for question in group { question.finish(DurableError.wrapping(postgres: error)) }
        }
    }

    /// Answers questions in one snapshot. Returns the error of each question.
    private func answer(_ group: [Question], _ connection: PostgresConnection) throws -> [(any Error)?] {
        connection.enqueue(command: "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
        guard let snapshot = try connection.run(.snapshot).first else { throw DurableError.noSchema }
        try connection.checkSession(snapshot.optionalText(2))
        let now = DurableInstant(microseconds: snapshot.int(0))
        let rows = PostgresRows(connection, now: configuration.clock(now))
        var machine = DurableMachine(rows: rows, limits: configuration.limits)
        var errors: [(any Error)?] = []
        for question in group {
            do {
                try question.ask(&machine)
                errors.append(nil)
            } catch let error as PostgresFailure {
                throw error
            } catch { errors.append(error) }
        }
        try connection.commit()
        if snapshot.int(1) == 0 { try connection.run(.flush) }
        return errors
    }
}
#endif
