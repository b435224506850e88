import OperationsPrimitives

/// The decisions of a queue: the operations that may start, and whether the queue is idle. No threads and no locks.
///
/// Events change the schedule (`add`, `update`, `finish`, `setWidth`, …). `next()` returns the operation to start. The
/// schedule links its members by fields of their own (`ScheduleMember`) and keeps none of them alive.
///
/// Legal paths of a member:
///
///     new ──► waiting ◄──► ready ──► running ──► gone
///                └───────────┴─────────────────► gone      (it ended before the queue started it)
///
/// Barriers separate the members into segments. See `Schedule+Barriers.swift`. Within a segment the ready members are in
/// five lanes by priority, each ordered by arrival or the reverse. See `Schedule+Lanes.swift`. Members of different
/// service levels have lanes of their own. See `Schedule+Services.swift`.
public struct Schedule {
    /// The identity of an operation in other parts of a queue: its address.
    public typealias ID = UInt

    public enum State: UInt8, Sendable { case new, waiting, ready, running, gone }

    /// The kind of a member. Only operations are counted and listed.
    public enum Kind: UInt8, Sendable { case operation, job, barrier }

    var lastArrival: UInt64 = 0
    /// The first segment, the only one that may start members. Separate from the others, which most queues never have.
    @usableFromInline var front = Segment(gate: nil)
    var laterSegments = Ring<Segment>()
    /// The ordinal of `front`. It grows as segments end.
    var firstSegment: UInt64 = 0
    /// The running members, a barrier included.
    var runners = MemberList()

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
    var aging = Aging(limit: nil)

    public init(width: Int) { self.width = width }

    // Inlined, because a call would copy the whole value.

    @inlinable public var isEmpty: Bool { count == 0 }

    /// The number of members that are operations, not barriers or jobs.
    @inlinable public var operationCount: Int { count - unlistedCount }

    /// Whether a member that arrives or becomes ready now could start now. If false, the adding thread need not call a
    /// worker: the next `finish`, `setWidth` or `setSuspended` looks.
    @inlinable @inline(__always) public var hasRoom: Bool {
        holds.isEmpty && running < width && (front.gate == nil || running == 0)
    }

    /// Whether `next(for:)` would return an operation for some service, unless its claim fails.
    @inlinable @inline(__always) public var hasStartable: Bool {
        hasRoom && (front.gate != nil || !front.services.isEmpty)
    }
}

// MARK: - Events

extension Schedule {
    /// Adds a new operation, job or barrier, or updates a member. O(1), O(log n) when not in order of arrival.
    public mutating func arrive(
        _ member: ScheduleMember, _ kind: Kind, lane: PriorityLane, service: Service, isReady: Bool
    ) {
        guard member.state == .new else { return update(member, lane: lane, service: service, isReady: isReady) }
        if kind == .barrier { return addBarrier(member) }
        add(member, lane: lane, service: service, isReady: isReady, kind: kind)
    }

    /// Adds a new operation or job. O(1).
    @inline(__always)
    public mutating func add(
        _ member: ScheduleMember, lane: PriorityLane, service: Service = .ofQueue, isReady: Bool,
        kind: Kind = .operation
    ) {
        member.lane = lane
        member.service = service
        admit(member, kind, segment: firstSegment &+ UInt64(laterSegments.count))
        if isReady { member.state = .ready }
        let order = order
        withSegment(of: member) { segment in
            let reference = MemberReference.passUnretained(member)
            if isReady { segment.insert(reference, order) } else { segment.waiting.append(reference) }
        }
    }

    /// Updates the priority, the service and the readiness of a member. No effect on a running member or a barrier.
    ///
    /// - Parameter service: The service; nil for no change.
    public mutating func update(
        _ member: ScheduleMember, lane: PriorityLane, service: Service? = nil, isReady: Bool
    ) {
        guard member.state == .ready || member.state == .waiting, !member.isBarrier else { return }
        let service = service ?? member.service
        let wasReady = member.state == .ready
        if wasReady, isReady, member.lane == lane, member.service == service { return }
        if wasReady { leaveLane(member) } else if isReady { leaveWaiting(member) }
        member.lane = lane
        member.service = service
        if isReady { makeReady(member) } else if wasReady { makeWaiting(member) }
    }

    /// Makes a waiting member ready, at the end of the line.
    public mutating func queueAnew(_ member: ScheduleMember) {
        guard member.state == .waiting, !member.isBarrier else { return }
        lastArrival += 1
        member.arrival = lastArrival
        leaveWaiting(member)
        makeReady(member)
    }

