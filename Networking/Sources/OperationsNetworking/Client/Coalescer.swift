/// The priority of a request, and whether the request is paused. For a transfer: the combination of its requests.
package struct TransferDemand: Hashable, Sendable {
    package var priority: Int
    package var isPaused: Bool

    package init(priority: Int, isPaused: Bool = false) {
        self.priority = priority
        self.isPaused = isPaused
    }
}

/// The waiters of shared transfers: a plain value.
///
/// Identical requests share one transfer. The last waiter to leave stops the transfer. The transfer has the highest priority of
/// its waiters, and pauses when all its waiters are paused.
package struct Coalescer<Key: Hashable> {
    package typealias Waiter = Int

    private struct Group {
        let transfer: Int
        private(set) var waiters: [Waiter: TransferDemand] = [:]
        /// The number of waiters of each priority. There are few priorities and perhaps many waiters.
        private var counts: [Int: Int] = [:]
        private var pausedCount = 0

        init(transfer: Int) { self.transfer = transfer }

        /// The combined demand. The group must not be empty.
        var demand: TransferDemand {
            TransferDemand(priority: counts.keys.max()!, isPaused: pausedCount == waiters.count)
        }

        /// Adds, changes or removes a waiter. Returns false if there is no waiter to remove.
        mutating func set(_ demand: TransferDemand?, of waiter: Waiter) -> Bool {
            let old = waiters.removeValue(forKey: waiter)
            if let old { count(old, -1) }
            if let demand {
                waiters[waiter] = demand
                count(demand, 1)
            }
            return demand != nil || old != nil
        }

        private mutating func count(_ demand: TransferDemand, _ change: Int) {
            let count = counts[demand.priority, default: 0] + change
            counts[demand.priority] = count > 0 ? count : nil
            if demand.isPaused { pausedCount += change }
        }
    }

    private var groups: [Key: Group] = [:]
    private var keys: [Waiter: Key] = [:]
    private var last = 0

    /// The demand on a transfer before and after a step.
    package struct Change: Equatable {
        package let transfer: Int
        package let old: TransferDemand
        package let new: TransferDemand
    }

    package enum Joining: Equatable {
        /// No transfer for this key exists. The caller begins one with this number.
        case begin(transfer: Int)
        /// The request joined an existing transfer.
        case joined(Change)
    }

    package enum Leaving: Equatable {
        /// The waiter had left already, or its transfer had ended.
        case hadLeft
        /// Other waiters remain.
        case continues(Change)
        /// The waiter was the last one.
        case stop(transfer: Int)
    }

    package init() {}

    /// Adds a waiter for a key, which joins the key's transfer or begins one.
    package mutating func join(_ key: Key, _ demand: TransferDemand) -> (waiter: Waiter, Joining) {
        last += 1
        let waiter = last
        keys[waiter] = key
        // Changed in place: a copy of the group would copy all its waiters.
        guard let (transfer, old) = groups[key].map({ ($0.transfer, $0.demand) }) else {
            groups[key] = Group(transfer: waiter)
            _ = groups[key]?.set(demand, of: waiter)
            return (waiter, .begin(transfer: waiter))
        }
        _ = groups[key]?.set(demand, of: waiter)
        return (waiter, .joined(Change(transfer: transfer, old: old, new: groups[key]!.demand)))
    }

    package mutating func leave(_ waiter: Waiter) -> Leaving {
        guard let key = keys.removeValue(forKey: waiter),
            let (transfer, old) = groups[key].map({ ($0.transfer, $0.demand) }),
            groups[key]?.set(nil, of: waiter) == true
        else { return .hadLeft }
        if let group = groups[key], !group.waiters.isEmpty {
            return .continues(Change(transfer: transfer, old: old, new: group.demand))
        }
        // A later request begins a new transfer. Nothing joins a transfer that is being stopped.
        groups[key] = nil
        return .stop(transfer: transfer)
    }

    /// Changes the demand of a waiter. Returns nil if the waiter has left.
    package mutating func set(_ demand: TransferDemand, of waiter: Waiter) -> Change? {
        guard let key = keys[waiter], let (transfer, old) = groups[key].map({ ($0.transfer, $0.demand) }) else {
            return nil
        }
        _ = groups[key]?.set(demand, of: waiter)
        return Change(transfer: transfer, old: old, new: groups[key]!.demand)
    }

    /// Returns the transfer that a request with this key would join.
    package func transfer(of key: Key) -> Int? { groups[key]?.transfer }

    /// Returns the key of a waiter; nil after the waiter has left or its transfer has ended.
    package func key(of waiter: Waiter) -> Key? { keys[waiter] }

    /// Returns the waiters for a key, in no order.
    package func waiters(of key: Key) -> [Waiter] { groups[key].map { Array($0.waiters.keys) } ?? [] }

    /// Returns the demand on the transfer for a key; nil without a transfer.
    package func demand(of key: Key) -> TransferDemand? { groups[key]?.demand }

    /// Removes a transfer that has ended. A later request with this key begins a new transfer.
    package mutating func ended(_ transfer: Int, of key: Key) {
        guard let group = groups[key], group.transfer == transfer else { return }
        groups[key] = nil
        for waiter in group.waiters.keys { keys[waiter] = nil }
    }

    package var count: Int { groups.count }
}
