extension OperationRow: StoredRow {
    package static let table = Table(
        "durable_operation", keys: 1,
        """
        id queue kind epoch priority state ready_at wake_at pending children parent failure_policy root_cause key:text worker \
        fence failures lost_leases retry:text timeout deadline added_at started_at ended_at purge_at is_cancel_requested \
        history_count signal:text work_outcome reason:text context:text crashes death
        """)

    package init(_ columns: some ColumnReader) {
        self.init(
            id: columns.id(0), queue: columns.id(1), kind: columns.id(2), epoch: columns.int(3),
            priority: DurablePriority(rawValue: columns.int(4)) ?? .normal,
            state: DurableState(rawValue: columns.int(5)) ?? .failed, readyAt: columns.instant(6),
            addedAt: columns.instant(21))
        wakeAt = columns.optionalInstant(7)
        (pending, children, parent) = (columns.int(8), columns.int(9), columns.optionalID(10))
        failurePolicy = DurableFailurePolicy(rawValue: columns.int(11)) ?? .runAnyway
        (rootCause, key, worker) = (columns.optionalID(12), columns.optionalText(13), columns.optionalID(14))
        (fence, failures, lostLeases) = (columns.int(15), columns.int(16), columns.int(17))
        if let text = columns.optionalText(18) { retry = RetryRule(text: text) }
        (timeout, deadline) = (columns.optionalInt(19), columns.optionalInstant(20))
        (startedAt, endedAt) = (columns.optionalInstant(22), columns.optionalInstant(23))
        (purgeAt, isCancelRequested) = (columns.optionalInstant(24), columns.int(25) != 0)
        (historyCount, signal) = (columns.int(26), columns.optionalText(27))
        workOutcome = columns.optionalInt(28).flatMap { DurableState(rawValue: $0) }
        (reason, context) = (columns.optionalText(29), columns.optionalText(30))
        (crashes, death) = (columns.int(31), columns.optionalID(32))
    }

    @inlinable package func write(to columns: inout some ColumnWriter) {
        columns.write(id.rawValue)
        columns.write(queue.rawValue)
        columns.write(kind.rawValue)
        columns.write(epoch)
        columns.write(priority.rawValue)
        columns.write(state.rawValue)
        columns.write(readyAt.microseconds)
        columns.write(wakeAt?.microseconds)
        columns.write(pending)
        columns.write(children)
        columns.write(parent?.rawValue)
        columns.write(failurePolicy.rawValue)
        columns.write(rootCause?.rawValue)
        columns.write(key)
        columns.write(worker?.rawValue)
        columns.write(fence)
        columns.write(failures)
        columns.write(lostLeases)
        columns.write(retry.text)
        columns.write(timeout)
        columns.write(deadline?.microseconds)
        columns.write(addedAt.microseconds)
        columns.write(startedAt?.microseconds)
        columns.write(endedAt?.microseconds)
        columns.write(purgeAt?.microseconds)
        columns.write(isCancelRequested ? 1 : 0)
        columns.write(historyCount)
        columns.write(signal)
        columns.write(workOutcome?.rawValue)
        columns.write(reason)
        columns.write(context)
        columns.write(crashes)
        columns.write(death?.rawValue)
    }
}

extension QueueRow: StoredRow {
    package static let table = Table(
        "durable_queue", keys: 1,
        """
        id name:text is_suspended max_running max_per_key rate_count rate_period rate_filled_at current_epoch last_epoch \
        key_rate_count key_rate_period
        """)

    package init(_ columns: some ColumnReader) {
        self.init(id: columns.id(0), name: columns.text(1))
        isSuspended = columns.int(2) != 0
        (limit, limitPerKey) = (columns.optionalInt(3), columns.optionalInt(4))
        (rate, rateFilledAt, ratePerKey) = (columns.rate(5), columns.optionalInstant(7), columns.rate(10))
        (currentEpoch, lastEpoch) = (columns.int(8), columns.int(9))
    }