    /// Returns the next member of these services to start and counts it as running; nil when none may start.
    public mutating func next(for services: Services = .all) -> MemberReference? {
        guard hasRoom else { return nil }
        guard let member = front.gate == nil ? popReady(for: services) : openGate(for: services) else { return nil }
        member._withUnsafeGuaranteedRef { $0.state = .running }
        runners.append(member)
        running += 1
        return member
    }

    /// The second (near) and the fourth (far) of the members that start next, if the order stays as it is. A fetch from memory takes
    /// longer than one turn. So callers begin to fetch the far member now, and the objects to which the near one refers.
    @inlinable @inline(__always)
    public var upcoming: (near: MemberReference?, far: MemberReference?) { mutating get { front.lanes.ahead(1, 3) } }

    /// Puts back a member that `next` returned, and that does not start now.
    public mutating func holdBack(_ member: ScheduleMember) {
        guard member.state == .running else { return }
        leaveRunners(member)
        member.state = .waiting
        if !member.isBarrier { makeWaiting(member) }
    }

    /// Puts back a member that `next` returned, because it is not ready after all. Its priority keeps its turn (`Aging`).
    public mutating func refuse(_ member: ScheduleMember) {
        if member.state == .running { aging.takeBackTurn(of: member.arrival) }
        holdBack(member)
    }

    /// Removes a member that has ended, started or not.
    public mutating func finish(_ member: ScheduleMember) {
        switch member.state {
        case .running: leaveRunners(member)
        case .ready: leaveLane(member)
        case .waiting: if !member.isBarrier { leaveWaiting(member) }
        case .new, .gone: return
        }
        member.state = .gone
        if member.kind != .operation { unlistedCount -= 1 }
        if member.isBarrier { withSegment(of: member) { $0.gate = nil } }
        count -= 1
        dropFinishedSegments()
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
    /// Whether the member is in a schedule. A member is in one schedule, once.
    public static func holds(_ member: ScheduleMember) -> Bool { member.state != .new && member.state != .gone }

    /// The operations, in no order. O(n).
    public var operations: [ScheduleMember] {
        var operations: [ScheduleMember] = []
        operations.reserveCapacity(operationCount)
        forEach { if $0.kind == .operation { operations.append($0) } }
        return operations
    }

    /// The members, barriers and jobs included, in no order. O(n).
    public var members: [ScheduleMember] {
        var members: [ScheduleMember] = []
        forEach { members.append($0) }
        return members
    }

    /// The running members, barriers and jobs included, in no order. O(running).
    public var runningMembers: [ScheduleMember] {
        var members: [ScheduleMember] = []
        runners.forEach { members.append($0) }
        return members
    }

    /// Calls the body with each member, barriers and jobs included, in no order. O(n).
    func forEach(_ body: (ScheduleMember) -> Void) {
        runners.forEach(body)
        for segment in segments {
            if let gate = segment.gate, gate.state == .waiting { body(gate.takeUnretainedValue()) }
            segment.forEach(body)
        }
    }

    @inline(__always)
    mutating func admit(_ member: ScheduleMember, _ kind: Kind, segment: UInt64) {
        precondition(member.state == .new, "a member arrives once")
        lastArrival += 1
        count += 1
        if kind != .operation { unlistedCount += 1 }
        member.arrival = lastArrival
        member.segment = UInt32(truncatingIfNeeded: segment)
        member.kind = kind
        member.state = .waiting
    }

    // Each of these keeps the links only. The caller sets the state, or calls the next one.

    @inline(__always)
    private mutating func leaveRunners(_ member: ScheduleMember) {
        runners.remove(.passUnretained(member))
        running -= 1
    }

    private mutating func leaveWaiting(_ member: ScheduleMember) {
        withSegment(of: member) { $0.waiting.remove(.passUnretained(member)) }
    }

    private mutating func makeWaiting(_ member: ScheduleMember) {
        member.state = .waiting
        withSegment(of: member) { $0.waiting.append(.passUnretained(member)) }
    }

    private mutating func makeReady(_ member: ScheduleMember) {
        member.state = .ready
        let order = order
        withSegment(of: member) { $0.insert(.passUnretained(member), order) }
    }

    /// Removes a ready member from its lane.
    private mutating func leaveLane(_ member: ScheduleMember) {
        withSegment(of: member) { $0.remove(.passUnretained(member)) }
    }
}
