/// The waiters of shared transfers: a plain value.
///
/// Identical requests share one transfer. The last waiter to leave stops the transfer. The transfer has the highest priority of
/// its waiters, and pauses when all its waiters are paused.
package struct Coalescer<Key: Hashable, Priority: Comparable & Hashable> {
    package typealias Waiter = Int

    private struct Group {
        let transfer: Int
        private(set) var waiters: [Waiter: Priority] = [:]
        /// The number of waiters of each priority. There are few priorities and perhaps many waiters.
        private var counts: [Priority: Int] = [:]
        /// The waiters that are paused.
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
        /// No transfer for this key exists. The caller begins one with this number.
        case begin(transfer: Int)
        /// The request joined an existing transfer. `raised` is its new priority if that became higher.
        case joined(transfer: Int, raised: Priority?)
    }

    package enum Leaving: Equatable {
        /// The waiter had left already, or its transfer had ended.
        case needless
        case goesOn(transfer: Int, urgency: Priority)
        case stop(transfer: Int)
    }

    package init() {}

    /// Adds a waiter for a key, which joins the key's transfer or begins one.
    package mutating func join(_ key: Key, priority: Priority) -> (waiter: Waiter, Joining) {
        last += 1
        let waiter = last
        keys[waiter] = key
        // Changed in place: a copy of the group would copy all its waiters.
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
        // A later request begins a new transfer. Nothing joins a transfer that is being stopped.
        groups[key] = nil
        return .stop(transfer: transfer)
    }

    /// Returns the transfer that a request with this key would join.
    package func transfer(of key: Key) -> Int? { groups[key]?.transfer }

    /// Returns the key of a waiter; nil after the waiter has left or its transfer has ended.
    package func key(of waiter: Waiter) -> Key? { keys[waiter] }

    /// Returns the waiters for a key, in no order.
    package func waiters(of key: Key) -> [Waiter] { groups[key].map { Array($0.waiters.keys) } ?? [] }

    /// Returns the highest priority of the waiters for a key; nil without waiters.
    package func urgency(of key: Key) -> Priority? { groups[key]?.urgency }

    /// Changes the priority of a waiter. Returns nil if the waiter has left.
    package mutating func setPriority(_ priority: Priority, of waiter: Waiter) -> (transfer: Int, urgency: Priority)? {
        guard let key = keys[waiter], groups[key]?.waiters[waiter] != nil else { return nil }
        groups[key]?.set(priority, of: waiter)
        return groups[key].map { ($0.transfer, $0.urgency) }
    }

    /// Pauses or resumes a waiter. No effect if the waiter has left.
    package mutating func setPaused(_ isPaused: Bool, of waiter: Waiter) {
        guard let key = keys[waiter], groups[key]?.waiters[waiter] != nil else { return }
        if isPaused { groups[key]?.paused.insert(waiter) } else { groups[key]?.paused.remove(waiter) }
    }

    /// Whether the transfer should pause, because all its waiters are paused.
    package func isPaused(_ key: Key) -> Bool { groups[key].map { $0.paused.count == $0.waiters.count } ?? false }

    /// Removes a transfer that has ended. A later request with this key begins a new transfer.
    package mutating func ended(_ transfer: Int, of key: Key) {
        guard let group = groups[key], group.transfer == transfer else { return }
        groups[key] = nil
        for waiter in group.waiters.keys { keys[waiter] = nil }
    }

    package var count: Int { groups.count }
}
