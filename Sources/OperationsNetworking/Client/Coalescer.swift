#if Networking
/// Who waits for which transfer (rule N2): a plain value. Identical requests share one; the last who leaves stops it; the
/// most urgent who waits says how urgent it is.
struct Coalescer<Key: Hashable, Priority: Comparable> {
    typealias Waiter = Int

    private struct Group {
        var transfer: Int
        var waiters: [Waiter: Priority]
        var urgency: Priority { waiters.values.max().unsafelyUnwrapped }
    }

    private var groups: [Key: Group] = [:]
    private var keys: [Waiter: Key] = [:]
    private var last = 0

    enum Joining: Equatable {
        /// Nobody transfers this: begin, under this number.
        case begin(transfer: Int)
        /// It is being transferred already; `raised` if it has become more urgent.
        case joined(transfer: Int, raised: Priority?)
    }

    enum Leaving: Equatable {
        /// It had left already, or its transfer has ended.
        case needless
        case goesOn(transfer: Int, urgency: Priority)
        case stop(transfer: Int)
    }

    /// - Parameter key: nil for what shares with nobody.
    mutating func join(_ key: Key, priority: Priority) -> (waiter: Waiter, Joining) {
        last += 1
        let waiter = last
        keys[waiter] = key
        guard var group = groups[key] else {
            groups[key] = Group(transfer: waiter, waiters: [waiter: priority])
            return (waiter, .begin(transfer: waiter))
        }
        let old = group.urgency
        group.waiters[waiter] = priority
        groups[key] = group
        return (waiter, .joined(transfer: group.transfer, raised: priority > old ? priority : nil))
    }

    mutating func leave(_ waiter: Waiter) -> Leaving {
        guard let key = keys.removeValue(forKey: waiter), var group = groups[key],
            group.waiters.removeValue(forKey: waiter) != nil
        else { return .needless }
        guard !group.waiters.isEmpty else {
            // Who comes after this begins anew: what is being stopped is joined by nobody.
            groups[key] = nil
            return .stop(transfer: group.transfer)
        }
        groups[key] = group
        return .goesOn(transfer: group.transfer, urgency: group.urgency)
    }

    /// What may be joined for this.
    func transfer(of key: Key) -> Int? { groups[key]?.transfer }

    /// nil if it waits no longer.
    mutating func setPriority(_ priority: Priority, of waiter: Waiter) -> (transfer: Int, urgency: Priority)? {
        guard let key = keys[waiter], var group = groups[key], group.waiters[waiter] != nil else { return nil }
        group.waiters[waiter] = priority
        groups[key] = group
        return (group.transfer, group.urgency)
    }

    /// Who comes from now on begins anew.
    mutating func ended(_ transfer: Int, of key: Key) {
        guard let group = groups[key], group.transfer == transfer else { return }
        groups[key] = nil
        for waiter in group.waiters.keys { keys[waiter] = nil }
    }

    var count: Int { groups.count }
}
#endif
