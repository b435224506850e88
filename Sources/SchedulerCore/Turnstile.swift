import OperationsPrimitives

/// The turns of members that share a key: a limited number of members of one key run at a time, and the keys take turns.
/// A plain value.
///
/// Of each key at most one member at a time is *offered*: it is in the schedule's line. When it starts, the next member
/// of its key goes to the end of the line. So a key with a thousand members delays a key with two members by at most one
/// turn.
///
/// Within a key the order is by segment, priority and arrival. A ready member of an earlier segment or of a higher
/// priority takes the turn of the offered member. Without the segment, a member behind a barrier could keep the turn
/// while the barrier waits for a member in front of it.
///
/// Legal paths of a member:
///
///     waiting ──► offered ──► running ──► (gone)
///        ▲           │           │
///        └───────────┴───────────┘        (no longer ready, or put back)
///
/// A member finds the line of its key once, when it first becomes ready. From then on it stores the place of the line.
public struct Turnstile {
    public typealias ID = Schedule.ID

    private enum State { case waiting, offered, running }

    private struct Member {
        /// The place of the member's line.
        let place: Int
        let segment: UInt64
        let arrival: UInt64
        var lane: PriorityLane
        var state: State

        var rank: Rank { Rank(segment: segment, lane: lane, arrival: arrival) }
    }

    /// The rank of a member. The member of the least rank is first.
    private struct Rank: Comparable {
        let segment: UInt64
        let lane: PriorityLane
        let arrival: UInt64

        /// Whether a member of this rank takes the turn of an offered member. An earlier arrival alone is not sufficient.
        func overtakes(_ other: Rank) -> Bool {
            segment == other.segment ? lane > other.lane : segment < other.segment
        }

        static func < (a: Rank, b: Rank) -> Bool {
            a.overtakes(b) || !b.overtakes(a) && a.arrival < b.arrival
        }
    }

    private struct Line {
        let key: String
        /// The largest number of running members; nil for the default limit.
        var limit: Int?
        var running = 0
        var offered: ID?
        /// The waiting members. An entry whose member no longer waits, or has another rank by now, is skipped.
        var waiting = RankedHeap<Rank, ID>()
        var members = 0

        /// The number of waiting members. Each has at least one valid entry.
        var waitingMembers: Int { members - running - (offered == nil ? 0 : 1) }
    }

    private var members: [ID: Member] = [:]
    /// The lines of the keys that have members, and free lines.
    private var lines: [Line] = []
    private var places: [String: Int] = [:]
    private var freePlaces: [Int] = []
    /// The limits of keys that have their own limit, with or without members.
    private var limits: [String: Int] = [:]
    /// The limit of all other keys; nil for no limit.
    public private(set) var defaultLimit: Int?

    public init() {}

    public var isEmpty: Bool { members.isEmpty }

    /// Returns the number of running members of a key.
    public func running(_ key: String) -> Int { places[key].map { lines[$0].running } ?? 0 }

    /// Whether the member is in the schedule's line.
    public func isOffered(_ id: ID) -> Bool { members[id]?.state == .offered }

    /// Whether the member waits because the limit of its key is reached.
    public func isHeldByLimit(_ id: ID) -> Bool {
        guard let member = members[id], member.state == .waiting else { return false }
        return isFull(member.place)
    }

    // MARK: - Members

    /// Adds a ready member, or changes its priority. Returns the member that is offered now, which may be this one, and
    /// the member that loses its turn.
    ///
    /// - Parameter segment: The ordinal of the member's segment in the schedule. It never changes.
    public mutating func becameReady(
        _ id: ID, key: String, lane: PriorityLane, arrival: UInt64, segment: UInt64 = 0
    ) -> Shift {
        let old = members[id]
        var member =
            old ?? Member(place: place(of: key), segment: segment, arrival: arrival, lane: lane, state: .waiting)
        if old == nil { lines[member.place].members += 1 }
        member.lane = lane
        members[id] = member
        if member.state == .waiting, old?.lane != lane {
            lines[member.place].waiting.insert(id, at: member.rank)
            sweep(at: member.place)
        }
        return settle(at: member.place)
    }

    /// Returns the place of the key's line, which is created if there is none.
    private mutating func place(of key: String) -> Int {
        if let place = places[key] { return place }
        let line = Line(key: key, limit: limits[key])
        let place = freePlaces.popLast() ?? lines.count
        if place == lines.count { lines.append(line) } else { lines[place] = line }
        places[key] = place
        return place
    }

