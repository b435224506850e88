import SchedulerCore
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
}
