import OperationsPrimitives

/// The places of a queue with a capacity, and the waiters for a place, served in order. A plain value.
public struct Backlog<Waiter> {
    /// The largest number of members. After it was lowered, waiters enter when enough members have left.
    public private(set) var capacity: Int
    public private(set) var occupied = 0
    private var waiters: [UInt64: Waiter] = [:]
    /// The order of the waiters. Numbers of withdrawn waiters are skipped.
    private var line = Ring<UInt64>()
    private var lastID: UInt64 = 0

    public init(capacity: Int) { self.capacity = capacity }

    /// The number of waiters.
    public var waitingCount: Int { waiters.count }

    /// Adds this many members, or none. Members do not overtake waiters.
    public mutating func enter(_ count: Int = 1) -> Bool {
        guard waitingCount == 0, missing(for: count) == 0 else { return false }
        occupied += count
        return true
    }

    /// Returns the number of members that have to leave before this many can enter. Members do not overtake waiters.
    public func missing(for count: Int) -> Int {
        waitingCount > 0 ? count : max(0, min(count, occupied + count - capacity))
    }

    /// Adds this many members, in the places of members that leave and in free places.
    public mutating func enter(_ count: Int, insteadOf leaving: Int) { occupied += count - leaving }

    /// Adds a waiter. Returns the number by which the waiter can be withdrawn.
    public mutating func wait(_ waiter: Waiter) -> UInt64 {
        lastID += 1
        waiters[lastID] = waiter
        line.append(lastID)
        return lastID
    }

    /// Withdraws a waiter; nil when the waiter has received a place meanwhile. O(1) amortized.
    public mutating func withdraw(_ id: UInt64) -> Waiter? {
        guard let waiter = waiters.removeValue(forKey: id) else { return nil }
        if line.count > 2 * waiters.count + 64 { sweep() }
        return waiter
    }

    /// Removes the numbers of withdrawn waiters.
    private mutating func sweep() {
        var kept = Ring<UInt64>()
        while let id = line.popFirst() { if waiters[id] != nil { kept.append(id) } }
        line = kept
    }

    /// Removes a member. Returns the waiter that receives its place.
    public mutating func leave() -> Waiter? {
        occupied -= 1
        return admitNext()
    }

    /// Changes the capacity. Returns the waiters that receive a place.
    public mutating func setCapacity(_ capacity: Int) -> [Waiter] {
        self.capacity = capacity
        var admitted: [Waiter] = []
        while let next = admitNext() { admitted.append(next) }
        return admitted
    }

    private mutating func admitNext() -> Waiter? {
        while occupied < capacity, let id = line.popFirst() {
            guard let waiter = waiters.removeValue(forKey: id) else { continue }
            occupied += 1
            return waiter
        }
        return nil
    }
}
