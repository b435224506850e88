/// The rule for times of a schedule that passed while no worker ran.
public enum MissedTimes: Int64, Sendable, Hashable, CaseIterable {
    /// One operation stands for all missed times. This is the default.
    case once = 0
    /// Each missed time has an operation, at most `DurableLimits.missedTimes` in one transaction.
    case all = 1
    /// A time that passed more than a minute ago has no operation.
    case skip = 2
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

    package init(
        name: String, cron: String, missed: MissedTimes, nextAt: DurableInstant, kind: String, queue: String,
        input: [UInt8]
    ) {
        (self.name, self.cron, self.missed, self.nextAt) = (name, cron, missed, nextAt)
        (self.kind, self.queue, self.input) = (kind, queue, input)
    }

    /// The operation that the schedule adds.
    var operation: NewOperation {
        var new = NewOperation(name: kind, queue: queue, input: input)
        (new.priority, new.retry, new.key) = (priority, retry, key)
        new.timeout = timeout.map { .microseconds($0) }
        return new
    }
}
