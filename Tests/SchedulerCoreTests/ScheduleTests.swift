import SchedulerCore
import Testing

@Suite struct ScheduleTests {
    // MARK: Priorities

    @Test func `a new schedule is empty and can start no member`() {
        var schedule = TestSchedule(width: 4)
        #expect(schedule.isEmpty)
        #expect(schedule.hasRoom)
        #expect(!schedule.hasStartable)
        #expect(schedule.next() == nil)
        schedule.checkInvariants()
    }

    @Test func `equal priorities start in order of arrival`() {
        var schedule = TestSchedule(width: 1)
        for id: UInt in 1...200 { _ = schedule.added(id, lane: .normal, isReady: true) }
        #expect(schedule.startAll() == Array(1...200))
    }

    @Test func `the highest priority starts first, regardless of arrival`() {
        var schedule = TestSchedule(width: 1)
        let lanes: [PriorityLane] = [.low, .veryHigh, .normal, .veryLow, .high, .normal, .veryHigh]
        for (id, lane) in lanes.enumerated() { _ = schedule.added(UInt(id), lane: lane, isReady: true) }
        #expect(schedule.startAll() == [1, 6, 4, 2, 5, 0, 3])
    }

    @Test(arguments: PriorityLane.allCases)
    func `the members to start one turn and three turns after the next can be fetched ahead`(lane: PriorityLane) {
        var schedule = TestSchedule(width: 3)
        for id: UInt in 1...3 { _ = schedule.added(id, lane: lane, isReady: true) }
        #expect(schedule.upcoming == [nil, nil])
        _ = schedule.added(4, lane: lane, isReady: true)
        #expect(schedule.upcoming == [2, 4])
        for lower in PriorityLane.allCases where lower.rawValue < lane.rawValue {
            for id: UInt in 11...14 { _ = schedule.added(id, lane: lower, isReady: true) }
        }
        #expect(schedule.upcoming == [2, 4], "the highest lane")
        for _ in 1...3 { _ = schedule.next() }
        #expect(schedule.upcoming == [nil, nil])
    }

    @Test func `a ready low member starts before an unready high one`() {
        var schedule = TestSchedule(width: 1)
        let high = schedule.added(1, lane: .veryHigh, isReady: false)
        _ = schedule.added(2, lane: .veryLow, isReady: true)
        #expect(schedule.next()?.id == 2)
        schedule.setWidth(2)
        #expect(schedule.next() == nil)
        schedule.updated(high, lane: .veryHigh, isReady: true)
        #expect(schedule.next()?.id == 1)
    }

    @Test func `members that become ready out of order start in order of arrival`() {
        var schedule = TestSchedule(width: 1)
        let members = (0..<6).map { schedule.added(UInt($0), lane: .normal, isReady: false) }
        for place in [3, 0, 5, 4, 1, 2] { schedule.updated(members[place], lane: .normal, isReady: true) }
        _ = schedule.added(6, lane: .normal, isReady: true)
        schedule.checkInvariants()
        #expect(schedule.startAll() == [0, 1, 2, 3, 4, 5, 6])
    }

    @Test func `a member whose priority changes takes the place of its arrival`() {
        var schedule = TestSchedule(width: 1)
        let members = (0..<5).map { schedule.added(UInt($0), lane: $0 == 2 ? .low : .high, isReady: true) }
        schedule.updated(members[2], lane: .high, isReady: true)
        schedule.updated(members[0], lane: .low, isReady: true)
        schedule.checkInvariants()
        #expect(schedule.startAll() == [1, 2, 3, 4, 0])
    }

    @Test func `a priority that changes while a member is not ready applies when it is ready`() {
        var schedule = TestSchedule(width: 1)
        let late = schedule.added(1, lane: .low, isReady: false)
        _ = schedule.added(2, lane: .normal, isReady: true)
        schedule.updated(late, lane: .high, isReady: false)
        #expect(schedule.hasStartable)
        schedule.updated(late, lane: .high, isReady: true)
        #expect(schedule.startAll() == [1, 2])
    }

