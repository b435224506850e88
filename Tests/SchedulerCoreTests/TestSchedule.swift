import SchedulerCore

/// A schedule whose members are numbers, and which keeps them alive.
@dynamicMemberLookup
struct TestSchedule {
    final class Member: ScheduleMember, Hashable {
        let id: UInt

        init(_ id: UInt) { self.id = id }

        static func == (a: Member, b: Member) -> Bool { a === b }
        func hash(into hasher: inout Hasher) { hasher.combine(id) }
    }

    private(set) var schedule: Schedule
    private var kept: [Member] = []

    init(width: Int) { schedule = Schedule(width: width) }

    subscript<Value>(dynamicMember path: KeyPath<Schedule, Value>) -> Value { schedule[keyPath: path] }

    var idsInOrder: [UInt] { Self.ids(schedule.operations) }
    var idsBeforeBarrier: [UInt] { Self.ids(schedule.operationsBeforeBarrier) }
    var startable: Schedule.Services { mutating get { schedule.startable } }
    /// The members that can be fetched ahead: the near one and the far one.
    var upcoming: [UInt?] {
        mutating get { [schedule.upcoming.near, schedule.upcoming.far].map { $0.map { Self.member($0).id } } }
    }

    mutating func added(
        _ id: UInt, lane: PriorityLane, service: Schedule.Service = .ofQueue, isReady: Bool,
        kind: Schedule.Kind = .operation
    ) -> Member {
        let member = keep(id)
        schedule.add(member, lane: lane, service: service, isReady: isReady, kind: kind)
        return member
    }

    mutating func addedBarrier(_ id: UInt) -> Member {
        let member = keep(id)
        schedule.addBarrier(member)
        return member
    }

    mutating func updated(_ member: Member, lane: PriorityLane, service: Schedule.Service? = nil, isReady: Bool) {
        schedule.update(member, lane: lane, service: service, isReady: isReady)
    }

    mutating func next(for services: Schedule.Services = .all) -> (member: Member, id: UInt)? {
        schedule.next(for: services).map { reference in
            let member = Self.member(reference)
            return (member, member.id)
        }
    }

    mutating func heldBack(_ member: Member) { schedule.holdBack(member) }
    mutating func refuse(_ member: Member) { schedule.refuse(member) }
    mutating func finished(_ member: Member) { schedule.finish(member) }
    mutating func queuedAnew(_ member: Member) { schedule.queueAnew(member) }
    mutating func setWidth(_ width: Int) { schedule.setWidth(width) }
    mutating func setSuspended(_ isSuspended: Bool) { schedule.setSuspended(isSuspended) }
    mutating func setThrottled(_ isThrottled: Bool) { schedule.setThrottled(isThrottled) }
    mutating func setOrder(_ order: Schedule.Order) { schedule.setOrder(order) }
    mutating func setAging(limit: Int?) { schedule.setAging(limit: limit) }

    func holds(_ member: Member) -> Bool { Schedule.holds(member) }
    func isBehindBarrier(_ member: Member) -> Bool { schedule.isBehindBarrier(member) }
    func checkInvariants() { schedule.checkInvariants() }

    private mutating func keep(_ id: UInt) -> Member {
        let member = Member(id)
        kept.append(member)
        return member
    }

    static func member(_ reference: MemberReference) -> Member {
        unsafeDowncast(reference.takeUnretainedValue(), to: Member.self)
    }

    static func ids(_ members: [ScheduleMember]) -> [UInt] {
        members.sorted { $0.arrival < $1.arrival }.map { unsafeDowncast($0, to: Member.self).id }
    }
}
