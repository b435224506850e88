import SchedulerCore

/// The decisions of `QueueMachine` in the simplest form: one list in order of arrival, filtered and sorted at each
/// question.
struct NaiveQueue: Hashable {
    struct Member: Hashable {
        let id: UInt
        let kind: Schedule.Kind
        /// The barriers that had arrived at the member's arrival, itself included.
        var segment: Int
        var lane: PriorityLane
        var service: Schedule.Service
        var isReady: Bool
        var isRunning = false
        /// The ordinal of the member's present place in its lane.
        var standingSince = 0
        var isBarrier: Bool { kind == .barrier }
        var stands: Bool { isReady && !isRunning }
    }

    private(set) var members: [Member] = []
    private(set) var limit: Int
    private(set) var isSuspended = false
    private(set) var isThrottled = false
    private(set) var order = Schedule.Order.firstInFirstOut
    /// The number of times that a priority may be passed over, and the number for each priority.
    private(set) var aging: Int?
    private var passedOver: [PriorityLane: Int] = [:]
    /// The member that had the last turn, and the numbers from before that.
    private var lastTurn: Turn?
    private struct Turn: Hashable {
        let id: UInt
        let passedOver: [PriorityLane: Int]
    }

    private var barriersSoFar = 0
    private var now = 0

    typealias Facts = (lane: PriorityLane, service: Schedule.Service, isReady: Bool)

    init(limit: Int) { self.limit = limit }

    // MARK: Events

    mutating func arrive(_ id: UInt, _ kind: Schedule.Kind, _ facts: Facts) {
        now += 1
        if kind == .barrier { barriersSoFar += 1 }
        members.append(
            Member(
                id: id, kind: kind, segment: barriersSoFar, lane: kind == .barrier ? .normal : facts.lane,
                service: kind == .barrier ? .ofQueue : facts.service, isReady: kind != .barrier && facts.isReady,
                standingSince: now))
    }

    mutating func change(_ id: UInt, _ facts: Facts) {
        now += 1
        guard members.contains(where: { $0.id == id && !$0.isBarrier && !$0.isRunning }) else { return }
        update(id) { [now] member in
            let isSame = (member.lane, member.service, member.isReady) == (facts.lane, facts.service, facts.isReady)
            if !isSame { member.standingSince = now }
            (member.lane, member.service, member.isReady) = (facts.lane, facts.service, facts.isReady)
        }
    }

    mutating func offer(_ id: UInt) {
        guard let index = members.firstIndex(where: { $0.id == id }) else { return }
        var member = members[index]
        guard !member.isBarrier, !member.isRunning, !member.isReady else { return }
        now += 1
        (member.isReady, member.standingSince) = (true, now)
        members.remove(at: index)
        members.append(member)
    }

    mutating func look(_ services: Schedule.Services) -> UInt? {
        guard let chosen = choice(services) else { return nil }
        if !chosen.isBarrier { age(chosen) }
        update(chosen.id) { $0.isRunning = true }
        return chosen.id
    }

    mutating func refuse(_ id: UInt) {
        if let turn = lastTurn, turn.id == id, members.contains(where: { $0.id == id && $0.isRunning }) {
            (passedOver, lastTurn) = (turn.passedOver, nil)
        }
        stop(id)
    }

    private mutating func stop(_ id: UInt) {
        update(id) { if $0.isRunning { ($0.isRunning, $0.isReady) = (false, false) } }
    }

    mutating func putBack(_ id: UInt, lane: PriorityLane) {
        stop(id)
        guard members.contains(where: { $0.id == id && !$0.isBarrier }) else { return }
        update(id) { ($0.lane, $0.isReady) = (lane, false) }
    }

    mutating func leave(_ id: UInt) {
        members.removeAll { $0.id == id }
    }

    mutating func setLimit(_ limit: Int) { self.limit = limit }
    mutating func setSuspended(_ isSuspended: Bool) { self.isSuspended = isSuspended }
    mutating func setThrottled(_ isThrottled: Bool) { self.isThrottled = isThrottled }

    mutating func setOrder(_ order: Schedule.Order) {
        guard order != self.order else { return }
        self.order = order
        for index in members.indices { members[index].standingSince = now + index + 1 }
        now += members.count
    }

    mutating func setAging(limit: Int?) { (aging, passedOver, lastTurn) = (limit, [:], nil) }

    private mutating func update(_ id: UInt, _ change: (inout Member) -> Void) {
        if let index = members.firstIndex(where: { $0.id == id }) { change(&members[index]) }
    }

    private mutating func age(_ chosen: Member) {
        guard aging != nil else { return }
        lastTurn = Turn(id: chosen.id, passedOver: passedOver)
        let served = chosen.lane
        let standing = Set(front.filter(\.stands).map(\.lane))
        for lane in PriorityLane.allCases {
            if lane == served || !standing.contains(lane) {
                passedOver[lane] = nil
            } else if lane < served {
                passedOver[lane, default: 0] += 1
            }
        }
    }

    // MARK: Answers

    var running: Int { members.count(where: \.isRunning) }

    private var hasRoom: Bool {
        !isSuspended && !isThrottled && running < limit
            && !members.contains { $0.isBarrier && $0.isRunning }
    }

    /// The members that have to leave before the others have their turn.
    private var front: [Member] {
        let first = members.map(\.segment).min()
        return members.filter { $0.segment == first }
    }

    /// The ready members of the first segment, the next one first.
    private var line: [Member] {
        let line = front.filter(\.stands)
        let due = Set(line.map(\.lane)).filter { passedOver[$0, default: 0] >= aging ?? .max }
            .max { (passedOver[$0, default: 0], $0) < (passedOver[$1, default: 0], $1) }
        return line.enumerated().sorted { a, b in
            let (first, second) = (a.element, b.element)
            if first.lane != second.lane {
                return first.lane == due || second.lane != due && first.lane > second.lane
            }
            return order == .firstInFirstOut ? a.offset < b.offset : first.standingSince > second.standingSince
        }
        .map(\.element)
    }

    private func choice(_ services: Schedule.Services) -> Member? {
        guard hasRoom else { return nil }
        if let barrier = front.first(where: \.isBarrier) {
            return running == 0 && services.contains(.ofQueue) ? barrier : nil
        }
        let line = line
        guard let place = line.firstIndex(where: { services.contains($0.service) }) else { return nil }
        // The members of one service and priority count as a whole, if the first of them precedes.
        let ahead = line[..<place]
        let passedOver = line.count { member in
            ahead.contains { ($0.lane, $0.service) == (member.lane, member.service) }
        }
        return running + passedOver < limit ? line[place] : nil
    }

    var startable: Schedule.Services {
        Schedule.Service.allCases.reduce(into: []) { found, service in
            if choice(Schedule.Services(service)) != nil { found.insert(Schedule.Services(service)) }
        }
    }

    var signal: QueueMachine.Signal {
        hasRoom ? .open : members.isEmpty ? .empty : .busy
    }

    var isBlocked: Bool { !members.isEmpty && startable.isEmpty }

    var operations: [UInt] { members.filter { $0.kind == .operation }.map(\.id) }

    /// The operations that the first barrier waits for.
    var operationsBeforeBarrier: [UInt] {
        let front = front
        return front.contains(where: \.isBarrier) ? [] : front.filter { $0.kind == .operation }.map(\.id)
    }

    func isBehindBarrier(_ id: UInt) -> Bool {
        guard let member = members.first(where: { $0.id == id }), let first = members.map(\.segment).min() else {
            return false
        }
        return member.segment > first || !member.isBarrier && front.contains(where: \.isBarrier)
    }
}
