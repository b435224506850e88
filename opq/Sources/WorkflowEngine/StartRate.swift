import Operations
import Synchronization

/// A limit of the number of starts of the commands of one family in any span of a time.
///
/// An operation holds a unit of a resource of the library while it executes. So it waits for the limit in the library's line,
/// without a slot of its queue. An operation that is up to date returns its unit at once, and counts for nothing. After a start,
/// the unit is missing until the time is over: the capacity is one lower from the end of the operation until then. If the operation
/// takes longer, the capacity is one higher from then until its end.
final class StartRate: Sendable {
    private static let resource = "starts"
    /// A limit that no run reaches, so that sums cannot overflow.
    private static let most = 1 << 30

    private let pool: ResourcePool
    private let capacity: Mutex<Int>
    private let interval: Duration
    private let later: @Sendable (Duration, @escaping @Sendable () -> Void) -> Void

    /// Creates a limit.
    ///
    /// - Parameter later: Calls a closure after a time.
    init(_ rate: Rate, later: @escaping @Sendable (Duration, @escaping @Sendable () -> Void) -> Void) {
        let count = min(rate.count, Self.most)
        pool = ResourcePool([Self.resource: count])
        requirement = .units(1, of: Self.resource, in: pool)
        capacity = Mutex(count)
        interval = rate.interval
        self.later = later
    }

    /// The requirement of an operation, or of one repeated start of its command.
    let requirement: OperationRequirement

    /// Counts a start. The caller holds a unit, and calls ``released()`` before it returns the unit.
    func started() { later(interval) { self.change(by: 1) } }

    /// Counts the end of an operation that has started its command.
    func released() { change(by: -1) }

    private func change(by difference: Int) {
        var new = capacity.withLock { capacity in
            capacity += difference
            return capacity
        }
        // The library asks operations in this call, so no lock is held. Of two threads, the one that sets its value last sees
        // the value of the other here.
        while true {
            pool.setCapacity(new, of: Self.resource)
            let latest = capacity.withLock(\.self)
            if latest == new { return }
            new = latest
        }
    }
}