    package func write(to columns: inout some ColumnWriter) {
        columns.write(id.rawValue)
        columns.write(name)
        columns.write(isSuspended ? 1 : 0)
        columns.write(limit)
        columns.write(limitPerKey)
        columns.write(rate?.count)
        columns.write(rate?.period)
        columns.write(rateFilledAt?.microseconds)
        columns.write(currentEpoch)
        columns.write(lastEpoch)
        columns.write(ratePerKey?.count)
        columns.write(ratePerKey?.period)
    }
}

extension KeyRow: StoredRow {
    package static let table = Table(
        "durable_key", keys: 2,
        "queue key:text max_running running ready blocked rate_count rate_period rate_filled_at wake_at")

    package init(_ columns: some ColumnReader) {
        self.init(name: KeyName(queue: columns.id(0), key: columns.text(1)))
        limit = columns.optionalInt(2)
        (running, ready, blocked) = (columns.int(3), columns.int(4), columns.int(5))
        (rate, rateFilledAt) = (columns.rate(6), columns.optionalInstant(8))
        wakeAt = columns.optionalInstant(9)
    }

    package func write(to columns: inout some ColumnWriter) {
        columns.write(name.queue.rawValue)
        columns.write(name.key)
        columns.write(limit)
        columns.write(running)
        columns.write(ready)
        columns.write(blocked)
        columns.write(rate?.count)
        columns.write(rate?.period)
        columns.write(rateFilledAt?.microseconds)
        columns.write(wakeAt?.microseconds)
    }
}

extension Edge: StoredRow {
    package static let table = Table("durable_edge", keys: 2, "dependency dependent is_await")

    package init(_ columns: some ColumnReader) {
        self.init(dependency: columns.id(0), dependent: columns.id(1), isAwait: columns.int(2) != 0)
    }

    package func write(to columns: inout some ColumnWriter) {
        columns.write(dependency.rawValue)
        columns.write(dependent.rawValue)
        columns.write(isAwait ? 1 : 0)
    }
}

extension UniqueRow: StoredRow {
    package static let table = Table("durable_unique", keys: 2, "kind key:text operation held_until")

    package init(_ columns: some ColumnReader) {
        self.init(
            kind: columns.id(0), key: columns.text(1), operation: columns.id(2), heldUntil: columns.optionalInstant(3))
    }

    package func write(to columns: inout some ColumnWriter) {
        columns.write(kind.rawValue)
        columns.write(key)
        columns.write(operation.rawValue)
        columns.write(heldUntil?.microseconds)
    }
}

extension HistoryEntry: StoredRow {
    package static let table = Table("durable_history", keys: 2, "operation position kind name:text result:bytea")

    package init(_ columns: some ColumnReader) {
        self.init(
            operation: columns.id(0), position: columns.int(1), kind: Kind(rawValue: columns.int(2)) ?? .step,
            name: columns.text(3), result: columns.optionalBytes(4))
    }

    package func write(to columns: inout some ColumnWriter) {
        columns.write(operation.rawValue)
        columns.write(position)
        columns.write(kind.rawValue)
        columns.write(name)
        columns.write(result)
    }
}

extension SignalRow: StoredRow {
    package static let table = Table("durable_signal", keys: 2, "operation number name:text payload:bytea")

    package init(_ columns: some ColumnReader) {
        self.init(
            operation: columns.id(0), name: columns.text(2), number: columns.int(1), payload: columns.bytes(3))
    }

    package func write(to columns: inout some ColumnWriter) {
        columns.write(operation.rawValue)
        columns.write(number)
        columns.write(name)
        columns.write(payload)
    }
}

extension WorkerRow: StoredRow {
    /// Lists of names are separated by line ends, which no name contains.
    package static let table = Table(
        "durable_worker", keys: 1, "id name:text lease_end kinds:text queues:text process:text isolates")

    package init(_ columns: some ColumnReader) {
        self.init(
            id: columns.id(0), name: columns.text(1), leaseEnd: columns.instant(2),
            kinds: WorkerRow.names(columns.text(3)), queues: WorkerRow.names(columns.text(4)),
            process: columns.optionalText(5), isolates: columns.optionalID(6))
    }

