/// The rule for times of a schedule that passed while no worker ran.
public enum MissedTimes: Int64, Sendable, Hashable, CaseIterable {
    /// One operation stands for all missed times. This is the default.
    case once = 0
    /// Each missed time has an operation, at most `DurableLimits.missedTimes` in one transaction.
    case all = 1
    /// A time that passed more than a minute ago has no operation.
    case skip = 2
}

/// The rule for a time of a schedule at which the operation of the last time has not ended.
public enum ScheduleOverlap: Int64, Sendable, Hashable, CaseIterable {
    /// The schedule adds an operation at each time. This is the default.
    case allow = 0
    /// The schedule adds no operation while the last one has not ended.
    case skip = 1
}

/// The stored state of a schedule.
public struct ScheduleRow: Sendable, Hashable {
    public var name: String
    public var cron: String
    public var missed: MissedTimes
    /// The next time of the schedule.
    public var nextAt: DurableInstant
    /// The name of the operations that the schedule adds.
    public var kind: String
    public var queue: String
    public var input: [UInt8]
    public var priority = DurablePriority.normal
    public var retry = RetryRule.none
    public var key: String?
    /// The time limit of an attempt, in microseconds.
    public var timeout: Int64?
    public var overlap = ScheduleOverlap.allow
    /// The last operation that the schedule added.
    public var last: OperationID?

    package init(
        name: String, cron: String, missed: MissedTimes, nextAt: DurableInstant, kind: String, queue: String,
        input: [UInt8]
    ) {
        (self.name, self.cron, self.missed, self.nextAt) = (name, cron, missed, nextAt)
        (self.kind, self.queue, self.input) = (kind, queue, input)
    }

    /// The next time in the two columns of a store.
    ///
    /// Workers before schema 4 read the first column only. There, a schedule that they do not understand is never due.
    package var storedNext: (next: DurableInstant, due: DurableInstant?) {
        let isUnderstood = overlap == .allow && (try? CronSchedule(cron))?.isPlain != false
        return isUnderstood ? (nextAt, nil) : (.never, nextAt)
    }

    /// Reads the two columns.
    package static func nextAt(next: DurableInstant, due: DurableInstant?) -> DurableInstant {
        next == .never ? due ?? next : next
    }

    /// The operation that the schedule adds.
    var operation: NewOperation {
        var new = NewOperation(name: kind, queue: queue, input: input)
        (new.priority, new.retry, new.key) = (priority, retry, key)
        new.timeout = timeout.map { .microseconds($0) }
        return new
    }
}
