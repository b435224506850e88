#if Postgres
import Dispatch
import DurableCore
import OperationsDurable

/// A writer that commits the requests of many callers in one transaction.
///
/// Writing transactions of all processes take turns by a lock of the database, so that each sees the rows of all earlier
/// transactions. While processes wait for the lock, a commit releases the lock before the commit is durable: another process
/// executes its transaction during the flush. The callers resume after the flush.
final class PostgresCommitter: Sendable {
    /// One request of a caller.
    struct Request: Sendable {
        enum Work: Sendable {
            /// An event of the machine. An event that throws a `DurableError` has changed nothing.
            case event(@Sendable (inout DurableMachine) throws -> Void)
            /// Statements of the application, which a savepoint separates from the other requests.
            case statements(ObjectIdentifier, @Sendable (PostgresTransaction) throws -> Void)
        }

        var work: Work
        /// Operations that the request probably needs. One statement loads those of all requests.
        var operations: [OperationID] = []
        /// Called after the commit with nil, or with the error of the request.
        var finish: @Sendable ((any Error)?) -> Void
    }

    /// The replies of one transaction.
    private struct Outcome: Sendable {
        /// The requests that have not expired, and their errors.
        var replies: [(request: Request, error: (any Error)?)] = []
        var effects = Effects()
        var hooks: [@Sendable () -> Void] = []
        /// Whether the replies rest on earlier commits that are not durable: the own commit flushes nothing if it is empty.
        var needsFlush = false
    }

    /// The number of repetitions of a transaction after deadlocks and conflicts.
    private static let repetitions = 5

    /// The number of transactions that release the lock early after another process held the lock.
    private static let earlyReleases = 64

    private let session: PostgresSession
    private let configuration: PostgresStore.Configuration
    private let sender: UInt64
    private let publish: @Sendable (Effects) -> Void
    let requests: GroupDrain<Request>

    /// - Parameters:
    ///   - session: A session that only the committer uses.
    ///   - sender: The number of the store in notices.
    init(
        _ session: PostgresSession, _ configuration: PostgresStore.Configuration, sender: UInt64,
        publish: @escaping @Sendable (Effects) -> Void
    ) {
        (self.session, self.configuration, self.sender, self.publish) = (session, configuration, sender, publish)
        requests = GroupDrain(
            label: "swift-operations-durable.postgres.commit",
            limit: .init(configuration.lockTimeout) { request, time in
                let text = "transactions of this process have waited or run for \(time.formattedSeconds)"
                request.finish(DurableError.unavailable(text))
            })
    }

    func submit(_ request: Request) { requests.submit(request) { self.commitTogether($0) } }

    private func commitTogether(_ group: [GroupDrain<Request>.Pending]) {
        for repetition in 0... {
            let group = group.filter { $0.start() }
            guard let oldest = group.first else { return }
            do {
                return try commit(group, timeout: oldest.rest(of: configuration.lockTimeout))
            } catch let failure as PostgresFailure {
                if failure.kind == .refused, failure.permitsRepetition, repetition < Self.repetitions { continue }
                // A lock that another process holds too long is the fault of no request. Later requests wait on.
                if failure.kind == .refused, failure.sqlState == "55P03" { return expire(group, after: failure) }
                if failure.kind == .refused, group.count > 1 { return commitAlone(group) }
                if failure.isOfStatements, group.count > 1 { return commitApart(group) }
                for pending in group where pending.start() { pending.request.finish(failure.durableError) }
                return
            } catch {
                if group.count > 1 { return commitAlone(group) }
                oldest.request.finish((error as? StatementsError)?.cause ?? error)
                return
            }
        }
    }

    /// Ends the requests that have waited too long for a lock, and commits the others.
    private func expire(_ group: [GroupDrain<Request>.Pending], after failure: PostgresFailure) {
        let hasTime = group.drop { $0.rest(of: configuration.lockTimeout) <= .milliseconds(1) }
        let expired = group.prefix(max(1, group.count - hasTime.count))
        let holder = try? session.withConnection { try $0.lockHolder() }
        let error = holder.map { DurableError.unavailable($0.text) } ?? failure.durableError
        for pending in expired { pending.request.finish(error) }
        commitTogether(Array(group.dropFirst(expired.count)))
    }

