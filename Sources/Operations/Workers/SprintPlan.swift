import Synchronization

/// Whether one worker of a queue *sprints* alone, or several workers share the queue.
///
/// A worker that is alone keeps the queue's lock and the cache lines of the operations in its core. It runs an empty operation
/// in about 100 ns. Workers that share pass the lock from core to core, which costs more than 200 ns for each operation. So
/// they are faster only if the operations take some hundred nanoseconds, and even then not if the operations use common memory.
/// The time of one worker does not show this. The workers try both, and compare.
///
/// | plan      | a worker that attends the queue                               | any other worker                                 |
/// |-----------|---------------------------------------------------------------|--------------------------------------------------|
/// | `untried` | sprints while operations are tiny, and then begins `shared`   | attends, or leaves, if operations are short      |
/// | `shared`  | stops attending                                               | stays; if sharing is no better, begins `alone`   |
/// | `alone`   | sprints while operations are short, and then begins `untried` | attends, or leaves                               |
///
/// A result expires, because the next operations may be others.
enum SprintPlan: Equatable {
    case untried
    /// An operation takes `alone` nanoseconds if one worker sprints.
    case shared(alone: UInt64, expires: UInt64)
    case alone(UInt64, expires: UInt64)

    /// The time of an operation in nanoseconds, overhead included, below which a second worker makes no queue faster.
    private static let tiny: UInt64 = 300
    /// The same below which one worker may be faster than several.
    private static let short: UInt64 = 1_000
    /// The same above which operations are long, even if many workers disturb each other.
    private static let long: UInt64 = 20_000
    /// The life of the result that one worker is enough. A trial of several workers, which disturb each other, takes about a
    /// hundredth of it.
    private static let lifeOfAlone: UInt64 = 100_000_000

    /// The life of the result that sharing is better. A trial of one worker takes less than a hundredth of it.
    private static func lifeOfShared(_ alone: UInt64) -> UInt64 { max(20_000_000, 12_800 * alone) }

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

    /// The last intervals of a worker, in a row, that spoke against its mode. One proves nothing, because the worker may have
    /// lost its core for a moment.
    struct Objections {
        private var weight = 0
        /// The least busy time of these intervals. It has the fewest disturbances.
        fileprivate private(set) var leastBusy = UInt64.max

        /// Adds an interval. The weight 0 means that it does not speak against the mode. True: the weights suffice.
        fileprivate mutating func suffice(with interval: Interval, of weight: Int) -> Bool {
            guard weight > 0 else {
                self = Objections()
                return false
            }
            self.weight += weight
            leastBusy = min(leastBusy, interval.busy)
            return self.weight >= 8
        }
    }

    /// Decides at the end of an interval whether one worker is enough. Then the worker attends the queue, or leaves if another
    /// one does.
    mutating func sprints(after interval: Interval, _ objections: inout Objections) -> Bool {
        if interval.end >= expires { self = .untried }
        let sprints = decide(after: interval, &objections)
        // Objections to one mode say nothing about the other one.
        if sprints != interval.attends { objections = Objections() }
        return sprints
    }

    private mutating func decide(after interval: Interval, _ objections: inout Objections) -> Bool {
        switch self {
        case .untried:
            guard interval.attends else {
                return interval.time < min(Self.long, Self.short * UInt64(max(1, interval.workers)))
            }
            let weight = interval.time >= Self.short ? 4 : interval.busy >= Self.tiny ? 1 : 0
            guard objections.suffice(with: interval, of: weight) else { return true }
            let alone = objections.leastBusy
            if alone >= Self.tiny {
                self = .shared(alone: alone, expires: interval.end + Self.lifeOfShared(alone))
            }
            return false
        case .shared(let alone, _):
            if interval.attends { return false }
            if interval.busy >= Self.tiny {
                // Sharing has to save a fifth of the time.
                let share = alone * UInt64(interval.workers)
                let isSlower = interval.workers > 1 && 5 * interval.busy >= 4 * share
                let weight = isSlower ? (interval.busy >= 2 * share ? 2 : 1) : 0
                guard objections.suffice(with: interval, of: weight) else { return false }
            }
            self = .alone(alone, expires: interval.end + Self.lifeOfAlone)
            return true
        case .alone(let alone, _):
            let isLong = interval.time >= max(Self.short, 2 * alone)
            let isOver =
                interval.attends
                ? objections.suffice(with: interval, of: isLong ? 4 : 0) : interval.time >= Self.long
            if isOver { self = .untried }
            return !isOver
        }
    }

    private var expires: UInt64 {
        switch self {
        case .untried: .max
        case .shared(_, let expires), .alone(_, let expires): expires
        }
    }
}

/// The plan of a queue. A worker reads it once in 64 operations. If two workers write at once, one result is lost, which a
/// later interval finds out.
struct SharedSprintPlan: ~Copyable, Sendable {
    /// The kind in 2 bits, the time alone in 22 bits, and the time of expiry in units of 65,536 ns.
    private let bits = Atomic<UInt64>(0)

    private static var timeBits: UInt64 { (1 << 22) - 1 }

    func load() -> SprintPlan {
        let bits = bits.load(ordering: .relaxed)
        let (alone, expires) = ((bits >> 2) & Self.timeBits, (bits >> 24) << 16)
        return switch bits & 3 {
        case 0: .untried
        case 1: .shared(alone: alone, expires: expires)
        default: .alone(alone, expires: expires)
        }
    }

    func store(_ plan: SprintPlan) {
        bits.store(Self.bits(of: plan), ordering: .relaxed)
    }

    private static func bits(of plan: SprintPlan) -> UInt64 {
        switch plan {
        case .untried: 0
        case .shared(let alone, let expires): 1 | (min(alone, timeBits) << 2) | (expires >> 16) << 24
        case .alone(let alone, let expires): 2 | (min(alone, timeBits) << 2) | (expires >> 16) << 24
        }
    }
}
