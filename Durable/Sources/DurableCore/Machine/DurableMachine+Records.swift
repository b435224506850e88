extension DurableMachine {
    /// The time for which one request keeps the recording of events on.
    ///
    /// Callers renew the request after 20 seconds. A process that stands still for some minutes loses no event.
    package static let observation = Duration.seconds(600)

    /// Records an attempt that did not end its operation by success.
    mutating func record(_ outcome: AttemptRow.Outcome, of row: OperationRow, reason: String) throws {
        let worker = try row.worker.flatMap { try rows.worker($0) }
        work.changes.attempts.append(
            AttemptRow(
                operation: row.id, fence: row.fence, worker: worker?.name ?? "", startedAt: row.startedAt ?? now,
                endedAt: now, outcome: outcome, reason: cut(reason)))
        // The numbers of failures and lost leases start again with a retry. The number of leases never does, and each record
        // has a lease of its own.
        if row.fence > limits.attemptRecords {
            work.changes.keptAttempts[row.id] = max(0, limits.attemptRecords)
        }
    }

    /// Records the new state of an operation as an event, while a caller observes.
    mutating func note(_ row: OperationRow) throws {
        guard try rows.observedUntil() >= now else { return }
        work.changes.events.append(EventRow(row, number: 0, at: now))
    }

    /// Gives numbers to the events of a set of changes. An event of the machine that throws uses no number.
    mutating func number(_ events: inout [EventRow]) throws {
        if events.isEmpty { return }
        let first = try rows.reserveEventNumbers(events.count)
        for index in events.indices { events[index].number = first + Int64(index) }
    }

    /// Keeps the recording of events on for `observation`, and removes old events.
    ///
    /// - Returns: The number of the last event. If nothing was recorded for a time, one number is left out. A caller that
    ///   reads on from an earlier number therefore notices the gap.
    package mutating func observeEvents() throws -> Int64 {
        let (now, last) = (now, try rows.observedUntil())
        try removeOldEvents()
        if last < now { _ = try rows.reserveEventNumbers(1) }
        let number = try rows.lastEventNumber()
        try event { machine in
            machine.work.changes.observedUntil = max(last, now + Self.observation)
            machine.work.isChanged = true
        }
        return number
    }

    /// Removes old events in one step. Returns whether the store has more of them.
    @discardableResult
    package mutating func removeOldEvents() throws -> Bool {
        let oldest = now.advanced(byMicroseconds: -limits.eventRetention.microseconds)
        try rows.removeEvents(before: oldest, limit: 10_000)
        return try rows.events(after: 0, limit: 1).first.map { $0.at < oldest } ?? false
    }

    /// Returns the events after a number, in their order, as far as no event is missing.
    ///
    /// - Throws: `eventsMissed` if the next event after the number is missing.
    package mutating func events(after number: Int64, limit: Int) throws -> [EventRow] {
        guard number < .max else { throw DurableError.eventsMissed(after: number) }
        // A number is missing where nothing was recorded for a time, or where old events were removed.
        let events = zip(try rows.events(after: number, limit: limit), (number + 1)...).prefix { $0.number == $1 }
        if events.isEmpty, try rows.lastEventNumber() != number { throw DurableError.eventsMissed(after: number) }
        return events.map(\.0)
    }
}
