import OperationsPrimitives

// The resources and their accounts.
extension ResourceLedger {
    struct Account {
        var capacity: Int { didSet { largestCapacity = max(largestCapacity, capacity) } }
        private(set) var largestCapacity: Int
        var inUse = 0
        var offered = 0
        var waiting = 0
        /// The waiting claimants of each lane, by seniority. Entries of claimants that no longer wait are skipped.
        var lines: [Lane: DeadlineHeap<Claimant>] = [:]
        /// The lanes by the seniority of their first claimant: those that give way, and the others. A lane may have outdated
        /// entries, but it has one at or before the place of its first claimant.
        var holding = DeadlineHeap<Lane>()
        var givingWay = DeadlineHeap<Lane>()

        subscript(givesWay: Bool) -> DeadlineHeap<Lane> {
            _read { if givesWay { yield givingWay } else { yield holding } }
            _modify { if givesWay { yield &givingWay } else { yield &holding } }
        }

        /// The claimants that wait for more units than the capacity.
        var parked: Set<Claimant> = []
        /// The claimants that hold units.
        var holders: Set<Claimant> = []
        /// The number of known claimants that need units.
        var users = 0
        /// Whether the resource was added, and not yet removed. A named resource exists only for its users.
        var isKept: Bool
        var name: String?

        var free: Int { capacity - inUse - offered }

        init(capacity: Int, isKept: Bool, name: String? = nil) {
            (self.capacity, largestCapacity) = (capacity, capacity)
            (self.isKept, self.name) = (isKept, name)
        }
    }

    /// Adds a resource with this capacity.
    public mutating func addResource(capacity: Int) -> Resource { add(Account(capacity: capacity, isKept: true)) }

    /// Removes a resource that was added. Only claimants that need it already still use it.
    public mutating func removeResource(_ resource: Resource) {
        accounts[resource].isKept = false
        forgetIfUnused(resource)
    }

    /// Returns the resource of one unit that has this name. It is forgotten when its last claimant withdraws. So a
    /// claimant has to request it before any other event.
    public mutating func resource(named name: String) -> Resource {
        if let known = named[name] { return known }
        let resource = add(Account(capacity: 1, isKept: false, name: name))
        named[name] = resource
        return resource
    }

    /// The number of known resources.
    public var resourceCount: Int { accounts.count - freeAccounts.count }

    mutating func add(_ account: Account) -> Resource {
        guard let free = freeAccounts.popLast() else {
            accounts.append(account)
            return accounts.count - 1
        }
        accounts[free] = account
        return free
    }

    mutating func forgetIfUnused(_ resource: Resource) {
        guard !accounts[resource].isKept, accounts[resource].users == 0 else { return }
        if let name = accounts[resource].name { named[name] = nil }
        accounts[resource] = Account(capacity: 0, isKept: false)
        freeAccounts.append(resource)
    }

    /// The number of lanes with waiting claimants.
    var laneCount: Int { lanes.count }

    /// The number of entries of all lines of a resource, outdated ones included, and of its parked claimants.
    func entryCount(of resource: Resource) -> Int {
        let account = accounts[resource]
        let lanes = account.holding.count + account.givingWay.count
        return account.lines.values.reduce(lanes + account.parked.count) { $0 + $1.count }
    }

    /// Returns the resource of a name; nil when no claimant needs it.
    public func known(_ name: String) -> Resource? { named[name] }

    /// Returns the only claimant that holds units of the resource; nil when there are several, or none. O(1).
    public func soleHolder(of resource: Resource) -> Claimant? {
        accounts[resource].holders.count == 1 ? accounts[resource].holders.first : nil
    }

    /// Returns the claimants that hold units of the resource, by seniority. O(n log n).
    public func holders(of resource: Resource) -> [Claimant] {
        accounts[resource].holders.sorted { entries[$0]!.seniority < entries[$1]!.seniority }
    }

    public func usage(of resource: Resource) -> Usage {
        let account = accounts[resource]
        return Usage(capacity: account.capacity, inUse: account.inUse, waiting: account.waiting)
    }

    /// The largest capacity that the resource has had. O(1).
    public func largestCapacity(of resource: Resource) -> Int { accounts[resource].largestCapacity }

    /// Changes the capacity. Units in use beyond the capacity stay in use. Returns the claimants that are offered units
    /// now. O(claimants) if the capacity is lowered.
    public mutating func setCapacity(_ capacity: Int, of resource: Resource) -> [Claimant] {
        let isLowered = capacity < accounts[resource].capacity
        accounts[resource].capacity = capacity
        let parked = accounts[resource].parked
        for claimant in parked { unpark(claimant) }
        if isLowered { parkOversized(of: resource) }
        return settle([resource])
    }

    /// Parks the waiting claimants whose need exceeds the capacity, because they may be the first in the lines of other resources,
    /// which no event concerns. In an order that is the same in every process (rule N4).
    mutating func parkOversized(of resource: Resource) {
        let capacity = accounts[resource].capacity
        let oversized = entries.filter { _, entry in
            entry.state == .waiting && entry.needs.contains { $0.resource == resource && $0.units > capacity }
        }
        for (claimant, _) in oversized.sorted(by: { $0.value.seniority < $1.value.seniority }) { park(claimant) }
    }
}
