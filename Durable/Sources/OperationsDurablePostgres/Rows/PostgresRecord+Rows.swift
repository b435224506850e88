#if Postgres
import DurableCore

extension PostgresRecord {
    func instant(_ column: Int) -> DurableInstant? { optionalInt(column).map { DurableInstant(microseconds: $0) } }

    /// The row with the columns of `PostgresSQL.operationColumns`.
    var operationRow: OperationRow {
        var row = OperationRow(
            id: OperationID(int(0)), queue: QueueID(int(1)), kind: KindID(int(2)), epoch: int(3),
            priority: DurablePriority(rawValue: int(4)) ?? .normal, state: DurableState(rawValue: int(5)) ?? .failed,
            readyAt: DurableInstant(microseconds: int(6)), addedAt: DurableInstant(microseconds: int(21)))
        row.wakeAt = instant(7)
        (row.pending, row.children) = (int(8), int(9))
        row.parent = optionalInt(10).map { OperationID($0) }
        row.failurePolicy = DurableFailurePolicy(rawValue: int(11)) ?? .runAnyway
        row.rootCause = optionalInt(12).map { OperationID($0) }
        row.key = optionalText(13)
        row.worker = optionalInt(14).map { WorkerID($0) }
        (row.fence, row.failures, row.lostLeases) = (int(15), int(16), int(17))
        if let text = optionalText(18) { row.retry = RetryRule(text: text) }
        row.timeout = optionalInt(19)
        (row.deadline, row.startedAt, row.endedAt, row.purgeAt) = (instant(20), instant(22), instant(23), instant(24))
        (row.isCancelRequested, row.historyCount) = (int(25) != 0, int(26))
        row.signal = optionalText(27)
        row.workOutcome = optionalInt(28).flatMap { DurableState(rawValue: $0) }
        (row.reason, row.context) = (optionalText(29), optionalText(30))
        (row.crashes, row.death) = (int(31), optionalInt(32).map { WorkerID($0) })
        return row
    }

    /// The row with the columns of `PostgresSQL.queueColumns`.
    var queueRow: QueueRow {
        var row = QueueRow(id: QueueID(int(0)), name: text(1))
        row.isSuspended = int(2) != 0
        (row.limit, row.limitPerKey) = (optionalInt(3), optionalInt(4))
        (row.rate, row.ratePerKey, row.rateFilledAt) = (rate(5), rate(10), instant(7))
        (row.currentEpoch, row.lastEpoch) = (int(8), int(9))
        return row
    }

    /// The rate in a column and the next column.
    private func rate(_ column: Int) -> RateRule? {
        guard let count = optionalInt(column), let period = optionalInt(column + 1) else { return nil }
        return RateRule(count: count, period: period)
    }

    func counter(of queue: QueueID) -> (Counter, Int64) {
        let state = DurableState(rawValue: int(2)) ?? .failed
        return (Counter(queue: queue, epoch: int(0), kind: KindID(int(1)), state: state), int(3))
    }

    func keyRow(in queue: QueueID) -> KeyRow {
        var row = KeyRow(name: KeyName(queue: queue, key: text(0)))
        row.limit = optionalInt(1)
        (row.running, row.ready, row.blocked) = (int(2), int(3), int(4))
        (row.rate, row.rateFilledAt, row.wakeAt) = (rate(5), instant(7), instant(8))
        return row
    }

    var edge: Edge {
        Edge(dependency: OperationID(int(0)), dependent: OperationID(int(1)), isAwait: int(2) != 0)
    }

    var historyEntry: HistoryEntry {
        HistoryEntry(
            operation: OperationID(int(0)), position: int(1), kind: HistoryEntry.Kind(rawValue: int(2)) ?? .step,
            name: text(3), result: optionalBytes(4))
    }

    /// The row with the columns of `PostgresSQL.attemptColumns`.
    var attemptRow: AttemptRow {
        AttemptRow(
            operation: OperationID(int(0)), fence: int(1), worker: text(2),
            startedAt: DurableInstant(microseconds: int(3)), endedAt: DurableInstant(microseconds: int(4)),
            outcome: AttemptRow.Outcome(rawValue: int(5)) ?? .failed, reason: text(6))
    }

    /// The row with the columns of `PostgresSQL.eventColumns`.
    var eventRow: EventRow {
        EventRow(
            number: int(0), operation: OperationID(int(1)), queue: QueueID(int(2)), kind: KindID(int(3)),
            state: DurableState(rawValue: int(4)) ?? .failed, fence: int(5),
            at: DurableInstant(microseconds: int(6)), reason: optionalText(7))
    }

    var workerRow: WorkerRow {
        WorkerRow(
            id: WorkerID(int(0)), name: text(1), leaseEnd: DurableInstant(microseconds: int(2)),
            kinds: WorkerRow.names(text(3)), queues: WorkerRow.names(text(4)), process: optionalText(5),
            isolates: optionalInt(6).map { OperationID($0) })
    }

    /// The row with the columns of `PostgresSQL.scheduleColumns`.
    var scheduleRow: ScheduleRow {
        var row = ScheduleRow(
            name: text(0), cron: text(1), missed: MissedTimes(rawValue: int(2)) ?? .once,
            nextAt: ScheduleRow.nextAt(
                next: DurableInstant(microseconds: int(3)),
                due: optionalInt(11).map { DurableInstant(microseconds: $0) }),
            kind: text(4), queue: text(5), input: bytes(6))
        row.priority = DurablePriority(rawValue: int(7)) ?? .normal
        row.retry = RetryRule(text: optionalText(8))
        (row.key, row.timeout) = (optionalText(9), optionalInt(10))
        row.overlap = ScheduleOverlap(rawValue: int(12)) ?? .allow
        row.last = optionalInt(13).map { OperationID($0) }
        return row
    }
}
#endif
