#if Postgres
import DurableCore

/// The instant before which no operation that waits has its deadline: the number `first_deadline` of the store.
///
/// The server keeps the entries of ended operations in its index of deadlines while any transaction has an older snapshot, and
/// most of these entries are in the future. A transaction therefore looks at the index only when the instant has come, and
/// raises the number. It lowers the number for an earlier deadline.
///
/// All transactions read the number, because a floor of one process does not know the deadlines that others add. Programs of
/// earlier versions do not lower the number. Each process therefore also looks at the index after `ReadyFloors.life`.
extension PostgresRows {
    private static let name = "first_deadline"

    /// The number, or the first of all instants if the process has not looked at the index lately.
    var firstDeadline: DurableInstant {
        get throws {
            floors.hasSeenDeadlines
                ? DurableInstant(microseconds: try numberIfAny(Self.name)) : ReadyFloors.first.readyAt
        }
    }

    /// Keeps the first deadline in the index; nil if there is none.
    func learn(firstDeadline: DurableInstant?) throws {
        floors.hasSeenDeadlines = true
        let (found, known) = (firstDeadline?.microseconds ?? .max, try numberIfAny(Self.name))
        if found < known || known <= now.microseconds { setNumber(Self.name, found) }
    }

    /// Keeps the number correct after a change of operations.
    func noteDeadlines(of rows: [OperationRow]) throws {
        guard let first = rows.lazy.compactMap(\.waitingDeadline).min(),
            try first.microseconds < numberIfAny(Self.name)
        else { return }
        setNumber(Self.name, first.microseconds)
    }
}

extension OperationRow {
    /// The deadline of an operation that the deadline ends: one that neither runs nor has ended.
    var waitingDeadline: DurableInstant? {
        switch state {
        case .waiting, .scheduled, .blocked, .ready, .awaitingSignal: deadline
        default: nil
        }
    }
}
#endif
