import OperationsPrimitives

/// The resources, the claimants that hold or wait for units, and the claimants that may have units next. A plain value.
///
/// A claimant names all its needs at once, and gets all of them or none. A claimant that holds units never waits for
/// more. So there is no deadlock, regardless of the order of needs. Claimants are served by seniority: the order of their
/// first requests. A later claimant that needs any of the same resources does not overtake, so large needs do not starve.
///
/// Claimants of one queue, or of one key of a queue, share a *lane*. A lane whose claimants cannot start now gives way:
/// claimants of other lanes overtake them. Otherwise a claimant that cannot start would keep units from one that can, and
/// perhaps for ever, because a holder of the units may wait for that one. Within a lane, no claimant overtakes.
///
/// Legal paths of a claimant:
///
///     (unknown) ──► holding ──► (gone)
///         └──► waiting ──► offered ──► holding
///                 ▲           │          │
///         ┌───────┴─ lapsed ◄─┴──────────┘
///         └────────────▲
///
/// A resource exists until it is removed. A named resource exists while a claimant needs it.
///
/// An *offer* reserves units for a claimant that was notified to request them. The offer lapses if the queue of the claimant has
/// no free slot; otherwise claimants that could run would wait for one that cannot. The units go to a claimant of another lane. The
/// claimant requests again when it can run, and keeps its seniority. Until then its lane is closed: the others of the lane would
/// overtake it, or decline as well, and a line of n claimants would take n offers for each free slot.
public struct ResourceLedger<Claimant: Hashable> {
    public typealias Resource = Int

    /// A queue, or a key of a queue.
    public struct Lane: Hashable, Sendable {
        public var queue: UInt
        public var key: String?

        public init(queue: UInt, key: String? = nil) {
            self.queue = queue
            self.key = key
        }
    }

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

    private enum State { case waiting, parked, offered, lapsed, holding }

    private struct Entry {
        var needs: [Need]
        let seniority: UInt64
        let lane: Lane
        var state: State
    }

    /// A lane with waiting claimants, or a closed one.
    private struct LaneState {
        var givesWay: Bool
        /// The number of the last change of `givesWay`.
        var change: UInt64 = 0
        /// The claimants whose offers have lapsed, or that have given units back. While there are any, the lane is closed: it gets no
        /// offers, and blocks no other.
        var closers: Set<Claimant> = []
        /// The resources that its claimants wait for, with the number of claimants.
        var waiting: [Resource: Int] = [:]
    }

    /// The accounts. Empty ones are reused.
    private var accounts: [Account] = []
    private var freeAccounts: [Resource] = []
    private var named: [String: Resource] = [:]
    private var entries: [Claimant: Entry] = [:]
    private var lanes: [Lane: LaneState] = [:]
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
    private mutating func parkOversized(of resource: Resource) {
        let capacity = accounts[resource].capacity
        let oversized = entries.filter { _, entry in
            entry.state == .waiting && entry.needs.contains { $0.resource == resource && $0.units > capacity }
        }
        for (claimant, _) in oversized.sorted(by: { $0.value.seniority < $1.value.seniority }) { park(claimant) }
    }

    // MARK: - Claimants

    /// Requests all the needs, which name each resource once. Changed needs replace the earlier ones. O(log waiting) for
    /// each.
    ///
    /// - Parameters:
    ///   - lane: The lane of the claimant, which stays the same until it withdraws.
    ///   - givesWay: Whether the lane gives way, if it is new. See ``setGivesWay(_:_:change:)``.
    public mutating func request(
        _ claimant: Claimant, _ needs: [Need], lane: Lane = Lane(queue: 0), givesWay: Bool = false
    ) -> Answer {
        lastSeniority += 1
        var entry = entries[claimant] ?? Entry(needs: [], seniority: lastSeniority, lane: lane, state: .lapsed)
        var freed = entry.state == .offered ? entry.needs.map(\.resource) : []
        leave(claimant, entry)
        let old = entry.needs
        freed += open(entry.lane, closedBy: claimant)
        if old != needs {
            freed += old.map(\.resource)
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
            entries[claimant] = entry
        } else {
            if lanes[entry.lane] == nil { lanes[entry.lane] = LaneState(givesWay: givesWay) }
            join(claimant, &entry)
        }
        let offered = settle(freed)
        if old != needs { endUse(of: old) }
        return Answer(isGranted: isGranted, offered: offered)
    }

