import SchedulerCore

/// The decisions of `Schedule` in the simplest form: one list in order of arrival, filtered and sorted at each question.
struct ScheduleModel {
    struct Member {
        let id: Schedule.ID
        let kind: Schedule.Kind
        var isBarrier: Bool { kind == .barrier }
        /// The barriers that had arrived at the member's arrival, itself included.
        let segment: Int
        var lane: PriorityLane
        var isReady: Bool
        var isRunning = false
        /// The ordinal of the member's present place in its lane.
        var standingSince = 0
    }

    private(set) var members: [Member] = []
    private var barriersSoFar = 0
    var width: Int
    var isSuspended = false
    var order = Schedule.Order.firstInFirstOut
    private var now = 0
    /// The number of times that a priority may be passed over, and the number for each priority.
    let aging: Int?
    private var passedOver: [PriorityLane: Int] = [:]

    init(width: Int, aging: Int? = nil) {
        self.width = width
        self.aging = aging
    }

    // MARK: Events

    mutating func added(_ id: Schedule.ID, lane: PriorityLane, isReady: Bool, kind: Schedule.Kind = .operation) {
        now += 1
        members.append(
            Member(id: id, kind: kind, segment: barriersSoFar, lane: lane, isReady: isReady, standingSince: now))
    }

    mutating func addedBarrier(_ id: Schedule.ID) {
        barriersSoFar += 1
        members.append(Member(id: id, kind: .barrier, segment: barriersSoFar, lane: .normal, isReady: false))
    }

    mutating func updated(_ id: Schedule.ID, lane: PriorityLane, isReady: Bool) {
        now += 1
        change(id) { [now] member in
            guard !member.isBarrier, !member.isRunning else { return }
            if (member.lane, member.isReady) != (lane, isReady) { member.standingSince = now }
            member.lane = lane
            member.isReady = isReady
        }
    }

    mutating func next() -> Schedule.ID? {
        guard let best else { return nil }
        let standing = front.filter { $0.isReady && !$0.isRunning }
        if let served = standing.first(where: { $0.id == best })?.lane {
            passedOver[served] = 0
            for lane in PriorityLane.allCases {
                if !standing.contains(where: { $0.lane == lane }) { passedOver[lane] = 0 }
                if lane < served, standing.contains(where: { $0.lane == lane }) { passedOver[lane, default: 0] += 1 }
            }
        }
        change(best) { $0.isRunning = true }
        return best
    }

    mutating func heldBack(_ id: Schedule.ID) {
        change(id) { member in
            member.isRunning = false
            member.isReady = false
        }
    }

    mutating func finished(_ id: Schedule.ID) { members.removeAll { $0.id == id } }

    private mutating func change(_ id: Schedule.ID, _ body: (inout Member) -> Void) {
        guard let index = members.firstIndex(where: { $0.id == id }) else { return }
        body(&members[index])
    }

    mutating func setOrder(_ order: Schedule.Order) {
        guard order != self.order else { return }
        self.order = order
        for index in members.indices {
            now += 1
            members[index].standingSince = now
        }
    }

    // MARK: Questions

    var running: Int { members.count(where: \.isRunning) }

    var hasRoom: Bool { !isSuspended && running < width && !members.contains { $0.isBarrier && $0.isRunning } }

    /// The members that have to leave before the others have their turn.
    private var front: [Member] { members.filter { $0.segment == members[0].segment } }

    /// The members that should start now.
    var best: Schedule.ID? {
        guard hasRoom else { return nil }
        if let barrier = front.first(where: \.isBarrier) { return running == 0 ? barrier.id : nil }
        return front.filter { $0.isReady && !$0.isRunning }.enumerated()
            .max {
                (age(of: $0.element.lane), $0.element.lane, turn($0)) < (
                    age(of: $1.element.lane), $1.element.lane, turn($1)
                )
            }?
            .element.id
    }

    private func turn(_ standing: (offset: Int, element: Member)) -> Int {
        order == .lastInFirstOut ? standing.element.standingSince : -standing.offset
    }

    /// 0 as long as the priority is not due.
    private func age(of lane: PriorityLane) -> Int {
        let age = passedOver[lane, default: 0]
        return age >= aging ?? .max ? age : 0
    }

    var idsInOrder: [Schedule.ID] { members.filter { $0.kind == .operation }.map(\.id) }

    /// The members that the first barrier waits for.
    var idsBeforeBarrier: [Schedule.ID] {
        members.isEmpty || front.contains(where: \.isBarrier) ? [] : front.filter { $0.kind == .operation }.map(\.id)
    }

    func isBehindBarrier(_ id: Schedule.ID) -> Bool {
        guard let member = members.first(where: { $0.id == id }) else { return false }
        if member.segment > members[0].segment { return true }
        return !member.isBarrier && front.contains(where: \.isBarrier)
    }
}
