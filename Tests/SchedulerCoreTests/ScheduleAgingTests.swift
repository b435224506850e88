import SchedulerCore
import TestSupport
import Testing

@Suite struct ScheduleAgingTests {
    @Test func `without aging, a low member waits as long as there are higher ones`() {
        var schedule = TestSchedule(width: 1)
        let low = schedule.added(1, lane: .low, isReady: true)
        #expect(startsBefore(low, inAStreamOf: .normal, &schedule, atMost: 1000) == nil)
    }

    @Test(arguments: [1, 2, 7, 100])
    func `a priority is passed over as often as the limit permits, and then has a turn`(limit: Int) {
        var schedule = TestSchedule(width: 1)
        schedule.setAging(limit: limit)
        let low = schedule.added(1, lane: .veryLow, isReady: true)
        #expect(startsBefore(low, inAStreamOf: .veryHigh, &schedule, atMost: 1000) == limit)
    }

    @Test func `of many low members one starts each time, and the higher ones have the other turns`() {
        var schedule = TestSchedule(width: 1)
        schedule.setAging(limit: 9)
        let low = min(50, Stress.rounds(50, least: 25))
        for id in 1...UInt(low) { _ = schedule.added(id, lane: .low, isReady: true) }
        for id in 1001...UInt(1000 + 10 * low) { _ = schedule.added(id, lane: .high, isReady: true) }
        let started = startAll(&schedule)
        #expect(started.prefix(10 * low).filter { $0 < 1000 } == Array(1...UInt(low)))
        #expect(
            started.enumerated().filter { $0.element < 1000 }.map { $0.offset % 10 } == Array(repeating: 9, count: low))
    }

    @Test func `several due priorities start one after the other, the oldest first, and none is forgotten`() {
        var schedule = TestSchedule(width: 1)
        schedule.setAging(limit: 1)
        for round in 0..<10 as Range<UInt> {
            for lane in PriorityLane.allCases {
                _ = schedule.added(round * 5 + UInt(lane.rawValue), lane: lane, isReady: true)
            }
        }
        let lanes = startAll(&schedule).map { Int($0 % 5) }
        for start in stride(from: 0, to: lanes.count, by: 5) {
            #expect(Set(lanes[start..<(start + 5)]).count == 5, "every priority once in five starts")
        }
    }

    @Test func `a higher priority does not age while lower ones have their turns`() {
        var schedule = TestSchedule(width: 1)
        schedule.setAging(limit: 2)
        for lane in [PriorityLane.veryHigh, .normal, .veryLow] {
            for number: UInt in 1...20 {
                _ = schedule.added(UInt(lane.rawValue) * 100 + number, lane: lane, isReady: true)
            }
        }
        #expect(startAll(&schedule).prefix(12).map { $0 / 100 } == [4, 4, 2, 0, 4, 4, 2, 0, 4, 4, 2, 0])
    }

    @Test func `a priority whose first member is refused keeps its turn`() throws {
        var schedule = TestSchedule(width: 1)
        schedule.setAging(limit: 2)
        _ = schedule.added(1, lane: .low, isReady: true)
        _ = schedule.added(2, lane: .low, isReady: true)
        for number in UInt(10)..<15 { _ = schedule.added(number, lane: .high, isReady: true) }
        for _ in 0..<2 { schedule.finished(try schedule.startOne().member) }
        let refused = try schedule.startOne()
        #expect(refused.id == 1)
        schedule.refuse(refused.member)
        schedule.checkInvariants()
        #expect(startAll(&schedule) == [2, 12, 13, 14])
    }

    @Test func `the age of a priority ends with its last member`() {
        var schedule = TestSchedule(width: 1)
        schedule.setAging(limit: 3)
        let first = schedule.added(1, lane: .low, isReady: true)
        #expect(startsBefore(first, inAStreamOf: .high, &schedule, atMost: 2) == nil)
        schedule.finished(first)
        _ = schedule.added(2, lane: .high, isReady: true)
        #expect(startAll(&schedule) == [2])
        let second = schedule.added(3, lane: .low, isReady: true)
        #expect(startsBefore(second, inAStreamOf: .high, &schedule, atMost: 100) == 3)
    }

    @Test(arguments: 1...UInt64(Stress.rounds(20, least: 6)))
    func `for any arrivals, the first in line is passed over at most three times more than the limit`(
        seed: UInt64
    ) {
        var generator = SeededRandom(seed: seed)
        let limit = generator.below(6) + 1
        var schedule = TestSchedule(width: 1)
        schedule.setAging(limit: limit)
        var waiting: [PriorityLane: [UInt]] = [:]
        var lanes: [UInt: PriorityLane] = [:]
        var passedOver: [PriorityLane: Int] = [:]
        var id: UInt = 0
        for _ in 0..<2000 {
            for _ in 0..<generator.below(3) {
                id += 1
                let lane = generator.chance(70) ? PriorityLane.veryHigh : generator.pick(PriorityLane.allCases)
                _ = schedule.added(id, lane: lane, isReady: true)
                waiting[lane, default: []].append(id)
                lanes[id] = lane
            }
            guard let (member, started) = schedule.next() else { continue }
            schedule.finished(member)
            let lane = lanes[started]!
            #expect(waiting[lane]!.removeFirst() == started)
            passedOver[lane] = 0
            for other in PriorityLane.allCases where other < lane && waiting[other]?.isEmpty == false {
                passedOver[other, default: 0] += 1
                #expect(passedOver[other]! <= limit + 3)
            }
        }
    }

    /// Starts members one after the other while new ones arrive. Returns the number of starts before the sought member; nil
    /// if it did not start.
    private func startsBefore(
        _ sought: TestSchedule.Member, inAStreamOf lane: PriorityLane, _ schedule: inout TestSchedule, atMost limit: Int
    ) -> Int? {
        for count in 0..<limit {
            _ = schedule.added(UInt(10_000 + count), lane: lane, isReady: true)
            guard let next = schedule.next() else { return nil }
            schedule.finished(next.member)
            if next.member == sought { return count }
        }
        return nil
    }

    private func startAll(_ schedule: inout TestSchedule) -> [Schedule.ID] {
        var started: [Schedule.ID] = []
        while let next = schedule.next() {
            started.append(next.id)
            schedule.finished(next.member)
            schedule.checkInvariants()
        }
        return started
    }
}
