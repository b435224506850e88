#if Postgres
import DurableCore

/// One column of a set of rows, which becomes one array.
struct PostgresColumn<Row> {
    private let element: PostgresArray.Element
    private let append: (inout PostgresArray, Row) -> Void

    init(int value: @escaping (Row) -> Int64?) { (element, append) = (.bigint, { $0.append(value($1)) }) }

    init(text value: @escaping (Row) -> String?) { (element, append) = (.text, { $0.append(value($1)) }) }

    init(bytes value: @escaping (Row) -> [UInt8]?) { (element, append) = (.bytea, { $0.append(value($1)) }) }

    func array(of rows: some Collection<Row>) -> PostgresArray {
        var array = PostgresArray(element)
        for row in rows { append(&array, row) }
        return array
    }
}

extension PostgresColumn<OperationRow> {
    /// The columns of `PostgresSQL.operationColumns`.
    static var operations: [Self] {
        [
            Self(int: \.id.rawValue), Self(int: \.queue.rawValue), Self(int: \.kind.rawValue), Self(int: \.epoch),
            Self(int: \.priority.rawValue), Self(int: \.state.rawValue), Self(int: \.readyAt.microseconds),
            Self(int: \.wakeAt?.microseconds), Self(int: \.pending), Self(int: \.children),
            Self(int: \.parent?.rawValue), Self(int: \.failurePolicy.rawValue), Self(int: \.rootCause?.rawValue),
            Self(text: \.key), Self(int: \.worker?.rawValue), Self(int: \.fence), Self(int: \.failures),
            Self(int: \.lostLeases), Self(text: \.retry.text), Self(int: \.timeout),
            Self(int: \.deadline?.microseconds), Self(int: \.addedAt.microseconds),
            Self(int: \.startedAt?.microseconds), Self(int: \.endedAt?.microseconds),
            Self(int: \.purgeAt?.microseconds), Self(int: { $0.isCancelRequested ? 1 : 0 }),
            Self(int: \.historyCount), Self(text: \.signal), Self(int: \.workOutcome?.rawValue), Self(text: \.reason),
            Self(text: \.context), Self(int: \.crashes), Self(int: \.death?.rawValue),
        ]
    }
}

extension PostgresColumn<(key: Counter, value: Int64)> {
    /// The columns of a counter, and its change.
    static var counters: [Self] {
        [
            Self(int: \.key.queue.rawValue), Self(int: \.key.epoch), Self(int: \.key.kind.rawValue),
            Self(int: \.key.state.rawValue), Self(int: \.value),
        ]
    }
}

extension PostgresColumn<KeyRow> {
    static var keys: [Self] {
        names + [
            Self(int: \.limit), Self(int: \.running), Self(int: \.ready), Self(int: \.blocked),
            Self(int: \.rate?.count), Self(int: \.rate?.period), Self(int: \.rateFilledAt?.microseconds),
            Self(int: \.wakeAt?.microseconds),
        ]
    }

    static var names: [Self] { [Self(int: \.name.queue.rawValue), Self(text: \.name.key)] }
}

extension PostgresColumn<Edge> {
    static var edges: [Self] {
        [
            Self(int: \.dependency.rawValue), Self(int: \.dependent.rawValue), Self(int: { $0.isAwait ? 1 : 0 }),
        ]
    }
}

extension PostgresColumn<UniqueRow> {
    static var uniques: [Self] {
        [
            Self(int: \.kind.rawValue), Self(text: \.key), Self(int: \.operation.rawValue),
            Self(int: \.heldUntil?.microseconds),
        ]
    }
}

extension PostgresColumn<HistoryEntry> {
    static var history: [Self] {
        [
            Self(int: \.operation.rawValue), Self(int: \.position), Self(int: \.kind.rawValue), Self(text: \.name),
            Self(bytes: \.result),
        ]
    }
}

extension PostgresColumn<SignalRow> {
    static var signals: [Self] { numbers + [Self(text: \.name), Self(bytes: \.payload)] }

    static var numbers: [Self] { [Self(int: \.operation.rawValue), Self(int: \.number)] }
}

extension PostgresColumn<AttemptRow> {
    /// The columns of `PostgresSQL.attemptColumns`.
    static var attempts: [Self] {
        [
            Self(int: \.operation.rawValue), Self(int: \.fence), Self(text: \.worker),
            Self(int: \.startedAt.microseconds), Self(int: \.endedAt.microseconds), Self(int: \.outcome.rawValue),
            Self(text: \.reason),
        ]
    }
}

extension PostgresColumn<EventRow> {
    /// The columns of `PostgresSQL.eventColumns`.
    static var events: [Self] {
        [
            Self(int: \.number), Self(int: \.operation.rawValue), Self(int: \.queue.rawValue),
            Self(int: \.kind.rawValue), Self(int: \.state.rawValue), Self(int: \.fence), Self(int: \.at.microseconds),
            Self(text: \.reason),
        ]
    }
}

extension PostgresColumn<WorkerRow> {
    /// The columns of workers. Lists of names are separated by line ends, which no name contains.
    static var workers: [Self] {
        [
            Self(int: \.id.rawValue), Self(text: \.name), Self(int: \.leaseEnd.microseconds),
            Self(text: { $0.kinds.joined(separator: "\n") }), Self(text: { $0.queues.joined(separator: "\n") }),
            Self(text: \.process), Self(int: \.isolates?.rawValue),
        ]
    }
}

extension PostgresParameters {
    /// Appends the changeable columns of a queue, after its identifier.
    mutating func append(_ row: QueueRow) {
        append(row.id.rawValue)
        append(row.isSuspended ? 1 : 0)
        append(row.limit)
        append(row.limitPerKey)
        append(row.rate?.count)
        append(row.rate?.period)
        append(row.rateFilledAt?.microseconds)
        append(row.currentEpoch)
        append(row.lastEpoch)
        append(row.ratePerKey?.count)
        append(row.ratePerKey?.period)
    }

    /// Appends the columns of `PostgresSQL.scheduleColumns`.
    mutating func append(_ row: ScheduleRow) {
        let stored = row.storedNext
        append(row.name)
        append(row.cron)
        append(row.missed.rawValue)
        append(stored.next.microseconds)
        append(row.kind)
        append(row.queue)
        append(row.input)
        append(row.priority.rawValue)
        append(row.retry.text)
        append(row.key)
        append(row.timeout)
        append(stored.due?.microseconds)
        append(row.overlap.rawValue)
        append(row.last?.rawValue)
    }
}
#endif
