import DurableCore
import Logging

/// The decisions of a worker between its exchanges with the store.
///
/// The value makes no exchange and waits for nothing: `WorkerEngine` acts on the reactions.
struct WorkerRhythm {
    /// The result of an exchange, as far as the next act depends on it.
    enum Outcome {
        /// The store replied.
        ///
        /// - Parameters:
        ///   - time: The time of the exchange.
        ///   - hasClaims: Whether the exchange started attempts.
        ///   - isExpired: Whether the registration of the worker has expired.
        ///   - rest: The time until something is due.
        case reply(time: Duration, hasClaims: Bool, isExpired: Bool, rest: Duration)
        /// The exchange failed.
        ///
        /// - Parameter isPastGrace: Whether the worker stops, and has waited for the database long enough.
        case failure(any Error, isPastGrace: Bool)

        var error: (any Error)? { if case .failure(let error, _) = self { error } else { nil } }
    }

    /// The next act of the worker.
    enum Act {
        /// Exchange again after an attempt ended, the store changed, or the time has passed.
        case wait(Duration)
        /// Register again, because other workers may run the operations now.
        case register
        /// Leave the store.
        case leave
        /// End with the error, because a newer program excluded the worker.
        case end(any Error)
    }

    /// An act and its reports to the logger.
    struct Reaction {
        var act: Act
        var reports: [Report] = []
    }

    enum Report: String {
        case databaseReturned = "the database has returned"
        case databaseAway = "the database is away; running operations continue"
        case stopWithoutDatabase = "the database is away; the worker stops, and ended operations run again"
        case leasesExpired = "the leases of the worker have expired; the worker registers again"

        var level: Logger.Level { self == .databaseReturned ? .info : .warning }
    }

    /// The longest wait of an exchange for the ends of further attempts.
    private(set) var linger = Duration.zero
    private var backoff = Backoff()

    mutating func reaction(to outcome: Outcome) -> Reaction {
        switch outcome {
        case .reply(let time, let hasClaims, let isExpired, let rest):
            var reports: [Report] = backoff.isWaiting ? [.databaseReturned] : []
            backoff.reset()
            linger = hasClaims ? min(time / 4, .microseconds(500)) : .zero
            if isExpired { reports.append(.leasesExpired) }
            return Reaction(act: isExpired ? .register : .wait(rest), reports: reports)
        case .failure(let error as DurableError, _) where error.isExclusion: return Reaction(act: .end(error))
        case .failure(_, let isPastGrace):
            let reports: [Report] = backoff.isWaiting ? [] : [.databaseAway]
            if isPastGrace { return Reaction(act: .leave, reports: reports + [.stopWithoutDatabase]) }
            return Reaction(act: .wait(backoff.next()), reports: reports)
        }
    }
}

extension DurableError {
    /// Whether the schema does not permit this version of the library any more.
    var isExclusion: Bool { if case .newerSchema = self { true } else { false } }
}