    /// Commits each request in a transaction of its own, because one request may be the cause of the error of the group.
    private func commitAlone(_ group: [GroupDrain<Request>.Pending]) {
        for pending in group { commitTogether([pending]) }
    }

    /// Commits the events together, and the statements of each application alone, because one of them ends the session.
    private func commitApart(_ group: [GroupDrain<Request>.Pending]) {
        commitTogether(group.filter { !$0.request.isStatements })
        for pending in group where pending.request.isStatements { commitTogether([pending]) }
    }

    /// Applies the requests in one transaction, and resumes the callers when the transaction is durable.
    ///
    /// - Parameter timeout: The time to wait for the lock of the writers.
    private func commit(_ group: [GroupDrain<Request>.Pending], timeout: Duration) throws {
        // First, because events write rows of workers, and a renewal of leases would wait for these during the statements. Events
        // that wait for the statements can still expire.
        let group = group.filter(\.request.isStatements) + group.filter { !$0.request.isStatements }
        let outcome = try session.withConnection { connection in
            let isEarly = configuration.releasesEarly ?? (session.earlyReleases > 0)
            session.earlyReleases -= isEarly ? 1 : 0
            let isShort = timeout < configuration.lockTimeout * 0.9
            let outcome = try apply(group, in: connection, isEarly: isEarly, timeout: isShort ? timeout : nil)
            try blamingStatements(of: group) {
                try commit(connection, isEarly: isEarly, mustFlush: isEarly || outcome.needsFlush)
            }
            return outcome
        }
        publish(outcome.effects)
        for hook in outcome.hooks { hook() }
        for (request, error) in outcome.replies { request.finish(error) }
    }

    /// Calls the body, in which the server checks deferred constraints, and calls deferred triggers, of an application.
    private func blamingStatements(of group: [GroupDrain<Request>.Pending], _ body: () throws -> Void) throws {
        do { try body() } catch let failure as PostgresFailure
            where failure.kind == .refused && !failure.permitsRepetition && group.isOneTransaction
        {
            throw StatementsError(cause: failure.statementsError)
        }
    }

    /// Commits the open transaction, and returns when the commit is durable.
    ///
    /// - Throws: `PostgresFailure`, of kind `unknownOutcome` if the transaction may be durable.
    private func commit(_ connection: PostgresConnection, isEarly: Bool, mustFlush: Bool) throws {
        let fault = configuration.fault()
        if fault == .lostConnection { throw PostgresFailure(kind: .lost, text: "an injected fault") }
        try connection.commit(isEarly: isEarly)
        if mustFlush {
            // A crash of the server ends the connection. A flush by the same connection therefore proves the commit.
            do { try connection.run(.flush) } catch var failure as PostgresFailure {
                failure.kind = .unknownOutcome
                throw failure
            }
        }
        if fault == .lostReply { throw PostgresFailure(kind: .unknownOutcome, text: "an injected fault") }
    }

    /// Migrates the schema if the configuration permits it, and returns the place of the store. No request precedes the migration.
    ///
    /// - Throws: `DurableError`.
    func migrate() async throws -> PostgresHome {
        try await withCheckedThrowingContinuation { continuation in
            DispatchQueue.global().async { [session, configuration] in
                let result = Result { try session.migrate(createsSchema: configuration.createsSchema) }
                continuation.resume(with: result.mapError { DurableError.wrapping(postgres: $0) })
            }
        }
    }

