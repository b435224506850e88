import SchedulerCore
import Testing

@Suite struct ScheduleOrderTests {
    private var schedule = TestSchedule(width: 1)

    @Test mutating func `the member added last starts first, within a priority`() {
        schedule.setOrder(.lastInFirstOut)
        add([1, 2, 3], .normal)
        add([4, 5], .high)
        add([6], .low)
        #expect(startAll() == [5, 4, 3, 2, 1, 6])
    }

    @Test mutating func `the member that became ready last starts first, regardless of its arrival`() {
        schedule.setOrder(.lastInFirstOut)
        let early = schedule.added(1, lane: .normal, isReady: false)
        add([2, 3], .normal)
        schedule.updated(early, lane: .normal, isReady: true)
        #expect(startAll() == [1, 3, 2])
    }

    @Test mutating func `a changed order applies to waiting members, in both directions, also behind a barrier`() {
        add([1, 2], .normal)
        _ = schedule.addedBarrier(9)
        add([3, 4], .normal)
        schedule.setOrder(.lastInFirstOut)
        #expect(startAll() == [2, 1, 9, 4, 3])
        add([5, 6, 7], .normal)
        schedule.setOrder(.firstInFirstOut)
        #expect(startAll() == [5, 6, 7])
    }

    @Test mutating func `a changed order restarts from the arrivals, not from when members became ready`() {
        let early = schedule.added(1, lane: .normal, isReady: false)
        add([2, 3], .normal)
        schedule.updated(early, lane: .normal, isReady: true)
        schedule.setOrder(.lastInFirstOut)
        #expect(startAll() == [3, 2, 1])
    }

    @Test mutating func `a member that toggles a thousand times keeps its place on top and uses no memory`() {
        schedule.setOrder(.lastInFirstOut)
        add([1, 2], .normal)
        let restless = schedule.added(3, lane: .normal, isReady: true)
        add([4], .normal)
        for _ in 1...1_000 {
            schedule.updated(restless, lane: .normal, isReady: false)
            schedule.updated(restless, lane: .normal, isReady: true)
            schedule.checkInvariants()
        }
        #expect(startAll() == [3, 4, 2, 1])
    }

    @Test mutating func `a stack keeps its order after most of its members have left`() {
        schedule.setOrder(.lastInFirstOut)
        let leaving = (1...80 as ClosedRange<UInt>).map { schedule.added($0, lane: .normal, isReady: true) }
        add(Array(101...110), .normal)
        for member in leaving { schedule.updated(member, lane: .normal, isReady: false) }
        #expect(startAll() == (101...110).reversed())
    }

    private mutating func add(_ ids: [Schedule.ID], _ lane: PriorityLane) {
        for id in ids { _ = schedule.added(id, lane: lane, isReady: true) }
    }

    private mutating func startAll() -> [Schedule.ID] {
        var started: [Schedule.ID] = []
        while let (member, id) = schedule.next() {
            started.append(id)
            schedule.finished(member)
            schedule.checkInvariants()
        }
        return started
    }
}
