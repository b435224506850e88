import SchedulerCore
import Testing

@Suite struct ScheduleOrderTests {
    private var schedule = Schedule(width: 1)

    @Test mutating func `the last one in is the first one out, within a priority`() {
        schedule.setOrder(.lastInFirstOut)
        add([1, 2, 3], .normal)
        add([4, 5], .high)
        add([6], .low)
        #expect(startAll() == [5, 4, 3, 2, 1, 6])
    }

    @Test mutating func `who becomes ready last is first, whenever it came`() {
        schedule.setOrder(.lastInFirstOut)
        let early = schedule.added(1, lane: .normal, isReady: false)
        add([2, 3], .normal)
        schedule.updated(early, lane: .normal, isReady: true)
        #expect(startAll() == [1, 3, 2])
    }

    @Test mutating func `a changed order holds for who waits, both ways, also behind a barrier`() {
        add([1, 2], .normal)
        _ = schedule.addedBarrier(9)
        add([3, 4], .normal)
        schedule.setOrder(.lastInFirstOut)
        #expect(startAll() == [2, 1, 9, 4, 3])
        add([5, 6, 7], .normal)
        schedule.setOrder(.firstInFirstOut)
        #expect(startAll() == [5, 6, 7])
    }

    @Test mutating func `what comes and goes a thousand times keeps its place on top, and no memory`() {
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

    @Test mutating func `a stack that most of its members leave keeps the order of the others`() {
        schedule.setOrder(.lastInFirstOut)
        let leaving = (1...80 as ClosedRange<UInt>).map { schedule.added($0, lane: .normal, isReady: true) }
        add(Array(101...110), .normal)
        for ticket in leaving { schedule.updated(ticket, lane: .normal, isReady: false) }
        #expect(startAll() == (101...110).reversed())
    }

    private mutating func add(_ ids: [Schedule.ID], _ lane: PriorityLane) {
        for id in ids { _ = schedule.added(id, lane: lane, isReady: true) }
    }

    private mutating func startAll() -> [Schedule.ID] {
        var started: [Schedule.ID] = []
        while let (ticket, id) = schedule.next() {
            started.append(id)
            schedule.finished(ticket)
            schedule.checkInvariants()
        }
        return started
    }
}