    /// Sets whether a lane gives way to the others, because its claimants cannot start now. Returns the claimants that are
    /// offered units now. No effect on a lane without waiting claimants.
    ///
    /// - Parameter change: The number of the change. A late call with an earlier number has no effect.
    public mutating func setGivesWay(_ lane: Lane, _ givesWay: Bool, change: UInt64) -> [Claimant] {
        guard let state = lanes[lane], change > state.change else { return [] }
        lanes[lane]?.change = change
        lanes[lane]?.givesWay = givesWay
        // Sorted, because the order of a dictionary differs between processes (rule N4).
        let resources = state.waiting.keys.sorted()
        for resource in resources { index(lane, of: resource) }
        return settle(givesWay ? resources : [])
    }

    /// Opens a lane if this claimant alone keeps it closed. Returns the resources whose lines have to be checked.
    private mutating func open(_ lane: Lane, closedBy claimant: Claimant) -> [Resource] {
        guard lanes[lane]?.closers.remove(claimant) != nil, lanes[lane]?.closers.isEmpty == true else { return [] }
        let resources = lanes[lane]?.waiting.keys.sorted() ?? []
        if resources.isEmpty { lanes[lane] = nil }
        for resource in resources { index(lane, of: resource) }
        return resources
    }

    /// Returns the claimant that this one must not overtake although the units of a resource suffice, if there is one, and the
    /// claimants that are offered units now.
    public mutating func predecessor(of claimant: Claimant, for resource: Resource) -> (Claimant?, offered: [Claimant])
    {
        guard let entry = entries[claimant], entry.state == .waiting,
            let need = entry.needs.first(where: { $0.resource == resource }), need.units <= accounts[resource].free
        else { return (nil, []) }
        let closer = lanes[entry.lane]?.closers.min { entries[$0]!.seniority < entries[$1]!.seniority }
        return (closer ?? blocker(of: entry, in: resource), settle([]))
    }

    /// Ends the offer to a claimant that cannot come, and closes its lane until this claimant requests again, steps out or
    /// withdraws. Room in its queue does not open the lane: the others of the lane would overtake this claimant. Returns the
    /// claimants that are offered the units now. No effect without an offer: the caller may be late, and the claimant may have come.
    public mutating func lapse(_ claimant: Claimant) -> [Claimant] { close(for: claimant, in: .offered) }

    /// Returns the units of a claimant that requests again soon. Until then its lane is closed, as by `lapse(_:)`. Returns the
    /// claimants that are offered the units now.
    public mutating func giveBack(_ claimant: Claimant) -> [Claimant] { close(for: claimant, in: .holding) }

    private mutating func close(for claimant: Claimant, in state: State) -> [Claimant] {
        guard let entry = entries[claimant], entry.state == state else { return [] }
        leave(claimant, entry)
        lanes[entry.lane]?.closers.insert(claimant)
        // The lane no longer blocks others in the lines of its other resources.
        return settle(entry.needs.map(\.resource) + (lanes[entry.lane]?.waiting.keys.sorted() ?? []))
    }

    /// Removes a claimant from the lines, because it could not start even with its needs. It blocks no other claimant
    /// until it requests again, and keeps its seniority. No effect on a claimant that holds units.
    ///
    /// Returns the claimants to notify. These are the claimants that are offered units now, and the claimant itself, if
    /// it was in a line. The claimant is notified, because the caller may be late: the claimant may be able to start by now,
    /// and has to request again.
    public mutating func stepOut(_ claimant: Claimant) -> [Claimant] {
        guard let entry = entries[claimant], entry.state != .holding else { return [] }
        let stoodInLine = entry.state == .waiting || entry.state == .parked
        leave(claimant, entry)
        return settle(entry.needs.map(\.resource) + open(entry.lane, closedBy: claimant))
            + (stoodInLine ? [claimant] : [])
    }

