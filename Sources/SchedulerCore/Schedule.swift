/// The decisions of a queue: the operations that may start, and whether the queue is idle. A plain value without threads
/// or locks.
///
/// Events change the value (`added`, `updated`, `finished`, `setWidth`, …). `next()` returns the operation to start. An
/// operation is an opaque `ID` that the caller chooses. A member is identified by its `Ticket`.
///
/// Legal paths of a member:
///
///     waiting ◄──► ready ──► running ──► gone
///        └───────────┴─────────────────► gone      (it ended before the queue started it)
///
/// Barriers separate the members into segments. See `Schedule+Barriers.swift`. Within a segment the ready members are in
/// five lanes by priority, each ordered by arrival or the reverse. See `Schedule+Priorities.swift`. Members of different
/// service levels have lanes of their own. See `Schedule+Services.swift`.
public struct Schedule {
    public typealias ID = UInt

    /// The identity of a member from `added` until `finished`.
    @frozen
    public struct Ticket: Hashable, Sendable {
        /// The ordinal of arrival in this queue, from 1. It distinguishes the present holder of a slot from earlier ones.
        public var arrival: UInt64
        public var slot: UInt32

        public init(slot: UInt32, arrival: UInt64) {
            self.slot = slot
            self.arrival = arrival
        }

        public static var none: Ticket { Ticket(slot: 0, arrival: 0) }
    }

    public enum State: UInt8, Sendable { case gone, waiting, ready, running }

    /// The kind of a member. Only operations are counted and listed.
    public enum Kind: UInt8, Sendable { case operation, job, barrier }

    public struct Member {
        public var id: ID
        public var arrival: UInt64
        public var segment: UInt64
        public var state: State
        public var lane: PriorityLane
        public var service: Service
        public var kind: Kind

        @inlinable var isBarrier: Bool { kind == .barrier }
        var isListed: Bool { state != .gone && kind == .operation }
    }

    public internal(set) var members: [Member] = []
    var freeSlots: [UInt32] = []
    var lastArrival: UInt64 = 0
    /// The first segment, the only one that may start members. Separate from the others, which most queues never have.
    @usableFromInline var front = Segment(gate: nil, .firstInFirstOut)
    var laterSegments = Ring<Segment>()
    /// The ordinal of `front`. It grows as segments end.
    var firstSegment: UInt64 = 0

    /// The number of running members, a barrier included.
    public internal(set) var running = 0
    /// The number of members, barriers included.
    public internal(set) var count = 0
    /// The number of members that are barriers or jobs.
    @usableFromInline var unlistedCount = 0

    /// The largest number of members that run at a time.
    public internal(set) var width: Int
    /// The reasons for which no member may start, in one number, because it is read four times for each operation.
    @usableFromInline var holds = Holds()
    public internal(set) var order = Order.firstInFirstOut
    var aging: Aging?
    private let keptSlots: Int

    /// Creates an empty schedule.
    ///
    /// - Parameter keptSlots: The number of slots of 32 bytes that an empty schedule keeps for later members.
    public init(width: Int, keptSlots: Int = 16_384) {
        self.width = width
        self.keptSlots = keptSlots
    }

    // Inlined, because a call would copy the whole value.

    @inlinable public var isEmpty: Bool { count == 0 }

    /// The number of members that are operations, not barriers or jobs.
    @inlinable public var operationCount: Int { count - unlistedCount }

    /// Whether a member that arrives or becomes ready now could start now. If false, the adding thread need not call a
    /// worker: the next `finished`, `setWidth` or `setSuspended` looks.
    @inlinable @inline(__always) public var hasRoom: Bool {
        holds.isEmpty && running < width && !isBarrierRunning
    }

    /// Whether `next(for:)` would return an operation for some service, unless its claim fails.
    @inlinable @inline(__always) public var hasStartable: Bool {
        guard hasRoom else { return false }
        return front.gate == nil ? !front.services.isEmpty : running == 0
    }
}

// MARK: - Events

extension Schedule {
    /// Adds an operation or a job. O(1), O(log n) when not in order of arrival.
    public mutating func added(
        _ id: ID, lane: PriorityLane, service: Service = .ofQueue, isReady: Bool, kind: Kind = .operation
    ) -> Ticket {
        let ordinal = firstSegment + UInt64(laterSegments.count)
        let ticket = admit(
            Member(
                id: id, arrival: 0, segment: ordinal, state: isReady ? .ready : .waiting, lane: lane, service: service,
                kind: kind))
        withSegment(ordinal) { segment in
            segment.live += 1
            if isReady { segment.insert(ticket, lane, service) }
        }
        return ticket
    }

    /// Updates the priority, the service and the readiness of a member. No effect on a running member or a barrier.
    ///
    /// - Parameter service: The service; nil for no change.
    public mutating func updated(_ ticket: Ticket, lane: PriorityLane, service: Service? = nil, isReady: Bool) {
        let index = Int(ticket.slot)
        guard holds(ticket), !members[index].isBarrier else { return }
        let service = service ?? members[index].service
        switch (members[index].state, isReady) {
        case (.ready, true) where members[index].lane == lane && members[index].service == service: return
        case (.ready, _), (.waiting, _):
            if members[index].state == .ready { leaveLane(ticket) }
            members[index].lane = lane
            members[index].service = service
            if isReady { makeReady(ticket) }
        case (.running, _), (.gone, _): return
        }
    }

