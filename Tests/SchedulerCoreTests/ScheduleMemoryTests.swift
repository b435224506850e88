import SchedulerCore
import TestSupport
import Testing

/// Many changes, and many members: a schedule keeps nothing of members that have left.
@Suite struct ScheduleMemoryTests {
    @Test func `a priority that toggles a hundred thousand times changes the place of one member only`() {
        var schedule = TestSchedule(width: 1)
        for id: UInt in 0..<10 { _ = schedule.added(id, lane: id < 5 ? .low : .high, isReady: true) }
        let restless = schedule.added(99, lane: .low, isReady: true)
        for round in 0..<100_000 {
            schedule.updated(restless, lane: round % 2 == 0 ? .high : .low, isReady: true)
        }
        schedule.checkInvariants()
        #expect(schedule.startAll() == [5, 6, 7, 8, 9, 0, 1, 2, 3, 4, 99])
    }

    @Test func `a readiness that toggles leaves the member in its place`() {
        var schedule = TestSchedule(width: 1)
        let members = (0..<5).map { schedule.added(UInt($0), lane: .normal, isReady: true) }
        for round in 0..<20_000 {
            schedule.updated(members[round % 4], lane: .normal, isReady: round / 4 % 2 == 1)
            if round % 100 == 0 { schedule.checkInvariants() }
        }
        schedule.checkInvariants()
        #expect(schedule.startAll() == [0, 1, 2, 3, 4])
    }

    @Test func `very many members that become ready in reverse start in order`() {
        var schedule = TestSchedule(width: 1)
        let all = Array(1...UInt(Stress.rounds(100_000, least: 20_000)))
        let members = all.map { schedule.added($0, lane: .normal, isReady: false) }
        for member in members.reversed() { schedule.updated(member, lane: .normal, isReady: true) }
        schedule.checkInvariants()
        // A Boolean, because a list of the differences would take forever.
        let isInOrder = schedule.startAll() == all
        #expect(isInOrder)
    }

    @Test(arguments: UInt64(1)...2)
    func `very many members that become ready in any order leave and start in order`(seed: UInt64) {
        var generator = SeededRandom(seed: seed)
        var schedule = TestSchedule(width: 1)
        let half = Stress.rounds(15_000, least: 4_000)
        let members = (0..<UInt(2 * half)).map { schedule.added($0, lane: .normal, isReady: false) }
        for member in members.shuffled(using: &generator) {
            schedule.updated(member, lane: .normal, isReady: true)
        }
        for member in members.shuffled(using: &generator).prefix(half) { schedule.finished(member) }
        schedule.checkInvariants()
        let started = schedule.startAll()
        #expect(started.count == half && started == started.sorted())
        #expect(schedule.isEmpty)
    }

    @Test(arguments: UInt64(1)...8)
    func `many members start in the order of priority and arrival`(seed: UInt64) throws {
        var generator = SeededRandom(seed: seed)
        var schedule = TestSchedule(width: 1)
        for round in 0..<3 {
            var crowd: [(member: TestSchedule.Member, id: Schedule.ID, lane: PriorityLane)] = []
            for place in 0..<1300 {
                let id = Schedule.ID(round * 10_000 + place)
                let lane = generator.pick(PriorityLane.allCases)
                crowd.append((schedule.added(id, lane: lane, isReady: generator.chance(50)), id, lane))
            }
            for _ in 0..<2000 {
                let index = generator.below(crowd.count)
                crowd[index].lane = generator.pick(PriorityLane.allCases)
                schedule.updated(crowd[index].member, lane: crowd[index].lane, isReady: generator.chance(50))
            }
            for index in stride(from: crowd.count - 1, to: 0, by: -3) {
                schedule.finished(crowd.remove(at: index).member)
            }
            for index in crowd.indices.shuffled(using: &generator) {
                schedule.updated(crowd[index].member, lane: crowd[index].lane, isReady: true)
            }
            schedule.checkInvariants()
            var started: [Schedule.ID] = []
            while let next = schedule.next() {
                started.append(next.id)
                schedule.finished(next.member)
            }
            let isInOrder = started == crowd.sorted { ($1.lane, $0.id) < ($0.lane, $1.id) }.map(\.id)
            try #require(isInOrder)
            try #require(schedule.isEmpty)
        }
    }
}
