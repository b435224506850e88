/// The resources, the claimants that hold or wait for units, and the claimants that may have units next. A plain value.
///
/// A claimant names all its needs at once, and gets all of them or none. A claimant that holds units never waits for
/// more. So there is no deadlock, regardless of the order of needs. Claimants are served by seniority: the order of their
/// first requests. A later claimant that needs any of the same resources never overtakes, so large needs do not starve.
///
/// Legal paths of a claimant:
///
///     (unknown) ──► holding ──► (gone)
///         └──► waiting ──► offered ──► holding
///                 ▲           │
///         ┌───────┴─ lapsed ◄─┘
///         └────────────▲
///
/// A resource exists until it is removed. A named resource exists while a claimant needs it.
///
/// An *offer* reserves units for a claimant that was notified to request them. The offer lapses when the claimant cannot
/// come, because its queue has no free slot. Otherwise claimants that could run would wait for one that cannot. A lapsed
/// claimant requests again by itself when it can, and keeps its seniority.
public struct ResourceLedger<Claimant: Hashable> {
    public typealias Resource = Int

    public struct Need: Equatable, Sendable {
        public var resource: Resource
        public var units: Int

        public init(_ units: Int, of resource: Resource) {
            self.resource = resource
            self.units = units
        }
    }

    public struct Usage: Equatable, Sendable {
        public var capacity: Int
        public var inUse: Int
        /// The number of claimants that wait for units of the resource, without offered ones.
        public var waiting: Int

        public init(capacity: Int, inUse: Int, waiting: Int) {
            self.capacity = capacity
            self.inUse = inUse
            self.waiting = waiting
        }
    }

    public struct Answer: Equatable {
        /// Whether the claimant holds all its needs. If not, it waits, and another method returns it when units are
        /// offered to it.
        public var isGranted: Bool
        /// The claimants that are offered units now, for example units whose earlier offer no longer suffices.
        public var offered: [Claimant] = []
    }

    private struct Account {
        var capacity: Int
        var inUse = 0
        var offered = 0
        var waiting = 0
        /// The waiting claimants, by seniority. Entries of claimants that no longer wait are skipped.
        var line = DeadlineHeap<Claimant>()
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
    }

    private enum State { case waiting, parked, offered, lapsed, holding }

    private struct Entry {
        var needs: [Need]
        let seniority: UInt64
        var state: State
    }

    /// The accounts. Empty ones are reused.
    private var accounts: [Account] = []
    private var freeAccounts: [Resource] = []
    private var named: [String: Resource] = [:]
    private var entries: [Claimant: Entry] = [:]
    private var lastSeniority: UInt64 = 0
    /// Resources whose line has to be checked again, because a claimant with a need above the capacity has left the line.
    private var unsettled: [Resource] = []

    public init() {}

    // MARK: - Resources

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

    private mutating func add(_ account: Account) -> Resource {
        guard let free = freeAccounts.popLast() else {
            accounts.append(account)
            return accounts.count - 1
        }
        accounts[free] = account
        return free
    }

    private mutating func forgetIfUnused(_ resource: Resource) {
        guard !accounts[resource].isKept, accounts[resource].users == 0 else { return }
        if let name = accounts[resource].name { named[name] = nil }
        accounts[resource] = Account(capacity: 0, isKept: false)
        freeAccounts.append(resource)
    }

    /// Returns the resource of a name; nil when no claimant needs it.
    public func known(_ name: String) -> Resource? { named[name] }

    /// Returns the only claimant that holds units of the resource; nil when there are several, or none. O(1).
    public func soleHolder(of resource: Resource) -> Claimant? {
        accounts[resource].holders.count == 1 ? accounts[resource].holders.first : nil
    }

    public func usage(of resource: Resource) -> Usage {
        let account = accounts[resource]
        return Usage(capacity: account.capacity, inUse: account.inUse, waiting: account.waiting)
    }

    /// Changes the capacity. Units in use beyond the capacity stay in use. Returns the claimants that are offered units
    /// now.
    public mutating func setCapacity(_ capacity: Int, of resource: Resource) -> [Claimant] {
        accounts[resource].capacity = capacity
        let parked = accounts[resource].parked
        for claimant in parked { unpark(claimant) }
        return settle([resource])
    }

    // MARK: - Claimants

    /// Requests all the needs, which name each resource once. Changed needs replace the earlier ones. O(log waiting) for
    /// each.
    public mutating func request(_ claimant: Claimant, _ needs: [Need]) -> Answer {
        lastSeniority += 1
        var entry = entries[claimant] ?? Entry(needs: [], seniority: lastSeniority, state: .lapsed)
        var freed = entry.state == .offered ? entry.needs.map(\.resource) : []
        leave(claimant, &entry)
        let old = entry.needs
        if old != needs {
            freed = old.map(\.resource)
            entry.needs = needs
            for need in needs { accounts[need.resource].users += 1 }
        }
        let isGranted = mayHave(entry)
        if isGranted {
            for need in needs {
                accounts[need.resource].inUse += need.units
                accounts[need.resource].holders.insert(claimant)
            }
            entry.state = .holding
        } else {
            join(claimant, &entry)
        }
        entries[claimant] = entry
        let offered = settle(freed)
        if old != needs { endUse(of: old) }
        return Answer(isGranted: isGranted, offered: offered)
    }

    /// Ends the offer to a claimant that cannot come. Returns the claimants that are offered the units now. No effect
    /// without an offer.
    public mutating func lapse(_ claimant: Claimant) -> [Claimant] {
        entries[claimant]?.state == .offered ? stepOut(claimant) : []
    }

