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

    enum State { case waiting, parked, offered, lapsed, holding }

    struct Entry {
        var needs: [Need]
        let seniority: UInt64
        let lane: Lane
        var state: State
    }

    /// A lane with waiting claimants, or a closed one.
    struct LaneState {
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
    var accounts: [Account] = []
    var freeAccounts: [Resource] = []
    var named: [String: Resource] = [:]
    var entries: [Claimant: Entry] = [:]
    var lanes: [Lane: LaneState] = [:]
    var lastSeniority: UInt64 = 0
    /// Resources whose line has to be checked again, because a claimant with a need above the capacity has left the line.
    var unsettled: [Resource] = []

    public init() {}

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
    mutating func open(_ lane: Lane, closedBy claimant: Claimant) -> [Resource] {
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

    mutating func close(for claimant: Claimant, in state: State) -> [Claimant] {
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
    mutating func endUse(of needs: [Need]) {
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
}