    /// Retracts the offer of a line if the limit is reached, or if another member overtakes the offered one. Then offers the
    /// turn to the next member.
    private mutating func settle(at place: Int) -> Shift {
        var shift = Shift()
        let first = firstWaiting(at: place).flatMap { members[$0] }
        if let offered = lines[place].offered, let member = members[offered],
            isFull(place) || first?.rank.overtakes(member.rank) == true
        {
            retract(offered, member)
            shift.retracted.append(offered)
        }
        if let next = offerNext(at: place) { shift.offered.append(next) }
        return shift
    }

    /// Counts the offered member as running. Returns the member that is offered in its place.
    public mutating func started(_ id: ID) -> ID? {
        guard let member = members[id], member.state == .offered else { return nil }
        members[id]?.state = .running
        lines[member.place].offered = nil
        lines[member.place].running += 1
        return offerNext(at: member.place)
    }

    /// Removes a member that is no longer ready, was put back, or has left. Returns the member that is offered in its
    /// place.
    public mutating func left(_ id: ID) -> ID? {
        guard let member = members.removeValue(forKey: id) else { return nil }
        switch member.state {
        case .waiting: break
        case .offered: lines[member.place].offered = nil
        case .running: lines[member.place].running -= 1
        }
        lines[member.place].members -= 1
        let next = offerNext(at: member.place)
        if members.isEmpty {
            (lines, places, freePlaces) = ([], [:], [])
        } else if lines[member.place].members == 0 {
            freeLine(at: member.place)
        } else {
            sweep(at: member.place)
        }
        return next
    }

    private mutating func freeLine(at place: Int) {
        places[lines[place].key] = nil
        lines[place] = Line(key: "")
        freePlaces.append(place)
    }

    // MARK: - Limits

    /// The result of a change: the members that are offered now, and the members that are no longer offered.
    public struct Shift: Equatable {
        public var offered: [ID] = []
        public var retracted: [ID] = []
    }

    /// Returns the limit that applies to a key; nil for no limit.
    public func limit(of key: String) -> Int? { limits[key] ?? defaultLimit }

    /// Sets the limit of a key; nil for the default limit. Running members continue.
    public mutating func setLimit(_ limit: Int?, of key: String) -> Shift {
        limits[key] = limit
        guard let place = places[key] else { return Shift() }
        lines[place].limit = limit
        return settle(at: place)
    }

    /// Sets the limit of keys without their own limit; nil for no limit. Running members continue.
    public mutating func setDefaultLimit(_ limit: Int?) -> Shift {
        defaultLimit = limit
        var shift = Shift()
        for place in lines.indices {
            let change = settle(at: place)
            shift.offered += change.offered
            shift.retracted += change.retracted
        }
        return shift
    }

    private func isFull(_ place: Int) -> Bool { lines[place].running >= lines[place].limit ?? defaultLimit ?? .max }

    private mutating func offerNext(at place: Int) -> ID? {
        guard lines[place].offered == nil, !isFull(place), let id = firstWaiting(at: place) else { return nil }
        lines[place].waiting.popFirst()
        members[id]?.state = .offered
        lines[place].offered = id
        return id
    }

    private mutating func retract(_ id: ID, _ member: Member) {
        members[id]?.state = .waiting
        lines[member.place].offered = nil
        lines[member.place].waiting.insert(id, at: member.rank)
        sweep(at: member.place)
    }

    /// Removes the skipped entries, once they are the majority. O(1) on average.
    private mutating func sweep(at place: Int) {
        let (entries, members) = (lines[place].waiting.count, lines[place].waitingMembers)
        guard entries > 32, entries > 2 * members else { return }
        // A member whose priority has changed repeatedly may have several entries of its rank.
        var kept: Set<ID> = []
        lines[place].waiting.removeAll { [members = self.members] rank, id in
            guard let member = members[id], member.state == .waiting, member.rank == rank else { return true }
            return !kept.insert(id).inserted
        }
    }

    /// The number of entries of all lines, skipped ones included.
    var entryCount: Int { lines.reduce(0) { $0 + $1.waiting.count } }

    /// Returns the first waiting member. Removes stale entries in front of it.
    private mutating func firstWaiting(at place: Int) -> ID? {
        while let (rank, id) = lines[place].waiting.first {
            if let member = members[id], member.state == .waiting, member.rank == rank { return id }
            lines[place].waiting.popFirst()
        }
        return nil
    }
}