    /// Removes a claimant from the lines, because it could not start even with its needs. It blocks no other claimant
    /// until it requests again, and keeps its seniority. No effect on a claimant that holds units.
    ///
    /// Returns the claimants to notify. These are the claimants that are offered units now, and the claimant itself, if
    /// it was in a line. The caller may be a slow thread with old information: the claimant may be able to start by now,
    /// and may have requested. Then it requests again.
    public mutating func stepOut(_ claimant: Claimant) -> [Claimant] {
        guard var entry = entries[claimant], entry.state != .holding else { return [] }
        let stoodInLine = entry.state == .waiting || entry.state == .parked
        leave(claimant, &entry)
        entries[claimant] = entry
        return settle(entry.needs.map(\.resource)) + (stoodInLine ? [claimant] : [])
    }

    /// Returns the units of a claimant, or ends its wait. Returns the claimants that are offered units now.
    public mutating func withdraw(_ claimant: Claimant) -> [Claimant] {
        guard var entry = entries.removeValue(forKey: claimant) else { return [] }
        leave(claimant, &entry)
        let offered = settle(entry.needs.map(\.resource))
        endUse(of: entry.needs)
        return offered
    }

    /// Ends the use of these needs by a claimant.
    private mutating func endUse(of needs: [Need]) {
        for need in needs {
            accounts[need.resource].users -= 1
            forgetIfUnused(need.resource)
        }
    }

    /// Whether the claimant waits for units, including offered ones.
    public func isWaiting(_ claimant: Claimant) -> Bool {
        switch entries[claimant]?.state {
        case .waiting, .parked, .offered, .lapsed: true
        case .holding, nil: false
        }
    }

    // MARK: - Deciding

    /// Whether all needs are free, and no senior claimant waits for any of them.
    private mutating func mayHave(_ entry: Entry) -> Bool {
        for need in entry.needs {
            guard need.units <= accounts[need.resource].free else { return false }
            if let first = firstInLine(need.resource), first.seniority < entry.seniority { return false }
        }
        return true
    }

    /// Offers units to the next claimants, beginning with these resources.
    private mutating func settle(_ resources: [Resource]) -> [Claimant] {
        var offered: [Claimant] = []
        unsettled += resources
        while let resource = unsettled.popLast() {
            while let (claimant, _) = firstInLine(resource), var entry = entries[claimant], mayHave(entry) {
                leave(claimant, &entry)
                for need in entry.needs {
                    accounts[need.resource].offered += need.units
                    if need.resource != resource { unsettled.append(need.resource) }
                }
                entry.state = .offered
                entries[claimant] = entry
                offered.append(claimant)
            }
        }
        return offered
    }

    /// Returns the most senior claimant that waits for the resource. Removes stale entries in front of it.
    private mutating func firstInLine(_ resource: Resource) -> (claimant: Claimant, seniority: UInt64)? {
        while let (seniority, claimant) = accounts[resource].line.first {
            if let entry = waitingEntry(of: claimant, seniority, for: resource) {
                guard exceedsCapacity(entry) else { return (claimant, seniority) }
                park(claimant)
            } else {
                accounts[resource].line.popFirst()
            }
        }
        return nil
    }

    /// The entry of a claimant that an element of a line stands for; nil for a stale element.
    private func waitingEntry(of claimant: Claimant, _ seniority: UInt64, for resource: Resource) -> Entry? {
        guard let entry = entries[claimant], entry.state == .waiting, entry.seniority == seniority else { return nil }
        return entry.needs.contains { $0.resource == resource } ? entry : nil
    }

    private func exceedsCapacity(_ entry: Entry) -> Bool {
        entry.needs.contains { $0.units > accounts[$0.resource].capacity }
    }

    // MARK: - Moving

    /// Removes the claimant from its present state. The caller sets the next state.
    private mutating func leave(_ claimant: Claimant, _ entry: inout Entry) {
        for need in entry.needs {
            switch entry.state {
            case .waiting: accounts[need.resource].waiting -= 1
            case .parked:
                accounts[need.resource].waiting -= 1
                accounts[need.resource].parked.remove(claimant)
            case .offered: accounts[need.resource].offered -= need.units
            case .holding:
                accounts[need.resource].inUse -= need.units
                accounts[need.resource].holders.remove(claimant)
            case .lapsed: break
            }
        }
        entry.state = .lapsed
        entries[claimant]?.state = .lapsed
    }

    private mutating func join(_ claimant: Claimant, _ entry: inout Entry) {
        for need in entry.needs {
            sweep(need.resource)
            accounts[need.resource].waiting += 1
            accounts[need.resource].line.insert(claimant, at: entry.seniority)
        }
        entry.state = .waiting
    }

    /// Removes stale entries when they are the majority.
    private mutating func sweep(_ resource: Resource) {
        guard accounts[resource].line.count > 2 * accounts[resource].waiting + 64 else { return }
        var line = DeadlineHeap<Claimant>()
        swap(&line, &accounts[resource].line)
        // A claimant may stand in the line several times.
        var kept: Set<Claimant> = []
        line.removeAll { seniority, claimant in
            waitingEntry(of: claimant, seniority, for: resource) == nil || !kept.insert(claimant).inserted
        }
        accounts[resource].line = line
    }

    /// Moves a claimant whose need exceeds the capacity out of the lines, so that it blocks no other claimant.
    private mutating func park(_ claimant: Claimant) {
        guard let needs = entries[claimant]?.needs else { return }
        entries[claimant]?.state = .parked
        for need in needs {
            accounts[need.resource].parked.insert(claimant)
            unsettled.append(need.resource)
        }
    }

    private mutating func unpark(_ claimant: Claimant) {
        guard var entry = entries[claimant], entry.state == .parked, !exceedsCapacity(entry) else { return }
        leave(claimant, &entry)
        join(claimant, &entry)
        entries[claimant] = entry
    }
}
