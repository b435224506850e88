extension DurableMachine {
    /// Stores a schedule. A schedule with an unchanged cron text keeps its next time.
    ///
    /// - Throws: `DurableError` for an invalid name, cron text or input.
    package mutating func setSchedule(
        _ name: String, cron: CronSchedule, missed: MissedTimes, overlap: ScheduleOverlap = .allow,
        operation: NewOperation
    ) throws {
        try event { machine in
            try machine.limits.checkName(name)
            try operation.check(machine.limits)
            let known = try machine.rows.schedule(named: name)
            let next = known?.cron == cron.text ? known?.nextAt : cron.next(after: machine.now)
            guard let next else { throw DurableError.invalidCron(cron.text, reason: "no further time matches") }
            var row = ScheduleRow(
                name: name, cron: cron.text, missed: missed, nextAt: next, kind: operation.name,
                queue: operation.queue, input: operation.input)
            (row.priority, row.retry, row.key) = (operation.priority, operation.retry, operation.key)
            row.timeout = operation.timeout?.microseconds
            (row.overlap, row.last) = (overlap, known?.last)
            machine.put(row)
        }
    }

    /// Removes a schedule. Operations that the schedule added stay.
    package mutating func removeSchedule(_ name: String) throws {
        try event { machine in
            machine.work.changes.removedSchedules.append(name)
            machine.work.isChanged = true
        }
    }

    /// Adds the operations of schedules whose time has come. Returns the number of operations.
    ///
    /// The transaction that adds the operations also moves the next time, so that machines never add one time twice.
    ///
    /// A schedule whose operation the store refuses misses this time, for example because its input exceeds a limit of this
    /// process. It holds back neither other schedules nor the claims of the same transaction.
    ///
    /// - Parameter refused: Called with the name of a schedule whose operation the store refuses, and the reason.
    @discardableResult
    package mutating func runSchedules(refused: (String, DurableError) -> Void = { _, _ in }) throws -> Int {
        var count = 0
        for due in try rows.dueSchedules() {
            do {
                count += try event { machine in
                    var row = due
                    var times = try machine.advance(&row)
                    if row.overlap == .skip { times = try machine.hasEnded(row.last) ? min(times, 1) : 0 }
                    let added = try machine.addMembers(Array(repeating: row.operation, count: times), by: nil)
                    row.last = added.last ?? row.last
                    machine.put(row)
                    return times
                }
            } catch let error as DurableError {
                refused(due.name, error)
                try event { machine in
                    var row = due
                    if (try? machine.advance(&row)) == nil { row.nextAt = .never }
                    machine.put(row)
                }
            }
        }
        return count
    }

    /// Moves the next time of a schedule behind now, and returns the number of operations to add.
    private func advance(_ row: inout ScheduleRow) throws -> Int {
        let cron = try CronSchedule(row.cron)
        let first = row.nextAt
        func next(after instant: DurableInstant) -> DurableInstant {
            cron.next(after: instant) ?? .never
        }
        // A walk along all missed times would take minutes for some schedules of each minute after a long absence.
        switch row.missed {
        case .once:
            row.nextAt = next(after: now)
            return 1
        case .skip:
            row.nextAt = next(after: now)
            let minuteAgo = now.advanced(byMicroseconds: -60_000_001)
            return first > minuteAgo || next(after: minuteAgo) <= now ? 1 : 0
        case .all:
            var times = 1
            row.nextAt = next(after: first)
            while row.nextAt <= now, times < limits.missedTimes {
                (times, row.nextAt) = (times + 1, next(after: row.nextAt))
            }
            return times
        }
    }

    /// Whether the operation has ended, or is stored no longer.
    private mutating func hasEnded(_ id: OperationID?) throws -> Bool {
        guard let id else { return true }
        try load(CollectionOfOne(id))
        return work.operations[id]?.state.isEnded != false
    }

    private mutating func put(_ row: ScheduleRow) {
        work.changes.schedules.append(row)
        work.isChanged = true
        work.effects.hasNewWakes = true
    }
}