    private func apply(
        _ group: [GroupDrain<Request>.Pending], in connection: PostgresConnection, isEarly: Bool, timeout: Duration?
    ) throws -> Outcome {
        var key = PostgresParameters()
        key.append(connection.lockKey)
        key.append(isEarly ? "off" : "on")
        connection.enqueue(command: "BEGIN")
        if let timeout {
            connection.enqueue(command: "SET LOCAL lock_timeout = \(max(1, timeout.microseconds / 1_000))")
        }
        connection.enqueue(.lock, key)
        let hasStatements = group.contains(where: \.request.isStatements)
        if hasStatements { connection.enqueue(.tables) }
        let rows = PostgresRows(connection, now: DurableInstant(microseconds: 0))
        (rows.kinds, rows.expiredLeases) = (session.kinds, session.expiredLeases)
        // Moved, because a second reference would cost a copy of all floors.
        swap(&rows.floors, &session.floors)
        let operations = Set(group.lazy.flatMap(\.request.operations)).sorted()
        var results = try rows.loadAhead(session.usedQueues, operations)
        if hasStatements { connection.tables = results.popLast()?.first?.optionalText(0) }
        guard let lock = results.last?.first else { throw DurableError.noSchema }
        let kindTable = try rows.numberIfAny("kind_table")
        if session.kindTable != kindTable { (rows.kinds, session.kindTable) = (PostgresRows.KindCache(), kindTable) }
        try connection.checkSession(lock.optionalText(3))
        guard lock.optionalText(4) == connection.identity else { throw PostgresFailure.foreignStore }
        try PostgresMigrator.checkVersion(oldest: lock.optionalInt(5), connection)
        if lock.int(1) == 1 { session.earlyReleases = Self.earlyReleases }
        rows.now = configuration.clock(DurableInstant(microseconds: lock.int(0)))
        var machine = DurableMachine(rows: rows, limits: configuration.limits)
        var outcome = Outcome()
        for (index, pending) in group.enumerated() where pending.start() {
            let request = pending.request
            do {
                switch request.work {
                case .event(let event): try event(&machine)
                case .statements(let store, let statements):
                    requests.pause(group[(index + 1)...])
                    let transaction = PostgresTransaction(rows, limits: configuration.limits, storeID: store)
                    try isolate(statements, transaction, rows)
                    outcome.effects.merge(transaction.effects)
                    outcome.hooks += transaction.hooks
                }
                outcome.replies.append((request, nil))
            } catch let error as DurableError {
                outcome.replies.append((request, error))
            } catch let error as StatementsError {
                outcome.replies.append((request, error.cause))
            }
        }
        session.usedQueues = rows.usedQueues
        outcome.effects.merge(machine.takeEffects())
        let mustNotify = outcome.effects != Effects() || rows.hasEvents
        if mustNotify || rows.hasUnwritten {
            try blamingStatements(of: group) { try connection.endApplications(isEarly: isEarly) }
        }
        try rows.flush()
        if mustNotify {
            var parameters = PostgresParameters()
            let notice = PostgresNotice(schema: connection.lockKey, sender: sender, effects: outcome.effects)
            parameters.append(notice.text)
            connection.enqueue(.notify, parameters)
        }
        (session.kinds, session.floors, session.expiredLeases) = (rows.kinds, rows.floors, rows.expiredLeases)
        outcome.needsFlush = !rows.hasChanges && lock.int(2) == 0
        return outcome
    }

    /// An error of the application's statements, after the rollback to the savepoint.
    private struct StatementsError: Error {
        let cause: any Error
    }

    private func isolate(
        _ statements: (PostgresTransaction) throws -> Void, _ transaction: PostgresTransaction, _ rows: PostgresRows
    ) throws {
        try rows.connection.beginStatements()
        let memory = rows.memory
        do {
            defer { transaction.close() }
            try statements(transaction)
            if let fatal = transaction.fatal { throw fatal }
            rows.connection.endStatements()
        } catch {
            if var fatal = transaction.fatal {
                fatal.isOfStatements = fatal.kind == .lost
                throw fatal
            }
            if let failure = error as? PostgresFailure, failure.kind != .refused || failure.isOfForeignStore {
                throw failure
            }
            rows.memory = memory
            try rows.connection.undoStatements()
            switch error {
            case let failure as PostgresFailure: throw StatementsError(cause: failure.statementsError)
            case let error as PostgresError where PostgresFailure.isOutage(error.sqlState):
                throw StatementsError(cause: DurableError.unavailable("\(error)"))
            default: throw StatementsError(cause: error)
            }
        }
    }
}

extension PostgresCommitter.Request {
    fileprivate var isStatements: Bool { if case .statements = work { true } else { false } }
}

extension [GroupDrain<PostgresCommitter.Request>.Pending] {
    /// Whether the group is one request with statements of the application.
    fileprivate var isOneTransaction: Bool { count == 1 && self[0].request.isStatements }
}
#endif
