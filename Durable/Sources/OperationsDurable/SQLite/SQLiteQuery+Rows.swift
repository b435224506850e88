import DurableCore

extension SQLiteQuery {
    func instant(_ column: Int32) -> DurableInstant? { optionalInt(column).map { DurableInstant(microseconds: $0) } }

    func bind(_ index: Int32, _ instant: DurableInstant?) { bind(index, instant?.microseconds) }

    func bind(_ now: DurableInstant, _ limit: Int) {
        bind(1, now)
        bind(2, Int64(limit))
    }

    func bind(_ key: KeyName, _ limit: Int) {
        bind(1, key.queue.rawValue)
        bind(2, key.key)
        bind(3, Int64(limit))
    }

    func bind(_ counter: Counter) {
        bind(1, counter.queue.rawValue)
        bind(2, counter.epoch)
        bind(3, counter.kind.rawValue)
        bind(4, counter.state.rawValue)
    }

    /// Binds the columns of `SQL.operationColumns`.
    func bind(_ row: OperationRow) {
        bind(1, row.id.rawValue)
        bind(2, row.queue.rawValue)
        bind(3, row.kind.rawValue)
        bind(4, row.epoch)
        bind(5, row.priority.rawValue)
        bind(6, row.state.rawValue)
        bind(7, row.readyAt)
        bind(8, row.wakeAt)
        bind(9, row.pending)
        bind(10, row.children)
        bind(11, row.parent?.rawValue)
        bind(12, row.failurePolicy.rawValue)
        bind(13, row.rootCause?.rawValue)
        bind(14, row.key)
        bind(15, row.worker?.rawValue)
        bind(16, row.fence)
        bind(17, row.failures)
        bind(18, row.lostLeases)
        bind(19, row.retry.text)
        bind(20, row.timeout)
        bind(21, row.deadline)
        bind(22, row.addedAt)
        bind(23, row.startedAt)
        bind(24, row.endedAt)
        bind(25, row.purgeAt)
        bind(26, row.isCancelRequested)
        bind(27, row.historyCount)
        bind(28, row.signal)
        bind(29, row.workOutcome?.rawValue)
        bind(30, row.reason)
        bind(31, row.context)
        bind(32, row.crashes)
        bind(33, row.death?.rawValue)
    }

    /// The row with the columns of `SQL.operationColumns`.
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

    /// The row with the columns of `SQL.queueColumns`.
    var queueRow: QueueRow {
        var row = QueueRow(id: QueueID(int(0)), name: text(1))
        row.isSuspended = int(2) != 0
        (row.limit, row.limitPerKey) = (optionalInt(3), optionalInt(4))
        (row.rate, row.ratePerKey, row.rateFilledAt) = (rate(5), rate(10), instant(7))
        (row.currentEpoch, row.lastEpoch) = (int(8), int(9))
        return row
    }

    func bind(_ row: QueueRow) {
        bind(1, row.id.rawValue)
        bind(2, row.isSuspended)
        bind(3, row.limit)
        bind(4, row.limitPerKey)
        bind(5, row.rate?.count)
        bind(6, row.rate?.period)
        bind(7, row.rateFilledAt)
        bind(8, row.currentEpoch)
        bind(9, row.lastEpoch)
        bind(10, row.ratePerKey?.count)
        bind(11, row.ratePerKey?.period)
    }

    /// The rate in a column and the next column.
    private func rate(_ column: Int32) -> RateRule? {
        guard let count = optionalInt(column), let period = optionalInt(column + 1) else { return nil }
        return RateRule(count: count, period: period)
    }

    func keyRow(in queue: QueueID) -> KeyRow {
        var row = KeyRow(name: KeyName(queue: queue, key: text(0)))
        row.limit = optionalInt(1)
        (row.running, row.ready, row.blocked) = (int(2), int(3), int(4))
        (row.rate, row.rateFilledAt, row.wakeAt) = (rate(5), instant(7), instant(8))
        return row
    }

