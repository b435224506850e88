/// Who has how many units of which resource, who waits, and who may have them next. A plain value.
///
/// A claimant names all it needs at once, and gets all of it or nothing; what has units never waits for more. So there is
/// no deadlock, whatever the order. Claimants are served by seniority, the order of their first request: nobody is
/// overtaken by a later one that needs any of the same resources, so large needs do not starve.
///
/// Legal paths of a claimant:
///
///     (unknown) ──► holding ──► (gone)
///         └──► waiting ──► offered ──► holding
///                 ▲           │
///         ┌───────┴─ lapsed ◄─┘
///         └────────────▲
///
/// A resource lives until it is removed, a named one while a claimant needs it.
///
/// An *offer* keeps units for a claimant that has been told to come and get them. It lapses when the claimant cannot come,
/// because its queue has no room: else those who could run would wait for one who cannot. A lapsed claimant comes by
/// itself when it can; it has kept its seniority.
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
        /// Claimants that wait for units of it, offered ones not counted.
        public var waiting: Int

        public init(capacity: Int, inUse: Int, waiting: Int) {
            self.capacity = capacity
            self.inUse = inUse
            self.waiting = waiting
        }
    }

    public struct Answer: Equatable {
        /// It holds all it needs. If not it waits, and is answered by one of the other methods when units are offered to it.
        public let isGranted: Bool
        /// Who is offered units now, for instance such as it had been offered before and that do not suffice any more.
        public let offered: [Claimant]

        public init(isGranted: Bool, offered: [Claimant] = []) {
            self.isGranted = isGranted
            self.offered = offered
        }
    }

    private struct Account {
        var capacity: Int
        var inUse = 0
        var offered = 0
        var waiting = 0
        /// Who waits, by seniority. Who waits no more is left in it and skipped.
        var line = DeadlineHeap<Claimant>()
        /// The claimants that wait for more than there is altogether.
        var parked: Set<Claimant> = []
        /// The claimants that have units.
        var holders: Set<Claimant> = []
        /// The claimants that are known and need some.
        var users = 0
        /// It was added, and not removed yet. A named resource is only there for its users.
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

    /// Empty ones are used again.
    private var accounts: [Account] = []
    private var freeAccounts: [Resource] = []
    private var named: [String: Resource] = [:]
    private var entries: [Claimant: Entry] = [:]
    private var lastSeniority: UInt64 = 0
    /// Resources whose line somebody has left unasked, as it waits for more than there is.
    private var unsettled: [Resource] = []

    public init() {}

    // MARK: - Resources

    /// Adds a resource of so many units.
    public mutating func addResource(capacity: Int) -> Resource { add(Account(capacity: capacity, isKept: true)) }

    /// Removes a resource that was added: no claimant will need it that does not do so already.
    public mutating func removeResource(_ resource: Resource) {
        accounts[resource].isKept = false
        forgetIfUnused(resource)
    }

    /// The resource of one unit that has this name. It is forgotten when its last claimant withdraws; so a claimant has to
    /// ask for it before anything else happens.
    public mutating func resource(named name: String) -> Resource {
        if let known = named[name] { return known }
        let resource = add(Account(capacity: 1, isKept: false, name: name))
        named[name] = resource
        return resource
    }

    /// How many resources are known.
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

    /// How the resource of a name is used; nil when no claimant needs it.
    public func usage(ofName name: String) -> Usage? { named[name].map(usage) }

    /// The only claimant that has units of the resource; nil when there are several, or none. O(1).
    public func soleHolder(of resource: Resource) -> Claimant? {
        accounts[resource].holders.count == 1 ? accounts[resource].holders.first : nil
    }

    /// The claimant that has the resource of a name. O(1).
    public func holder(ofName name: String) -> Claimant? { named[name].flatMap(soleHolder) }

    public func usage(of resource: Resource) -> Usage {
        let account = accounts[resource]
        return Usage(capacity: account.capacity, inUse: account.inUse, waiting: account.waiting)
    }

    /// Changes how many units there are; those in use beyond that stay so. Answers who is offered units now.
    public mutating func setCapacity(_ capacity: Int, of resource: Resource) -> [Claimant] {
        accounts[resource].capacity = capacity
        let parked = accounts[resource].parked
        for claimant in parked { unpark(claimant) }
        return settle([resource])
    }

    // MARK: - Claimants

    /// Asks for all the needs, which name each resource once; other needs than before take their place. O(log waiting) for
    /// each.
    public mutating func request(_ claimant: Claimant, _ needs: [Need]) -> Answer {
        var entry = entries[claimant] ?? newEntry(needs)
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

    /// The claimant cannot come for what it was offered. Answers who is offered it instead. No effect on any other.
    public mutating func lapse(_ claimant: Claimant) -> [Claimant] {
        entries[claimant]?.state == .offered ? stepOut(claimant) : []
    }

    /// The claimant could not start even if it had what it needs. It is in nobody's way until it asks again, and keeps its
    /// seniority. No effect on one that holds some.
    ///
    /// Answers who has to be told: who is offered units now; and the claimant itself, if it stood in line. For this may be
    /// old news of it, from a thread that was slow: by now it can start, and has asked. Then it asks again.
    public mutating func stepOut(_ claimant: Claimant) -> [Claimant] {
        guard var entry = entries[claimant], entry.state != .holding else { return [] }
        let stoodInLine = entry.state == .waiting || entry.state == .parked
        leave(claimant, &entry)
        entries[claimant] = entry
        return settle(entry.needs.map(\.resource)) + (stoodInLine ? [claimant] : [])
    }

    /// The claimant gives back what it has, or waits no more. Answers who is offered units now.
    public mutating func withdraw(_ claimant: Claimant) -> [Claimant] {
        guard var entry = entries.removeValue(forKey: claimant) else { return [] }
        leave(claimant, &entry)
        let offered = settle(entry.needs.map(\.resource))
        endUse(of: entry.needs)
        return offered
    }

    /// A claimant needs them no more.
    private mutating func endUse(of needs: [Need]) {
        for need in needs {
            accounts[need.resource].users -= 1
            forgetIfUnused(need.resource)
        }
    }

    /// Whether it waits for units, offered ones included.
    public func isWaiting(_ claimant: Claimant) -> Bool {
        switch entries[claimant]?.state {
        case .waiting, .parked, .offered, .lapsed: true
        case .holding, nil: false
        }
    }

    // MARK: - Deciding

    private mutating func newEntry(_ needs: [Need]) -> Entry {
        lastSeniority += 1
        for need in needs { accounts[need.resource].users += 1 }
        return Entry(needs: needs, seniority: lastSeniority, state: .lapsed)
    }

    /// Everything it needs is there, and no one senior to it waits for any of that.
    private mutating func mayHave(_ entry: Entry) -> Bool {
        for need in entry.needs {
            guard need.units <= accounts[need.resource].free else { return false }
            if let first = firstInLine(need.resource), first.seniority < entry.seniority { return false }
        }
        return true
    }

    /// Offers units to who is next, beginning with these resources.
    private mutating func settle(_ resources: [Resource]) -> [Claimant] {
        var offered: [Claimant] = []
        unsettled += resources
        while let resource = unsettled.popLast() {
            while let (claimant, seniority) = firstInLine(resource), var entry = entries[claimant] {
                let isNext = entry.needs.allSatisfy {
                    $0.units <= accounts[$0.resource].free && firstInLine($0.resource)?.seniority == seniority
                }
                guard isNext else { break }
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

    /// The most senior claimant that waits for the resource. Throws away what is in front of it and waits no more.
    private mutating func firstInLine(_ resource: Resource) -> (claimant: Claimant, seniority: UInt64)? {
        while let (seniority, claimant) = accounts[resource].line.first {
            if let entry = entries[claimant], entry.state == .waiting, entry.seniority == seniority,
                entry.needs.contains(where: { $0.resource == resource })
            {
                guard exceedsCapacity(entry) else { return (claimant, seniority) }
                park(claimant)
            } else {
                accounts[resource].line.popFirst()
            }
        }
        return nil
    }

    private func exceedsCapacity(_ entry: Entry) -> Bool {
        entry.needs.contains { $0.units > accounts[$0.resource].capacity }
    }

    // MARK: - Moving

    /// Takes the claimant out of the state it is in; the caller puts it into the next one.
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

    /// Throws away what waits no more, when it prevails.
    private mutating func sweep(_ resource: Resource) {
        guard accounts[resource].line.count > 2 * accounts[resource].waiting + 64 else { return }
        var line = DeadlineHeap<Claimant>()
        var last: UInt64?
        while let (seniority, claimant) = accounts[resource].line.first {
            accounts[resource].line.popFirst()
            guard seniority != last, let entry = entries[claimant], entry.state == .waiting,
                entry.seniority == seniority, entry.needs.contains(where: { $0.resource == resource })
            else { continue }
            last = seniority
            line.insert(claimant, at: seniority)
        }
        accounts[resource].line = line
    }

    /// Takes one that waits for more than there is out of the way of the others.
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
