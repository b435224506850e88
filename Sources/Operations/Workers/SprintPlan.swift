/// Whether one worker of a queue *sprints* alone, or several workers share the queue.
///
/// A worker that is alone keeps the queue's lock and the cache lines of the operations in its core. It runs an empty operation
/// in about 100 ns. Workers that share pass the lock from core to core, which costs more than 200 ns for each operation. So
/// one worker is enough for tiny operations.
///
/// The intervals of workers that share do not show whether the operations are tiny, because the workers disturb each other. So a
/// worker whose operations are short attends the queue first, which ends the disturbance. If it then finds that they are not
/// tiny, the workers share for a while.
struct SprintPlan {
    /// The busy time of an operation in nanoseconds, overhead included, from which on several workers are faster than one.
    private static let tiny: UInt64 = 400
    /// The time of an operation below which one worker may be enough.
    private static let short: UInt64 = 1_000
    /// The same above which operations are long, even if many workers disturb each other.
    private static let long: UInt64 = 20_000
    /// The time in nanoseconds for which workers share. The next attempt of one worker takes about a twentieth of it. A longer time
    /// would cost more when another process has disturbed a worker whose operations are tiny.
    private static let period: UInt64 = 8_000_000

    /// An interval of one worker. The times are in nanoseconds.
    struct Interval {
        /// The mean time of an operation, overhead included.
        let time: UInt64
        /// The part of `time` in which the worker did not wait for operations.
        let busy: UInt64
        let end: UInt64
        /// Whether the worker attended the queue.
        let attends: Bool
        /// The number of workers of the queue.
        let workers: Int
    }

    /// The weight of the last intervals, in a row, that spoke against the attendance of this worker. One proves nothing, because
    /// the worker may have lost its core for a moment.
    private var objections = 0

    /// Decides at the end of an interval whether one worker is enough. Then the worker attends the queue, or leaves if another
    /// one does.
    ///
    /// - Parameter sharedUntil: The time until which the workers of the queue share it.
    mutating func sprints(after interval: Interval, sharedUntil: inout UInt64) -> Bool {
        guard interval.attends, interval.end >= sharedUntil else {
            objections = 0
            return interval.end >= sharedUntil
                && interval.time < min(Self.long, Self.short * UInt64(max(1, interval.workers)))
        }
        let weight = interval.time >= Self.short ? 4 : interval.busy >= Self.tiny ? 1 : 0
        objections = weight == 0 ? 0 : objections + weight
        guard objections >= 8 else { return true }
        objections = 0
        if interval.busy >= Self.tiny { sharedUntil = interval.end + Self.period }
        return false
    }
}