    package func write(to columns: inout some ColumnWriter) {
        columns.write(id.rawValue)
        columns.write(name)
        columns.write(leaseEnd.microseconds)
        columns.write(kinds.joined(separator: "\n"))
        columns.write(queues.joined(separator: "\n"))
        columns.write(process)
        columns.write(isolates?.rawValue)
    }
}

extension ScheduleRow: StoredRow {
    package static let table = Table(
        "durable_schedule", keys: 1,
        """
        name:text cron:text missed next_at kind:text queue:text input:bytea priority retry:text key:text timeout due_at overlap \
        last
        """)

    package init(_ columns: some ColumnReader) {
        self.init(
            name: columns.text(0), cron: columns.text(1), missed: MissedTimes(rawValue: columns.int(2)) ?? .once,
            nextAt: ScheduleRow.nextAt(next: columns.instant(3), due: columns.optionalInstant(11)),
            kind: columns.text(4), queue: columns.text(5), input: columns.bytes(6))
        priority = DurablePriority(rawValue: columns.int(7)) ?? .normal
        retry = RetryRule(text: columns.optionalText(8))
        (key, timeout) = (columns.optionalText(9), columns.optionalInt(10))
        overlap = ScheduleOverlap(rawValue: columns.int(12)) ?? .allow
        last = columns.optionalID(13)
    }

    package func write(to columns: inout some ColumnWriter) {
        let stored = storedNext
        columns.write(name)
        columns.write(cron)
        columns.write(missed.rawValue)
        columns.write(stored.next.microseconds)
        columns.write(kind)
        columns.write(queue)
        columns.write(input)
        columns.write(priority.rawValue)
        columns.write(retry.text)
        columns.write(key)
        columns.write(timeout)
        columns.write(stored.due?.microseconds)
        columns.write(overlap.rawValue)
        columns.write(last?.rawValue)
    }
}

extension AttemptRow: StoredRow {
    package static let table = Table(
        "durable_attempt", keys: 2, "operation fence worker:text started_at ended_at outcome reason:text")

    package init(_ columns: some ColumnReader) {
        self.init(
            operation: columns.id(0), fence: columns.int(1), worker: columns.text(2), startedAt: columns.instant(3),
            endedAt: columns.instant(4), outcome: Outcome(rawValue: columns.int(5)) ?? .failed, reason: columns.text(6))
    }

    package func write(to columns: inout some ColumnWriter) {
        columns.write(operation.rawValue)
        columns.write(fence)
        columns.write(worker)
        columns.write(startedAt.microseconds)
        columns.write(endedAt.microseconds)
        columns.write(outcome.rawValue)
        columns.write(reason)
    }
}

extension EventRow: StoredRow {
    package static let table = Table("durable_event", keys: 1, "number operation queue kind state fence at reason:text")

    package init(_ columns: some ColumnReader) {
        self.init(
            number: columns.int(0), operation: columns.id(1), queue: columns.id(2), kind: columns.id(3),
            state: DurableState(rawValue: columns.int(4)) ?? .failed, fence: columns.int(5), at: columns.instant(6),
            reason: columns.optionalText(7))
    }

    package func write(to columns: inout some ColumnWriter) {
        columns.write(number)
        columns.write(operation.rawValue)
        columns.write(queue.rawValue)
        columns.write(kind.rawValue)
        columns.write(state.rawValue)
        columns.write(fence)
        columns.write(at.microseconds)
        columns.write(reason)
    }
}

/// A counter, and its stored value or the change of the value.
package struct CounterRow: StoredRow {
    package var counter: Counter
    package var value: Int64

    package init(_ counter: Counter, _ value: Int64) { (self.counter, self.value) = (counter, value) }

    package static let table = Table("durable_counter", keys: 4, "queue epoch kind state count")

    package init(_ columns: some ColumnReader) {
        let state = DurableState(rawValue: columns.int(3)) ?? .failed
        self.init(
            Counter(queue: columns.id(0), epoch: columns.int(1), kind: columns.id(2), state: state), columns.int(4))
    }

    package func write(to columns: inout some ColumnWriter) {
        columns.write(counter.queue.rawValue)
        columns.write(counter.epoch)
        columns.write(counter.kind.rawValue)
        columns.write(counter.state.rawValue)
        columns.write(value)
    }
}
