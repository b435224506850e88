import SchedulerCore
import TestSupport
import Testing

/// Members of different services: threads of one level take members of their own services only.
@Suite struct ScheduleServicesTests {
    typealias Service = Schedule.Service
    typealias Services = Schedule.Services

    @Test func `a thread takes only members of its services`() {
        var schedule = TestSchedule(width: 4)
        _ = schedule.added(1, lane: .normal, service: .first, isReady: true)
        _ = schedule.added(2, lane: .normal, isReady: true)
        #expect(schedule.startable == [.ofQueue, Services(.first)])
        #expect(schedule.next(for: Services(.second)) == nil)
        #expect(schedule.next(for: .ofQueue)?.id == 2)
        #expect(schedule.startable == Services(.first))
        #expect(schedule.next(for: Services(.first))?.id == 1)
        schedule.checkInvariants()
    }

    @Test func `a member is not overtaken by a member of another service without a slot for both`() {
        var schedule = TestSchedule(width: 1)
        let first = schedule.added(1, lane: .normal, service: .first, isReady: true)
        _ = schedule.added(2, lane: .normal, isReady: true)
        #expect(schedule.startable == Services(.first) && schedule.next(for: .ofQueue) == nil)
        #expect(schedule.next(for: Services(.first))?.member == first)
        #expect(schedule.startable.isEmpty)
        schedule.finished(first)
        #expect(schedule.startable == .ofQueue && schedule.next(for: .ofQueue)?.id == 2)
    }

    @Test func `a member of a higher priority keeps its slot while it waits for a thread of its level`() {
        var schedule = TestSchedule(width: 2)
        _ = schedule.added(1, lane: .low, isReady: true)
        _ = schedule.added(2, lane: .low, isReady: true)
        _ = schedule.added(3, lane: .high, service: .second, isReady: true)
        #expect(schedule.next(for: .ofQueue)?.id == 1)
        #expect(schedule.next(for: .ofQueue) == nil)
        #expect(schedule.startable == Services(.second))
        #expect(schedule.next(for: Services(.second))?.id == 3)
    }

    @Test func `a member changes its service while it is ready`() {
        var schedule = TestSchedule(width: 1)
        let member = schedule.added(1, lane: .normal, isReady: true)
        schedule.updated(member, lane: .normal, service: .third, isReady: true)
        #expect(schedule.startable == Services(.third) && schedule.next(for: .ofQueue) == nil)
        schedule.updated(member, lane: .high, isReady: true)
        #expect(schedule.next(for: Services(.third))?.member == member)
        schedule.checkInvariants()
    }

    @Test func `a barrier has the service of its queue`() {
        var schedule = TestSchedule(width: 2)
        _ = schedule.addedBarrier(1)
        _ = schedule.added(2, lane: .normal, service: .first, isReady: true)
        #expect(schedule.startable == .ofQueue && schedule.next(for: Services(.first)) == nil)
        let barrier = schedule.next(for: .ofQueue)
        #expect(barrier?.id == 1)
        schedule.finished(barrier!.member)
        #expect(schedule.startable == Services(.first))
    }

    @Test(arguments: UInt64(1)...80)
    func `the schedule gives the answers of a list that is searched at each question`(seed: UInt64) throws {
        var generator = SeededRandom(seed: seed)
        let width = generator.below(5)
        var schedule = TestSchedule(width: width)
        var list = ServicesModel(width: width)
        var members: [Schedule.ID: TestSchedule.Member] = [:]
        for step in 1...200 {
            let id = Schedule.ID(step)
            switch generator.below(10) {
            case 0..<3:
                let lane = generator.pick(PriorityLane.allCases)
                let service = generator.pick(Service.allCases)
                let isReady = generator.chance(70)
                members[id] = schedule.added(id, lane: lane, service: service, isReady: isReady)
                list.members.append(.init(id: id, lane: lane, service: service, isReady: isReady))
            case 3..<5:
                guard let member = list.members.filter({ !$0.isRunning }).randomElement(using: &generator) else {
                    break
                }
                let lane = generator.pick(PriorityLane.allCases)
                let service = generator.pick(Service.allCases)
                let isReady = generator.chance(60)
                schedule.updated(members[member.id]!, lane: lane, service: service, isReady: isReady)
                list.update(member.id) { ($0.lane, $0.service, $0.isReady) = (lane, service, isReady) }
            case 5..<8:
                let services = Services(rawValue: UInt8(generator.below(32)))
                let next = schedule.next(for: services)
                try #require(next?.id == list.best(for: services), "seed \(seed), step \(step)")
                if let next {
                    list.update(next.id) { $0.isRunning = true }
                    if generator.chance(10) {
                        schedule.heldBack(next.member)
                        list.update(next.id) { ($0.isRunning, $0.isReady) = (false, false) }
                    }
                }
            case 8:
                guard let member = list.members.randomElement(using: &generator) else { break }
                schedule.finished(members[member.id]!)
                list.members.removeAll { $0.id == member.id }
            default:
                list.width = generator.below(5)
                schedule.setWidth(list.width)
            }
            schedule.checkInvariants()
            try #require(schedule.startable == list.startable, "seed \(seed), step \(step)")
            try #require(schedule.running == list.running && schedule.hasStartable == !list.startable.isEmpty)
        }
    }
}

/// The decisions of a schedule about services: one list in order of arrival.
private struct ServicesModel {
    struct Member {
        let id: Schedule.ID
        var lane: PriorityLane
        var service: Schedule.Service
        var isReady: Bool
        var isRunning = false
    }

    var members: [Member] = []
    var width: Int

    var running: Int { members.count { $0.isRunning } }

    mutating func update(_ id: Schedule.ID, _ change: (inout Member) -> Void) {
        guard let index = members.firstIndex(where: { $0.id == id }) else { return }
        change(&members[index])
    }

    /// The ready members, the next one first.
    private var line: [Member] {
        members.filter { $0.isReady && !$0.isRunning }.sorted { ($1.lane, $0.id) < ($0.lane, $1.id) }
    }

    func best(for services: Schedule.Services) -> Schedule.ID? {
        let line = line
        guard let place = line.firstIndex(where: { services.contains($0.service) }) else { return nil }
        // A line of one service and priority counts as a whole, if its first member precedes.
        let ahead = line[..<place].filter { !services.contains($0.service) }
        let passedOver = line.count { member in
            ahead.contains { ($0.lane, $0.service) == (member.lane, member.service) }
        }
        return running + passedOver < width ? line[place].id : nil
    }

    var startable: Schedule.Services {
        Schedule.Service.allCases.reduce(into: []) { found, service in
            if best(for: Schedule.Services(service)) != nil { found.insert(Schedule.Services(service)) }
        }
    }
}