    @Test func `a priority that changes and changes back leaves one place in the order`() {
        var schedule = TestSchedule(width: 3)
        let members = (0..<3).map { schedule.added(UInt($0), lane: .normal, isReady: true) }
        for lane: PriorityLane in [.high, .normal, .low, .normal] {
            schedule.updated(members[1], lane: lane, isReady: true)
            schedule.checkInvariants()
        }
        #expect(schedule.startAll() == [0, 1, 2])
    }

    @Test func `a member that is ready no longer does not start`() {
        var schedule = TestSchedule(width: 2)
        let first = schedule.added(1, lane: .normal, isReady: true)
        _ = schedule.added(2, lane: .normal, isReady: true)
        schedule.updated(first, lane: .normal, isReady: false)
        #expect(schedule.next()?.id == 2)
        #expect(!schedule.hasStartable)
        #expect(schedule.next() == nil)
        schedule.updated(first, lane: .normal, isReady: true)
        #expect(schedule.next()?.id == 1)
    }

    @Test func `a change on a running member has no effect`() {
        var schedule = TestSchedule(width: 2)
        let member = schedule.added(1, lane: .normal, isReady: true)
        #expect(schedule.next()?.member == member)
        schedule.updated(member, lane: .high, isReady: true)
        schedule.updated(member, lane: .high, isReady: false)
        schedule.checkInvariants()
        #expect(schedule.running == 1)
        #expect(schedule.next() == nil)
    }

    @Test func `a member that is held back frees its slot for the next and starts when it is ready again`() throws {
        var schedule = TestSchedule(width: 1)
        _ = schedule.added(1, lane: .high, isReady: true)
        _ = schedule.added(2, lane: .normal, isReady: true)
        let refused = try schedule.startOne()
        #expect(refused.id == 1)
        schedule.heldBack(refused.member)
        schedule.checkInvariants()
        let taken = try schedule.startOne()
        #expect(taken.id == 2)
        schedule.finished(taken.member)
        #expect(schedule.next() == nil)
        schedule.updated(refused.member, lane: .high, isReady: true)
        #expect(schedule.next()?.id == 1)
    }

    // MARK: Width and suspension

    @Test func `no more members run than the width allows`() throws {
        var schedule = TestSchedule(width: 3)
        for id: UInt in 1...5 { _ = schedule.added(id, lane: .normal, isReady: true) }
        let running = (0..<3).compactMap { _ in schedule.next() }
        #expect(running.map(\.id) == [1, 2, 3])
        #expect(!schedule.hasRoom)
        #expect(schedule.next() == nil)
        schedule.finished(running[1].member)
        #expect(schedule.hasStartable)
        #expect(schedule.next()?.id == 4)
        #expect(schedule.next() == nil)
    }

    @Test func `a width of zero starts nothing`() {
        var schedule = TestSchedule(width: 0)
        _ = schedule.added(1, lane: .normal, isReady: true)
        #expect(!schedule.hasRoom)
        #expect(!schedule.hasStartable)
        #expect(schedule.next() == nil)
        schedule.setWidth(1)
        #expect(schedule.next()?.id == 1)
    }

    @Test func `a lower width applies to later starts, a higher width at once`() {
        var schedule = TestSchedule(width: 2)
        for id: UInt in 1...4 { _ = schedule.added(id, lane: .normal, isReady: true) }
        let running = (0..<2).compactMap { _ in schedule.next() }
        schedule.setWidth(1)
        schedule.finished(running[0].member)
        #expect(schedule.running == 1)
        #expect(schedule.next() == nil)
        schedule.setWidth(3)
        #expect(schedule.next()?.id == 3)
        #expect(schedule.next()?.id == 4)
    }