    /// Returns the units of a claimant, or ends its wait. Returns the claimants that are offered units now.
    public mutating func withdraw(_ claimant: Claimant) -> [Claimant] {
        guard let entry = entries.removeValue(forKey: claimant) else { return [] }
        leave(claimant, entry)
        let offered = settle(entry.needs.map(\.resource) + open(entry.lane, closedBy: claimant))
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

    /// Whether all needs are free, and the claimant overtakes none that it must not overtake.
    private mutating func mayHave(_ entry: Entry) -> Bool {
        for need in entry.needs {
            guard need.units <= accounts[need.resource].free, blocker(of: entry, in: need.resource) == nil else {
                return false
            }
        }
        return true
    }

    /// Returns the senior claimant that waits for the resource, and that this one must not overtake.
    private mutating func blocker(of entry: Entry, in resource: Resource) -> Claimant? {
        if let first = firstInLine(resource, givesWay: false), first.seniority < entry.seniority {
            return first.claimant
        }
        if let first = firstClaimant(of: entry.lane, for: resource), first.seniority < entry.seniority {
            return first.claimant
        }
        return nil
    }

    /// Offers units to the next claimants, beginning with these resources.
    private mutating func settle(_ resources: [Resource]) -> [Claimant] {
        var offered: [Claimant] = []
        unsettled += resources
        while let resource = unsettled.popLast() {
            while accounts[resource].free > 0, let claimant = nextInLine(resource), var entry = entries[claimant] {
                leave(claimant, entry)
                for need in entry.needs {
                    accounts[need.resource].offered += need.units
                    unsettled.append(need.resource)
                }
                entry.state = .offered
                entries[claimant] = entry
                offered.append(claimant)
            }
        }
        return offered
    }

    /// Returns the most senior claimant that may have its needs: the first of a lane that gives way, or the first of the others.
    private mutating func nextInLine(_ resource: Resource) -> Claimant? {
        let first = firstInLine(resource, givesWay: false)
        // The lanes in front that cannot be served. They stay in front.
        var passed: [(seniority: UInt64, lane: Lane)] = []
        defer { for (seniority, lane) in passed { accounts[resource].givingWay.insert(lane, at: seniority) } }
        while let next = firstInLine(resource, givesWay: true), next.seniority < first?.seniority ?? .max {
            if let entry = entries[next.claimant] {
                if mayHave(entry) { return next.claimant }
                passed.append((next.seniority, entry.lane))
            }
            accounts[resource].givingWay.popFirst()
        }
        guard let first, let entry = entries[first.claimant], mayHave(entry) else { return nil }
        return first.claimant
    }

    /// Returns the most senior claimant of the lanes that give way, or of the others. Replaces outdated entries in front of it.
    private mutating func firstInLine(
        _ resource: Resource, givesWay: Bool
    ) -> (claimant: Claimant, seniority: UInt64)? {
        while let (seniority, lane) = accounts[resource][givesWay].first {
            let belongs = lanes[lane].map { $0.givesWay == givesWay && $0.closers.isEmpty } ?? false
            let first = belongs ? firstClaimant(of: lane, for: resource) : nil
            if let first, first.seniority == seniority { return first }
            accounts[resource][givesWay].popFirst()
            if let first { accounts[resource][givesWay].insert(lane, at: first.seniority) }
        }
        return nil
    }

    /// Returns the most senior claimant of a lane that waits for the resource. Removes outdated entries in front of it.
    private mutating func firstClaimant(of lane: Lane, for resource: Resource) -> (
        claimant: Claimant, seniority: UInt64
    )? {
        while let (seniority, claimant) = accounts[resource].lines[lane]?.first {
            if let entry = waitingEntry(of: claimant, seniority, for: resource) {
                guard exceedsCapacity(entry) else { return (claimant, seniority) }
                park(claimant)
            } else {
                accounts[resource].lines[lane]?.popFirst()
            }
        }
        return nil
    }

    /// The entry of a claimant that an element of a line stands for; nil for an outdated element.
    private func waitingEntry(of claimant: Claimant, _ seniority: UInt64, for resource: Resource) -> Entry? {
        guard let entry = entries[claimant], entry.state == .waiting, entry.seniority == seniority else { return nil }
        return entry.needs.contains { $0.resource == resource } ? entry : nil
    }

    private func exceedsCapacity(_ entry: Entry) -> Bool {
        entry.needs.contains { $0.units > accounts[$0.resource].capacity }
    }

    // MARK: - Moving

    /// Removes the claimant from its present state. The caller sets the next state.
    private mutating func leave(_ claimant: Claimant, _ entry: Entry) {
        for need in entry.needs {
            switch entry.state {
            case .waiting: endWait(for: need.resource, in: entry.lane)
            case .parked:
                endWait(for: need.resource, in: entry.lane)
                accounts[need.resource].parked.remove(claimant)
            case .offered: accounts[need.resource].offered -= need.units
            case .holding:
                accounts[need.resource].inUse -= need.units
                accounts[need.resource].holders.remove(claimant)
            case .lapsed: break
            }
        }
        if let lane = lanes[entry.lane], lane.waiting.isEmpty, lane.closers.isEmpty { lanes[entry.lane] = nil }
        entries[claimant]?.state = .lapsed
    }

    /// Forgets one claimant of a lane that waited for a resource.
    private mutating func endWait(for resource: Resource, in lane: Lane) {
        accounts[resource].waiting -= 1
        guard let number = lanes[lane]?.waiting[resource] else { return }
        lanes[lane]?.waiting[resource] = number > 1 ? number - 1 : nil
        if number == 1 { accounts[resource].lines[lane] = nil }
    }

    private mutating func join(_ claimant: Claimant, _ entry: inout Entry) {
        entry.state = .waiting
        entries[claimant] = entry
        for need in entry.needs {
            accounts[need.resource].waiting += 1
            lanes[entry.lane]?.waiting[need.resource, default: 0] += 1
            enterLine(of: need.resource, claimant, entry)
        }
    }

    private mutating func enterLine(of resource: Resource, _ claimant: Claimant, _ entry: Entry) {
        sweep(resource, entry.lane)
        accounts[resource].lines[entry.lane, default: DeadlineHeap()].insert(claimant, at: entry.seniority)
        if accounts[resource].lines[entry.lane]?.first?.rank == entry.seniority { index(entry.lane, of: resource) }
    }

    /// Enters a lane among those that give way, or among the others, at the seniority of its first claimant. The entry of a closed
    /// lane is outdated. The lane is entered again when it opens.
    private mutating func index(_ lane: Lane, of resource: Resource) {
        guard let givesWay = lanes[lane]?.givesWay, let first = firstClaimant(of: lane, for: resource) else { return }
        accounts[resource][givesWay].insert(lane, at: first.seniority)
        guard accounts[resource][givesWay].count > 2 * accounts[resource].lines.count + 64 else { return }
        accounts[resource][givesWay] = DeadlineHeap()
        for other in accounts[resource].lines.keys where lanes[other]?.givesWay == givesWay {
            guard let first = firstClaimant(of: other, for: resource) else { continue }
            accounts[resource][givesWay].insert(other, at: first.seniority)
        }
    }

    /// Removes outdated entries of a lane when they are the majority.
    private mutating func sweep(_ resource: Resource, _ lane: Lane) {
        guard let count = accounts[resource].lines[lane]?.count, count > 2 * (lanes[lane]?.waiting[resource] ?? 0) + 64,
            var line = accounts[resource].lines.removeValue(forKey: lane)
        else { return }
        // A claimant may stand in the line several times.
        var kept: Set<Claimant> = []
        line.removeAll { seniority, claimant in
            waitingEntry(of: claimant, seniority, for: resource) == nil || !kept.insert(claimant).inserted
        }
        accounts[resource].lines[lane] = line
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
        entry.state = .waiting
        entries[claimant] = entry
        for need in entry.needs {
            accounts[need.resource].parked.remove(claimant)
            enterLine(of: need.resource, claimant, entry)
        }
    }
}
