/// Whose turn it is, of members that share a key: at most so many of one key run at a time, and the keys take turns. A
/// plain value.
///
/// Of each key at most one member at a time is *offered*, that is, stands in the schedule's line; when it starts, the next
/// of its key goes to the end of the line. So a key with a thousand members delays one with two by no more than a turn.
/// Within a key the order is by priority and arrival: one of higher priority takes the turn of the one that is offered.
///
/// Legal paths of a member:
///
///     waiting ──► offered ──► running ──► (gone)
///        ▲           │           │
///        └───────────┴───────────┘        (not ready any more, or put back)
public struct Turnstile<Key: Hashable> {
    public typealias ID = Schedule.ID

    private enum State { case waiting, offered, running }

    private struct Member {
        let key: Key
        let arrival: UInt64
        var lane: PriorityLane
        var state: State

        /// The higher the lane and the earlier the arrival, the less.
        var rank: UInt64 { UInt64(PriorityLane.veryHigh.rawValue - lane.rawValue) << 56 | arrival }
    }

    private struct Line {
        var running = 0
        var offered: ID?
        /// Who waits, by rank. Who does so no more, or with another rank, is skipped.
        var waiting = DeadlineHeap<ID>()
        var members = 0
    }

    private var members: [ID: Member] = [:]
    private var lines: [Key: Line] = [:]
    private var limits: [Key: Int] = [:]
    /// How many of any other key may run; nil for any number.
    private var defaultLimit: Int?

    public init() {}

    public var isEmpty: Bool { members.isEmpty }

    /// How many of a key run.
    public func running(_ key: Key) -> Int { lines[key]?.running ?? 0 }

    /// Whether it stands in the schedule's line.
    public func isOffered(_ id: ID) -> Bool { members[id]?.state == .offered }

    /// Whether it waits because as many of its key run as may.
    public func isHeldByLimit(_ id: ID) -> Bool {
        guard let member = members[id], member.state == .waiting else { return false }
        return running(member.key) >= limit(of: member.key)
    }

    // MARK: - Members

    /// The member may start, as far as it is concerned, and its priority is this. Answers who is offered now, which may be
    /// it, and who has to give way to that.
    public mutating func becameReady(_ id: ID, key: Key, lane: PriorityLane, arrival: UInt64) -> Shift {
        let old = members[id]
        if old == nil {
            members[id] = Member(key: key, arrival: arrival, lane: lane, state: .waiting)
            lines[key, default: Line()].members += 1
        }
        members[id]?.lane = lane
        if members[id]?.state == .waiting, old?.lane != lane {
            lines[key]?.waiting.insert(id, at: members[id].unsafelyUnwrapped.rank)
        }
        return letHigherPass(of: key)
    }

    private mutating func letHigherPass(of key: Key) -> Shift {
        var shift = Shift()
        if let offered = lines[key]?.offered, let member = members[offered],
            let first = firstWaiting(of: key), let better = members[first], better.lane > member.lane
        {
            retract(offered, member)
            shift.retracted.append(offered)
        }
        if let next = offerNext(of: key) { shift.offered.append(next) }
        return shift
    }

    /// The member that was offered has started. Answers who is offered in its place.
    public mutating func started(_ id: ID) -> ID? {
        guard let member = members[id], member.state == .offered else { return nil }
        members[id]?.state = .running
        lines[member.key]?.offered = nil
        lines[member.key]?.running += 1
        return offerNext(of: member.key)
    }

    /// The member is not ready any more, was put back, or is gone. Answers who is offered in its place.
    public mutating func left(_ id: ID) -> ID? {
        guard let member = members.removeValue(forKey: id) else { return nil }
        switch member.state {
        case .waiting: break
        case .offered: lines[member.key]?.offered = nil
        case .running: lines[member.key]?.running -= 1
        }
        lines[member.key]?.members -= 1
        let next = offerNext(of: member.key)
        if lines[member.key]?.members == 0 { lines[member.key] = nil }
        return next
    }

    // MARK: - Limits

    /// What a change does: who is offered now, and who is so no more.
    public struct Shift: Equatable {
        public var offered: [ID] = []
        public var retracted: [ID] = []
    }

    /// How many of a key may run; nil for as many as of any key. Those that run go on.
    public mutating func setLimit(_ limit: Int?, of key: Key) -> Shift {
        limits[key] = limit
        var shift = Shift()
        limitChanged(of: key, &shift)
        return shift
    }

    /// How many of any key without a limit of its own may run; nil for any number. Those that run go on.
    public mutating func setDefaultLimit(_ limit: Int?) -> Shift {
        defaultLimit = limit
        var shift = Shift()
        for key in lines.keys { limitChanged(of: key, &shift) }
        return shift
    }

    private mutating func limitChanged(of key: Key, _ shift: inout Shift) {
        guard let line = lines[key] else { return }
        if let id = line.offered, line.running >= limit(of: key), let member = members[id] {
            retract(id, member)
            shift.retracted.append(id)
        } else if let next = offerNext(of: key) {
            shift.offered.append(next)
        }
    }

    private func limit(of key: Key) -> Int { limits[key] ?? defaultLimit ?? .max }

    private mutating func offerNext(of key: Key) -> ID? {
        guard let line = lines[key], line.offered == nil, line.running < limit(of: key) else { return nil }
        guard let id = firstWaiting(of: key) else { return nil }
        _ = lines[key]?.waiting.removeFirst(dueBy: .max)
        members[id]?.state = .offered
        lines[key]?.offered = id
        return id
    }

    private mutating func retract(_ id: ID, _ member: Member) {
        members[id]?.state = .waiting
        lines[member.key]?.offered = nil
        lines[member.key]?.waiting.insert(id, at: member.rank)
    }

    /// Throws away what is in front of it and waits no more.
    private mutating func firstWaiting(of key: Key) -> ID? {
        while let (rank, id) = lines[key]?.waiting.first {
            if let member = members[id], member.state == .waiting, member.rank == rank { return id }
            _ = lines[key]?.waiting.removeFirst(dueBy: .max)
        }
        return nil
    }
}
