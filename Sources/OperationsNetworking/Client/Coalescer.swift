#if Networking
/// Who waits for which transfer (rule N2): a plain value. Identical requests share one; the last who leaves stops it; the
/// most urgent who waits says how urgent it is; it stands still when all of them can wait.
package struct Coalescer<Key: Hashable, Priority: Comparable & Hashable> {
    package typealias Waiter = Int

    private struct Group {
        let transfer: Int
        private(set) var waiters: [Waiter: Priority] = [:]
        /// How many are how urgent: there are few priorities, and may be many who wait.
        private var counts: [Priority: Int] = [:]
        /// Those who can wait.
        var paused: Set<Waiter> = []
        var urgency: Priority { counts.keys.max()! }

        init(transfer: Int) { self.transfer = transfer }

        mutating func set(_ priority: Priority, of waiter: Waiter) {
            let canWait = paused.contains(waiter)
            _ = remove(waiter)
            waiters[waiter] = priority
            counts[priority, default: 0] += 1
            if canWait { paused.insert(waiter) }
        }

        mutating func remove(_ waiter: Waiter) -> Bool {
            guard let old = waiters.removeValue(forKey: waiter) else { return false }
            let count = counts[old, default: 1] - 1
            counts[old] = count > 0 ? count : nil
            paused.remove(waiter)
            return true
        }
    }

    private var groups: [Key: Group] = [:]
    private var keys: [Waiter: Key] = [:]
    private var last = 0

    package enum Joining: Equatable {
        /// Nobody transfers this: begin, under this number.
        case begin(transfer: Int)
        /// It is being transferred already; `raised` if it has become more urgent.
        case joined(transfer: Int, raised: Priority?)
    }

    package enum Leaving: Equatable {
        /// It had left already, or its transfer has ended.
        case needless
        case goesOn(transfer: Int, urgency: Priority)
        case stop(transfer: Int)
    }

    package init() {}

    /// - Parameter key: nil for what shares with nobody.
    package mutating func join(_ key: Key, priority: Priority) -> (waiter: Waiter, Joining) {
        last += 1
        let waiter = last
        keys[waiter] = key
        // Changed in place: a copy would be one of all who wait.
        guard let (transfer, old) = groups[key].map({ ($0.transfer, $0.urgency) }) else {
            groups[key] = Group(transfer: waiter)
            groups[key]?.set(priority, of: waiter)
            return (waiter, .begin(transfer: waiter))
        }
        groups[key]?.set(priority, of: waiter)
        return (waiter, .joined(transfer: transfer, raised: priority > old ? priority : nil))
    }

    package mutating func leave(_ waiter: Waiter) -> Leaving {
        guard let key = keys.removeValue(forKey: waiter), let transfer = groups[key]?.transfer,
            groups[key]?.remove(waiter) == true
        else { return .needless }
        if let group = groups[key], !group.waiters.isEmpty {
            return .goesOn(transfer: transfer, urgency: group.urgency)
        }
        // Who comes after this begins anew: what is being stopped is joined by nobody.
        groups[key] = nil
        return .stop(transfer: transfer)
    }

    /// What may be joined for this.
    package func transfer(of key: Key) -> Int? { groups[key]?.transfer }

    /// What it waits for; nil if it waits no longer.
    package func key(of waiter: Waiter) -> Key? { keys[waiter] }

    /// Who waits for this, in no order.
    package func waiters(of key: Key) -> [Waiter] { groups[key].map { Array($0.waiters.keys) } ?? [] }

    /// Of the most urgent who waits for this; nil if nobody does.
    package func urgency(of key: Key) -> Priority? { groups[key]?.urgency }

    /// nil if it waits no longer.
    package mutating func setPriority(_ priority: Priority, of waiter: Waiter) -> (transfer: Int, urgency: Priority)? {
        guard let key = keys[waiter], groups[key]?.waiters[waiter] != nil else { return nil }
        groups[key]?.set(priority, of: waiter)
        return groups[key].map { ($0.transfer, $0.urgency) }
    }

    /// Says that somebody can wait, or no longer can. No effect if he does not wait.
    package mutating func setPaused(_ isPaused: Bool, of waiter: Waiter) {
        guard let key = keys[waiter], groups[key]?.waiters[waiter] != nil else { return }
        if isPaused { groups[key]?.paused.insert(waiter) } else { groups[key]?.paused.remove(waiter) }
    }

    /// All who wait for it can wait: so the transfer is to stand still.
    package func isPaused(_ key: Key) -> Bool { groups[key].map { $0.paused.count == $0.waiters.count } ?? false }

    /// Who comes from now on begins anew.
    package mutating func ended(_ transfer: Int, of key: Key) {
        guard let group = groups[key], group.transfer == transfer else { return }
        groups[key] = nil
        for waiter in group.waiters.keys { keys[waiter] = nil }
    }

    package var count: Int { groups.count }
}
#endif