    func bind(_ row: KeyRow) {
        bind(1, row.name.queue.rawValue)
        bind(2, row.name.key)
        bind(3, row.limit)
        bind(4, row.running)
        bind(5, row.ready)
        bind(6, row.blocked)
        bind(7, row.rate?.count)
        bind(8, row.rate?.period)
        bind(9, row.rateFilledAt)
        bind(10, row.wakeAt)
    }

    func bind(_ edge: Edge) {
        bind(1, edge.dependency.rawValue)
        bind(2, edge.dependent.rawValue)
        bind(3, edge.isAwait)
    }

    func bind(_ row: UniqueRow) {
        bind(1, row.kind.rawValue)
        bind(2, row.key)
        bind(3, row.operation.rawValue)
        bind(4, row.heldUntil)
    }

    func bind(_ entry: HistoryEntry) {
        bind(1, entry.operation.rawValue)
        bind(2, entry.position)
        bind(3, entry.kind.rawValue)
        bind(4, entry.name)
        bind(5, entry.result)
    }

    /// The row with the columns of `SQL.attemptColumns`.
    var attemptRow: AttemptRow {
        AttemptRow(
            operation: OperationID(int(0)), fence: int(1), worker: text(2),
            startedAt: DurableInstant(microseconds: int(3)), endedAt: DurableInstant(microseconds: int(4)),
            outcome: AttemptRow.Outcome(rawValue: int(5)) ?? .failed, reason: text(6))
    }

    func bind(_ row: AttemptRow) {
        bind(1, row.operation.rawValue)
        bind(2, row.fence)
        bind(3, row.worker)
        bind(4, row.startedAt)
        bind(5, row.endedAt)
        bind(6, row.outcome.rawValue)
        bind(7, row.reason)
    }

    /// The row with the columns of `SQL.eventColumns`.
    var eventRow: EventRow {
        EventRow(
            number: int(0), operation: OperationID(int(1)), queue: QueueID(int(2)), kind: KindID(int(3)),
            state: DurableState(rawValue: int(4)) ?? .failed, fence: int(5),
            at: DurableInstant(microseconds: int(6)), reason: optionalText(7))
    }

    func bind(_ row: EventRow) {
        bind(1, row.number)
        bind(2, row.operation.rawValue)
        bind(3, row.queue.rawValue)
        bind(4, row.kind.rawValue)
        bind(5, row.state.rawValue)
        bind(6, row.fence)
        bind(7, row.at)
        bind(8, row.reason)
    }

    func bind(_ signal: SignalRow) {
        bind(1, signal.operation.rawValue)
        bind(2, signal.number)
        bind(3, signal.name)
        bind(4, signal.payload)
    }

    /// The row of a worker.
    var workerRow: WorkerRow {
        WorkerRow(
            id: WorkerID(int(0)), name: text(1), leaseEnd: DurableInstant(microseconds: int(2)),
            kinds: WorkerRow.names(text(3)), queues: WorkerRow.names(text(4)), process: optionalText(5),
            isolates: optionalInt(6).map { OperationID($0) })
    }

    func bind(_ row: WorkerRow) {
        bind(1, row.id.rawValue)
        bind(2, row.name)
        bind(3, row.leaseEnd)
        bind(4, row.kinds.joined(separator: "\n"))
        bind(5, row.queues.joined(separator: "\n"))
        bind(6, row.process)
        bind(7, row.isolates?.rawValue)
    }

    /// The row with the columns of `SQL.scheduleColumns`.
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

    func bind(_ row: ScheduleRow) {
        let stored = row.storedNext
        bind(1, row.name)
        bind(2, row.cron)
        bind(3, row.missed.rawValue)
        bind(4, stored.next)
        bind(5, row.kind)
        bind(6, row.queue)
        bind(7, row.input)
        bind(8, row.priority.rawValue)
        bind(9, row.retry.text)
        bind(10, row.key)
        bind(11, row.timeout)
        bind(12, stored.due)
        bind(13, row.overlap.rawValue)
        bind(14, row.last?.rawValue)
    }
}
