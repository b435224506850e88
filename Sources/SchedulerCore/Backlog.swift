/// The places of a bounded queue, and who waits for one, the first to come first. A plain value.
public struct Backlog<Waiter> {
    /// The most that may be in; lowered, it lets nobody in until enough have left.
    public private(set) var capacity: Int
    public private(set) var occupied = 0
    private var waiting = Ring<(id: UInt64, waiter: Waiter)>()
    /// Those in the ring that wait no more.
    private var gone: Set<UInt64> = []
    private var lastID: UInt64 = 0

    public init(capacity: Int, occupied: Int = 0) {
        self.capacity = capacity
        self.occupied = occupied
    }

    /// How many wait for a place.
    public var waitingCount: Int { waiting.count - gone.count }

    /// So many come in, or none. Nobody overtakes who waits.
    public mutating func enter(_ count: Int = 1) -> Bool {
        guard waitingCount == 0, missing(for: count) == 0 else { return false }
        occupied += count
        return true
    }

    /// How many have to leave before so many may come in. Nobody overtakes who waits.
    public func missing(for count: Int) -> Int {
        waitingCount > 0 ? count : max(0, min(count, occupied + count - capacity))
    }

    /// So many come in, to the places of some who leave and to free ones.
    public mutating func enter(_ count: Int, insteadOf leaving: Int) { occupied += count - leaving }

    /// Waits for a place; answers by what it is called when it waits no more.
    public mutating func wait(_ waiter: Waiter) -> UInt64 {
        lastID += 1
        waiting.append((lastID, waiter))
        return lastID
    }

    /// The waiter waits no more; nil when it has got a place meanwhile.
    public mutating func withdraw(_ id: UInt64) -> Waiter? {
        for index in 0..<waiting.count where waiting[index].id == id && !gone.contains(id) {
            gone.insert(id)
            return waiting[index].waiter
        }
        return nil
    }

    /// One leaves. Answers who has its place now.
    public mutating func leave() -> Waiter? {
        occupied -= 1
        return admitNext()
    }

    /// Answers who has a place now.
    public mutating func setCapacity(_ capacity: Int) -> [Waiter] {
        self.capacity = capacity
        var admitted: [Waiter] = []
        while let next = admitNext() { admitted.append(next) }
        return admitted
    }

    private mutating func admitNext() -> Waiter? {
        while occupied < capacity, let (id, waiter) = waiting.popFirst() {
            guard gone.remove(id) == nil else { continue }
            occupied += 1
            return waiter
        }
        return nil
    }
}
