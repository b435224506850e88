/// The places of a bounded queue, and the waiters for a place, served in order. A plain value.
public struct Backlog<Waiter> {
    /// The most that may be in. After it was lowered, waiters come in when enough have left.
    public private(set) var capacity: Int
    public private(set) var occupied = 0
    private var waiters: [UInt64: Waiter] = [:]
    /// The order of the waiters. Numbers of waiters that were withdrawn are skipped.
    private var line = Ring<UInt64>()
    private var lastID: UInt64 = 0

    public init(capacity: Int, occupied: Int = 0) {
        self.capacity = capacity
        self.occupied = occupied
    }

    /// How many wait for a place.
    public var waitingCount: Int { waiters.count }

    /// So many come in, or none. Waiters are not overtaken.
    public mutating func enter(_ count: Int = 1) -> Bool {
        guard waitingCount == 0, missing(for: count) == 0 else { return false }
        occupied += count
        return true
    }

    /// How many have to leave before so many may come in. Waiters are not overtaken.
    public func missing(for count: Int) -> Int {
        waitingCount > 0 ? count : max(0, min(count, occupied + count - capacity))
    }

    /// So many come in, to the places of some that leave and to free ones.
    public mutating func enter(_ count: Int, insteadOf leaving: Int) { occupied += count - leaving }

    /// Waits for a place. Answers the number by which the waiter can be withdrawn.
    public mutating func wait(_ waiter: Waiter) -> UInt64 {
        lastID += 1
        waiters[lastID] = waiter
        line.append(lastID)
        return lastID
    }

    /// The waiter waits no more; nil when it has got a place meanwhile. O(1) amortized.
    public mutating func withdraw(_ id: UInt64) -> Waiter? {
        guard let waiter = waiters.removeValue(forKey: id) else { return nil }
        if line.count > 2 * waiters.count + 64 { sweep() }
        return waiter
    }

    /// Removes the numbers of waiters that were withdrawn.
    private mutating func sweep() {
        var kept = Ring<UInt64>()
        while let id = line.popFirst() { if waiters[id] != nil { kept.append(id) } }
        line = kept
    }

    /// One leaves. Answers the waiter that has its place now.
    public mutating func leave() -> Waiter? {
        occupied -= 1
        return admitNext()
    }

    /// Answers the waiters that have a place now.
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
