import Testing

@testable import SchedulerCore

@Suite struct ScheduleMemoryTests {
    @Test func `a stale entry of a lane never starts the next holder of the slot`() {
        var schedule = Schedule(width: 9, keptSlots: 1024)
        _ = schedule.added(0, lane: .high, isReady: true)
        let old = schedule.added(1, lane: .high, isReady: true)
        _ = schedule.added(2, lane: .high, isReady: true)
        schedule.finished(old)
        #expect(schedule.frontLanes[.high].entries == 3, "its entry is still there")
        let new = schedule.added(3, lane: .high, isReady: false)
        #expect(new.slot == old.slot)
        #expect(schedule.next()?.id == 0)
        #expect(schedule.next()?.id == 2)
        #expect(schedule.next() == nil, "the new one is not ready")
        schedule.updated(new, lane: .high, isReady: true)
        #expect(schedule.next()?.id == 3)
        #expect(schedule.next() == nil, "it starts once")
    }

    @Test func `a stale entry at the front of a lane is removed at once`() {
        var schedule = Schedule(width: 9, keptSlots: 1024)
        let old = schedule.added(1, lane: .high, isReady: true)
        _ = schedule.added(2, lane: .high, isReady: true)
        schedule.finished(old)
        #expect(schedule.frontLanes[.high].entries == 1)
        #expect(schedule.next()?.id == 2 && schedule.next() == nil)
    }

    @Test func `a priority that toggles a million times does not grow the lanes`() {
        var schedule = Schedule(width: 1, keptSlots: 1024)
        let others = (0..<10).map { schedule.added(UInt($0), lane: $0 < 5 ? .low : .high, isReady: true) }
        let restless = schedule.added(99, lane: .low, isReady: true)
        var most = 0
        for round in 0..<1_000_000 {
            schedule.updated(restless, lane: round % 2 == 0 ? .high : .low, isReady: true)
            if round % 16 == 0 { most = max(most, schedule.frontLanes.entries) }
        }
        schedule.checkInvariants()
        #expect(most <= 2 * (2 * others.count + 64))
        #expect(schedule.startAll() == [5, 6, 7, 8, 9, 0, 1, 2, 3, 4, 99])
    }

    @Test func `a readiness that toggles does not grow the lane, and the member keeps its place`() {
        var schedule = Schedule(width: 1, keptSlots: 1024)
        let tickets = (0..<5).map { schedule.added(UInt($0), lane: .normal, isReady: true) }
        var most = 0
        for round in 0..<20_000 {
            schedule.updated(tickets[round % 4], lane: .normal, isReady: round / 4 % 2 == 1)
            most = max(most, schedule.frontLanes.entries)
        }
        schedule.checkInvariants()
        #expect(most <= 2 * tickets.count + 64 + 1)
        #expect(schedule.startAll() == [0, 1, 2, 3, 4])
    }

    @Test func `members that end without starting do not grow the lanes`() {
        var schedule = Schedule(width: 1, keptSlots: 1024)
        _ = schedule.added(0, lane: .normal, isReady: true)
        var most = 0
        for id: UInt in 1...20_000 {
            schedule.finished(schedule.added(id, lane: .normal, isReady: true))
            most = max(most, schedule.frontLanes.entries)
        }
        #expect(most <= 2 + 64 + 1)
        #expect(schedule.members.count == 2)
        #expect(schedule.startAll() == [0])
    }

    @Test func `a hundred thousand members that become ready in reverse start in order`() {
        var schedule = Schedule(width: 1, keptSlots: 1024)
        let all: [UInt] = Array(1...100_000)
        let tickets = all.map { schedule.added($0, lane: .normal, isReady: false) }
        for ticket in tickets.reversed() { schedule.updated(ticket, lane: .normal, isReady: true) }
        #expect(schedule.frontLanes[.normal].entries == all.count)
        // A Boolean, because a list of the differences would take forever.
        let isInOrder = schedule.startAll() == all
        #expect(isInOrder)
    }

    @Test func `a schedule with many members releases its memory when it is empty`() {
        var schedule = Schedule(width: 1, keptSlots: 1024)
        let tickets = (0..<5000).map { schedule.added(UInt($0), lane: .normal, isReady: $0 % 2 == 0) }
        for ticket in tickets.dropLast() { schedule.finished(ticket) }
        #expect(schedule.members.count == 5000)
        schedule.finished(tickets.last!)
        #expect(schedule.members.isEmpty)
        #expect(schedule.frontLanes.entries == 0)
        schedule.checkInvariants()
    }

    @Test func `a schedule with few members keeps its slots`() {
        var schedule = Schedule(width: 1, keptSlots: 1024)
        let tickets = (0..<1024).map { schedule.added(UInt($0), lane: .normal, isReady: true) }
        for ticket in tickets { schedule.finished(ticket) }
        #expect(schedule.members.count == 1024)
        schedule.checkInvariants()
        _ = schedule.added(7, lane: .normal, isReady: true)
        #expect(schedule.startAll() == [7])
    }

    @Test func `tickets and entries from before the release of the slots are never valid again`() {
        var schedule = Schedule(width: 9, keptSlots: 1024)
        let old = (0..<2000).map { schedule.added(UInt($0), lane: .high, isReady: true) }
        for ticket in old { schedule.finished(ticket) }
        #expect(old.allSatisfy { !schedule.holds($0) })
        let new = (0..<3).map { schedule.added(UInt(3000 + $0), lane: .high, isReady: $0 != 1) }
        for ticket in old {
            schedule.updated(ticket, lane: .high, isReady: true)
            schedule.finished(ticket)
        }
        schedule.checkInvariants()
        #expect(schedule.next()?.id == 3000)
        #expect(schedule.next()?.id == 3002)
        #expect(schedule.next() == nil)
        #expect(schedule.holds(new[1]))
    }
}

extension Schedule {
    var frontLanes: Lanes { front.lanes }
}

extension Schedule.Lanes {
    /// The number of entries of all lanes, stale entries included.
    var entries: Int { PriorityLane.allCases.map { self[$0].entries }.reduce(0, +) }
}
