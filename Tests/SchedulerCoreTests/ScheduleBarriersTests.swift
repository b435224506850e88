import SchedulerCore
import Testing

@Suite struct ScheduleBarriersTests {
    @Test func `later members wait for a barrier in an empty queue`() throws {
        var schedule = TestSchedule(width: 4)
        _ = schedule.addedBarrier(100)
        let after = schedule.added(1, lane: .veryHigh, isReady: true)
        #expect(schedule.isBehindBarrier(after))
        let barrier = try schedule.startOne()
        #expect(barrier.id == 100)
        #expect(schedule.next() == nil)
        #expect(!schedule.hasRoom)
        schedule.finished(barrier.member)
        #expect(!schedule.isBehindBarrier(after))
        #expect(schedule.next()?.id == 1)
        schedule.checkInvariants()
    }

    @Test func `a barrier waits for all earlier members, waiting or running`() throws {
        var schedule = TestSchedule(width: 4)
        _ = schedule.added(1, lane: .normal, isReady: true)
        let unready = schedule.added(2, lane: .normal, isReady: false)
        let barrier = schedule.addedBarrier(100)
        #expect(schedule.isBehindBarrier(barrier), "its turn has not come")
        let running = try schedule.startOne()
        #expect(running.id == 1)
        #expect(schedule.next() == nil)
        schedule.finished(running.member)
        #expect(schedule.next() == nil, "one is still there, though it can not start")
        schedule.updated(unready, lane: .normal, isReady: true)
        let last = try schedule.startOne()
        #expect(last.id == 2)
        #expect(schedule.next() == nil)
        schedule.finished(last.member)
        #expect(!schedule.isBehindBarrier(barrier))
        #expect(schedule.next()?.id == 100)
        schedule.checkInvariants()
    }

    @Test func `no priority moves a member past a barrier`() {
        var schedule = TestSchedule(width: 1)
        _ = schedule.added(1, lane: .veryLow, isReady: true)
        _ = schedule.addedBarrier(100)
        _ = schedule.added(2, lane: .low, isReady: true)
        _ = schedule.added(3, lane: .veryHigh, isReady: true)
        #expect(schedule.startAll() == [1, 100, 3, 2])
    }

    @Test func `several barriers keep their order and separate the members between them`() {
        var schedule = TestSchedule(width: 8)
        for id: UInt in 0..<5 {
            _ = schedule.added(10 * id + 1, lane: .low, isReady: true)
            _ = schedule.added(10 * id + 2, lane: .high, isReady: true)
            _ = schedule.addedBarrier(10 * id + 3)
        }
        #expect(schedule.operationCount == 10)
        #expect(schedule.count == 15)
        let order: [UInt] = [2, 1, 3, 12, 11, 13, 22, 21, 23, 32, 31, 33, 42, 41, 43]
        #expect(schedule.startAll() == order)
        #expect(schedule.isEmpty)
        schedule.checkInvariants()
    }

    @Test func `barriers in a row run one at a time`() throws {
        var schedule = TestSchedule(width: 8)
        for id: UInt in 1...3 { _ = schedule.addedBarrier(id) }
        #expect(schedule.operationCount == 0)
        for id: UInt in 1...3 {
            let barrier = try schedule.startOne()
            #expect(barrier.id == id)
            #expect(schedule.next() == nil)
            schedule.finished(barrier.member)
            schedule.checkInvariants()
        }
        #expect(schedule.isEmpty)
    }

    @Test func `a barrier that arrives while members run waits for them`() throws {
        var schedule = TestSchedule(width: 8)
        for id: UInt in 1...3 { _ = schedule.added(id, lane: .normal, isReady: true) }
        let running = (0..<3).compactMap { _ in schedule.next() }
        _ = schedule.addedBarrier(100)
        for member in running {
            #expect(schedule.next() == nil)
            #expect(!schedule.hasStartable)
            schedule.finished(member.member)
        }
        #expect(schedule.hasStartable)
        #expect(schedule.next()?.id == 100)
    }

    @Test func `members behind a barrier may end before it runs`() throws {
        var schedule = TestSchedule(width: 8)
        let before = schedule.added(1, lane: .normal, isReady: true)
        _ = schedule.addedBarrier(100)
        let waiting = schedule.added(2, lane: .normal, isReady: false)
        let ready = schedule.added(3, lane: .high, isReady: true)
        _ = schedule.addedBarrier(101)
        _ = schedule.added(4, lane: .normal, isReady: true)
        schedule.finished(ready)
        schedule.finished(waiting)
        schedule.checkInvariants()
        #expect(schedule.operationCount == 2)
        #expect(schedule.startAll() == [1, 100, 101, 4])
        #expect(!schedule.holds(before))
    }

    @Test func `all members in front of a barrier may end without starting`() {
        var schedule = TestSchedule(width: 8)
        let before = [true, false].map { schedule.added(1, lane: .normal, isReady: $0) }
        _ = schedule.addedBarrier(100)
        _ = schedule.added(2, lane: .normal, isReady: true)
        for member in before { schedule.finished(member) }
        schedule.checkInvariants()
        #expect(schedule.startAll() == [100, 2])
    }

    @Test func `a suspended queue holds its barrier`() throws {
        var schedule = TestSchedule(width: 4)
        schedule.setSuspended(true)
        _ = schedule.addedBarrier(100)
        #expect(!schedule.hasStartable)
        #expect(schedule.next() == nil)
        schedule.setSuspended(false)
        #expect(schedule.hasStartable)
        let barrier = try schedule.startOne()
        _ = schedule.added(1, lane: .normal, isReady: true)
        schedule.setSuspended(true)
        schedule.finished(barrier.member)
        #expect(schedule.next() == nil)
        schedule.setSuspended(false)
        #expect(schedule.next()?.id == 1)
    }