    @Test func `a suspended schedule starts no member and forgets none`() throws {
        var schedule = TestSchedule(width: 2)
        _ = schedule.added(1, lane: .normal, isReady: true)
        let first = try schedule.startOne()
        schedule.setSuspended(true)
        _ = schedule.added(2, lane: .normal, isReady: true)
        #expect(!schedule.hasRoom)
        #expect(schedule.next() == nil)
        schedule.finished(first.member)
        #expect(schedule.next() == nil)
        #expect(schedule.idsInOrder == [2])
        schedule.setSuspended(false)
        #expect(schedule.next()?.id == 2)
    }

    @Test func `a suspension outlasts the end of a rate limit, and the reverse`() {
        var schedule = TestSchedule(width: 1)
        _ = schedule.added(1, lane: .normal, isReady: true)
        schedule.setSuspended(true)
        schedule.setThrottled(true)
        schedule.setThrottled(false)
        #expect(schedule.isSuspended && !schedule.isThrottled && !schedule.hasStartable)
        schedule.setThrottled(true)
        schedule.setSuspended(false)
        #expect(!schedule.isSuspended && schedule.isThrottled && !schedule.hasStartable)
        schedule.setThrottled(false)
        #expect(schedule.hasStartable)
    }

    // MARK: Members

    @Test func `members are listed in order of arrival, also when others have left`() {
        var schedule = TestSchedule(width: 1)
        let members = (0..<6).map { schedule.added(UInt($0), lane: .normal, isReady: false) }
        for place in [1, 4, 0] { schedule.finished(members[place]) }
        for id: UInt in 6...8 { _ = schedule.added(id, lane: .high, isReady: true) }
        #expect(schedule.idsInOrder == [2, 3, 5, 6, 7, 8])
        schedule.checkInvariants()
    }

    @Test func `a member that ends before it starts is forgotten, ready or not`() {
        var schedule = TestSchedule(width: 1)
        let waiting = schedule.added(1, lane: .normal, isReady: false)
        let ready = schedule.added(2, lane: .normal, isReady: true)
        _ = schedule.added(3, lane: .normal, isReady: true)
        schedule.finished(ready)
        schedule.finished(waiting)
        schedule.checkInvariants()
        #expect(schedule.operationCount == 1)
        #expect(schedule.startAll() == [3])
    }

    @Test func `an event of a member that has left has no effect`() {
        var schedule = TestSchedule(width: 2)
        let old = schedule.added(1, lane: .normal, isReady: true)
        schedule.finished(old)
        schedule.finished(old)
        let new = schedule.added(2, lane: .normal, isReady: true)
        #expect(!schedule.holds(old))
        #expect(schedule.holds(new))
        schedule.updated(old, lane: .high, isReady: false)
        schedule.updated(old, lane: .high, isReady: true)
        schedule.queuedAnew(old)
        schedule.heldBack(old)
        schedule.finished(old)
        #expect(!schedule.holds(TestSchedule.Member(9)), "this one has never arrived")
        schedule.checkInvariants()
        #expect(schedule.next()?.member == new)
        #expect(schedule.next() == nil)
    }

    @Test func `a member that is queued anew starts after all others of its priority`() {
        var schedule = TestSchedule(width: 1)
        let early = schedule.added(1, lane: .normal, isReady: false)
        for id: UInt in 2...3 { _ = schedule.added(id, lane: .normal, isReady: true) }
        schedule.queuedAnew(early)
        schedule.queuedAnew(early)
        schedule.checkInvariants()
        #expect(schedule.startAll() == [2, 3, 1])
    }
}

extension TestSchedule {
    /// Starts and finishes members one after the other until none may start. Returns them in order.
    mutating func startAll() -> [UInt] {
        var started: [UInt] = []
        while let next = next() {
            started.append(next.id)
            finished(next.member)
        }
        return started
    }

    /// Starts the next member, which has to exist.
    mutating func startOne() throws -> (member: Member, id: UInt) {
        let next = next()
        return try #require(next)
    }
}