    /// Makes a waiting member ready, at the end of the line. Returns its new ticket.
    public mutating func queuedAnew(_ ticket: Ticket) -> Ticket {
        let index = Int(ticket.slot)
        guard holds(ticket), members[index].state == .waiting else { return ticket }
        lastArrival += 1
        members[index].arrival = lastArrival
        let ticket = Ticket(slot: ticket.slot, arrival: lastArrival)
        makeReady(ticket)
        return ticket
    }

    /// Returns the next member of these services to start and counts it as running; nil when none may start.
    public mutating func next(for services: Services = .all) -> (ticket: Ticket, id: ID)? {
        guard hasRoom else { return nil }
        guard let ticket = front.gate == nil ? popReady(for: services) : openGate(for: services) else { return nil }
        running += 1
        return (ticket, members[Int(ticket.slot)].id)
    }

    /// A member that is likely to start some turns from now. Callers fetch its memory in advance, because the fetch takes
    /// longer than one turn.
    @inlinable @inline(__always) public var upcoming: ID? { front.lanes.ahead(3).map { members[Int($0.slot)].id } }

    /// Puts back a member that `next` returned, because it cannot start after all.
    public mutating func heldBack(_ ticket: Ticket) {
        members[Int(ticket.slot)].state = .waiting
        running -= 1
    }

    /// Removes a member that has ended, started or not.
    public mutating func finished(_ ticket: Ticket) {
        guard holds(ticket) else { return }
        let index = Int(ticket.slot)
        switch members[index].state {
        case .running: running -= 1
        case .ready: leaveLane(ticket)
        case .waiting, .gone: break
        }
        members[index].state = .gone
        let member = members[index]
        if member.kind != .operation { unlistedCount -= 1 }
        withSegment(member.segment) { segment in
            if member.isBarrier { segment.gate = nil } else { segment.live -= 1 }
        }
        freeSlots.append(ticket.slot)
        count -= 1
        dropFinishedSegments()
        if isEmpty { forgetSlots() }
    }

    public mutating func setWidth(_ width: Int) { self.width = width }

    public mutating func setThrottled(_ isThrottled: Bool) { holds.set(.throttled, isThrottled) }

    public mutating func setSuspended(_ isSuspended: Bool) { holds.set(.suspended, isSuspended) }
}

// MARK: - Holds

extension Schedule {
    public var isSuspended: Bool { holds.contains(.suspended) }

    /// Whether the rate limit has no permit left.
    public var isThrottled: Bool { holds.contains(.throttled) }

    @usableFromInline struct Holds: OptionSet {
        @usableFromInline var rawValue: UInt

        @usableFromInline init(rawValue: UInt) { self.rawValue = rawValue }

        static var suspended: Holds { Holds(rawValue: 1 << 0) }
        static var throttled: Holds { Holds(rawValue: 1 << 1) }

        mutating func set(_ hold: Holds, _ isOn: Bool) { if isOn { insert(hold) } else { remove(hold) } }
    }
}

// MARK: - Members

extension Schedule {
    public func holds(_ ticket: Ticket) -> Bool {
        Int(ticket.slot) < members.count && members[Int(ticket.slot)].arrival == ticket.arrival
            && members[Int(ticket.slot)].state != .gone
    }

    /// The operations in order of arrival. O(n log n).
    public var idsInOrder: [ID] {
        members.lazy.filter(\.isListed).sorted { $0.arrival < $1.arrival }.map(\.id)
    }

    /// The operations and their arrivals, in no order. O(n).
    public var arrivals: [(arrival: UInt64, id: ID)] {
        members.lazy.filter(\.isListed).map { ($0.arrival, $0.id) }
    }

    /// The running members, barriers and jobs included, in no order. O(n).
    public var runningIDs: [ID] { members.lazy.filter { $0.state == .running }.map(\.id) }

    /// Whether some operation satisfies the predicate. O(n).
    public func contains(where predicate: (ID) -> Bool) -> Bool {
        members.contains { $0.isListed && predicate($0.id) }
    }

    @inline(__always)
    mutating func admit(_ newcomer: Member) -> Ticket {
        lastArrival += 1
        count += 1
        if newcomer.kind != .operation { unlistedCount += 1 }
        var member = newcomer
        member.arrival = lastArrival
        if let slot = freeSlots.popLast() {
            members[Int(slot)] = member
            return Ticket(slot: slot, arrival: lastArrival)
        }
        members.append(member)
        return Ticket(slot: UInt32(members.count - 1), arrival: lastArrival)
    }

    /// Releases the slots, so that a queue that once held many operations does not keep their memory forever. The
    /// remaining entries of the lanes are stale.
    private mutating func forgetSlots() {
        guard members.count > keptSlots else { return }
        members = []
        freeSlots = []
        front.forgetEntries(order)
    }
}