    @Test func `a width of zero holds a barrier, and any other width is enough for it`() {
        var schedule = TestSchedule(width: 0)
        _ = schedule.addedBarrier(100)
        #expect(!schedule.hasStartable)
        #expect(schedule.next() == nil)
        schedule.setWidth(1)
        #expect(schedule.next()?.id == 100)
    }

    @Test func `while a barrier runs no slot is free, at any width`() throws {
        var schedule = TestSchedule(width: 4)
        _ = schedule.addedBarrier(100)
        let barrier = try schedule.startOne()
        schedule.setWidth(1000)
        let member = schedule.added(1, lane: .normal, isReady: false)
        schedule.updated(member, lane: .high, isReady: true)
        #expect(!schedule.hasRoom)
        #expect(!schedule.hasStartable)
        #expect(schedule.next() == nil)
        schedule.finished(barrier.member)
        #expect(schedule.hasStartable)
    }

    @Test func `priorities and readiness of members behind a barrier apply when their turn comes`() {
        var schedule = TestSchedule(width: 1)
        _ = schedule.added(1, lane: .normal, isReady: true)
        _ = schedule.addedBarrier(100)
        let members = (2...5).map { schedule.added($0, lane: .normal, isReady: $0 % 2 == 0) }
        schedule.updated(members[3], lane: .veryHigh, isReady: true)
        schedule.updated(members[2], lane: .low, isReady: true)
        schedule.updated(members[0], lane: .normal, isReady: false)
        schedule.checkInvariants()
        #expect(schedule.startAll() == [1, 100, 5, 4])
        schedule.updated(members[1], lane: .low, isReady: true)
        schedule.updated(members[0], lane: .low, isReady: true)
        #expect(schedule.startAll() == [2, 3])
    }

    @Test func `a barrier whose start failed keeps its place`() throws {
        var schedule = TestSchedule(width: 4)
        _ = schedule.addedBarrier(100)
        _ = schedule.added(1, lane: .normal, isReady: true)
        let refused = try schedule.startOne()
        schedule.heldBack(refused.member)
        schedule.checkInvariants()
        #expect(schedule.running == 0)
        #expect(schedule.startAll() == [100, 1])
    }

    @Test func `an update of a barrier has no effect`() throws {
        var schedule = TestSchedule(width: 4)
        let first = schedule.addedBarrier(100)
        let second = schedule.addedBarrier(101)
        _ = schedule.added(1, lane: .normal, isReady: true)
        for barrier in [first, second] {
            schedule.updated(barrier, lane: .veryHigh, isReady: true)
            schedule.checkInvariants()
            schedule.updated(barrier, lane: .low, isReady: false)
            schedule.updated(barrier, lane: .low, isReady: true)
            schedule.checkInvariants()
        }
        #expect(schedule.startAll() == [100, 101, 1])
        #expect(schedule.isEmpty)
        schedule.checkInvariants()
    }

    @Test func `a barrier that ends before its turn no longer counts`() throws {
        var schedule = TestSchedule(width: 4)
        _ = schedule.added(1, lane: .normal, isReady: true)
        let barrier = schedule.addedBarrier(100)
        #expect(schedule.operationCount == 1)
        schedule.finished(barrier)
        schedule.checkInvariants()
        #expect(schedule.operationCount == 1)
        _ = schedule.added(2, lane: .normal, isReady: true)
        #expect(schedule.operationCount == 2)
        #expect(schedule.idsInOrder == [1, 2])
        #expect(schedule.startAll() == [1, 2])
    }

    @Test func `barriers are neither listed nor counted as operations`() {
        var schedule = TestSchedule(width: 4)
        _ = schedule.addedBarrier(100)
        _ = schedule.added(2, lane: .normal, isReady: true)
        _ = schedule.addedBarrier(101)
        _ = schedule.added(1, lane: .normal, isReady: false)
        #expect(schedule.count == 4)
        #expect(schedule.operationCount == 2)
        #expect(schedule.idsInOrder == [2, 1])
    }

    @Test func `a barrier that stands first or runs has no members in front of it`() throws {
        var schedule = TestSchedule(width: 4)
        let before = schedule.added(1, lane: .normal, isReady: false)
        let first = schedule.addedBarrier(100)
        _ = schedule.added(2, lane: .normal, isReady: true)
        _ = schedule.addedBarrier(101)
        _ = schedule.added(3, lane: .normal, isReady: true)
        #expect(schedule.idsBeforeBarrier == [1])
        schedule.finished(before)
        #expect(schedule.idsBeforeBarrier.isEmpty, "it stands first")
        #expect(schedule.next()?.member == first)
        #expect(schedule.idsBeforeBarrier.isEmpty, "it runs")
        schedule.finished(first)
        #expect(schedule.idsBeforeBarrier == [2])
    }

    @Test func `many barriers come and go`() {
        var schedule = TestSchedule(width: 4)
        for id: UInt in 1...3000 {
            _ = schedule.addedBarrier(2 * id)
            _ = schedule.added(2 * id + 1, lane: .normal, isReady: true)
        }
        let isInOrder = schedule.startAll() == Array(2...6001)
        #expect(isInOrder)
        schedule.checkInvariants()
        _ = schedule.added(1, lane: .normal, isReady: true)
        #expect(schedule.startAll() == [1])
    }
}
