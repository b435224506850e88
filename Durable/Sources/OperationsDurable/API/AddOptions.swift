public import DurableCore
public import Foundation

/// The options of one addition.
public struct DurableOptions: Sendable {
    /// The priority in the queue.
    public var priority = DurablePriority.normal
    /// The reaction to dependencies that do not succeed.
    public var dependencyFailurePolicy = DurableFailurePolicy.runAnyway
    /// The rule for retries. The default is one attempt.
    public var retry = RetryRule.none
    /// The earliest start by the database's clock.
    public var notBefore: Date?
    /// The delay before the earliest start. The database's clock measures the delay. `notBefore` has precedence.
    public var delay: Duration?
    /// The unique key. While an unfinished operation of this name holds the key, an addition returns that operation,
    /// unless `uniquePolicy` rejects that.
    public var unique: String?
    /// The period after the addition for which the unique key holds also after the end.
    public var uniquePeriod: Duration?
    /// The reaction to a unique key that another operation holds. The default returns that operation.
    public var uniquePolicy = DurableUniquePolicy.keep
    /// The key of a limit per key.
    public var limitKey: String?
    /// The time limit of one attempt.
    public var timeout: Duration?
    /// The time after the addition at which no further attempt starts.
    public var deadline: Duration?
    /// Whether the operation is a barrier: it starts when all earlier operations of the queue have ended, and later
    /// operations wait for its end.
    public var isBarrier = false

    /// Creates the default options.
    public init() {}

    /// Creates options with the given values. The other options have their defaults.
    public init(
        priority: DurablePriority = .normal, dependencyFailurePolicy: DurableFailurePolicy = .runAnyway,
        retry: RetryRule = .none, notBefore: Date? = nil, delay: Duration? = nil, unique: String? = nil,
        uniquePeriod: Duration? = nil, uniquePolicy: DurableUniquePolicy = .keep, limitKey: String? = nil,
        timeout: Duration? = nil, deadline: Duration? = nil, isBarrier: Bool = false
    ) {
        (self.priority, self.dependencyFailurePolicy) = (priority, dependencyFailurePolicy)
        (self.retry, self.notBefore, self.delay) = (retry, notBefore, delay)
        (self.unique, self.uniquePeriod, self.uniquePolicy) = (unique, uniquePeriod, uniquePolicy)
        (self.limitKey, self.timeout, self.deadline, self.isBarrier) = (limitKey, timeout, deadline, isBarrier)
    }

    /// - Throws: `DurableError.invalidValue` if `notBefore` is not a number.
    func apply(to operation: inout NewOperation) throws(DurableError) {
        operation.priority = priority
        operation.failurePolicy = dependencyFailurePolicy
        operation.retry = retry
        if let notBefore {
            operation.start = .at(try DurableInstant(checking: notBefore))
        } else if let delay {
            operation.start = .after(delay)
        }
        (operation.unique, operation.uniquePeriod, operation.key) = (unique, uniquePeriod, limitKey)
        operation.uniquePolicy = uniquePolicy
        (operation.timeout, operation.deadline, operation.isBarrier) = (timeout, deadline, isBarrier)
    }
}

extension DurableInstant {
    /// Creates the instant of a date. The instant of a date outside the range is the first or the last instant.
    ///
    /// The instant of a date that is not a number is the last instant. Additions and sleeps refuse such a date.
    public init(_ date: Date) {
        let microseconds = (date.timeIntervalSince1970 * 1_000_000).rounded()
        self.init(microseconds: Int64(exactly: microseconds) ?? (microseconds < 0 ? .min : .max))
    }

    /// - Throws: `DurableError.invalidValue` if the date is not a number.
    init(checking date: Date) throws(DurableError) {
        if date.timeIntervalSince1970.isNaN { throw .invalidValue("the date is not a number") }
        self.init(date)
    }
}
