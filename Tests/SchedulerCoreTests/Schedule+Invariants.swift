@testable import SchedulerCore

extension Schedule {
    /// Recounts all redundant values, and stops the process with the name of a value that disagrees. For tests. O(n log
    /// n).
    func checkInvariants() {
        var present: [ScheduleMember] = []
        forEach { present.append($0) }
        expect(present.count == count, "count")
        expect(present.count { $0.kind != .operation } == unlistedCount, "barriers and jobs")
        expect(present.count { $0.state == .running } == running, "running")
        expect(runningMembers.allSatisfy { $0.state == .running }, "runners run")
        expect(Set(present.map(\.arrival)).count == present.count, "arrivals are unique")
        for (offset, segment) in segments.enumerated() {
            let ordinal = firstSegment &+ UInt64(offset)
            let own = present.filter { self.segment(of: $0) == ordinal && !$0.isBarrier }
            expect(offset == 0 || !own.contains { $0.state == .running }, "no member behind a barrier runs")
            var waiting: [ScheduleMember] = []
            segment.waiting.forEach { waiting.append($0) }
            expect(waiting.allSatisfy { $0.state == .waiting }, "waiting members")
            expect(waiting.count == own.count { $0.state == .waiting }, "count of waiting members")
            for service in Service.allCases {
                let ready = own.filter { $0.state == .ready && $0.service == service }
                expect(segment.services.contains(service) == !ready.isEmpty, "services of a segment")
                segment.lanes(of: service).map { checkInvariants(of: $0, ready: ready) }
            }
            if let gate = segment.gate?.takeUnretainedValue() {
                expect(Self.holds(gate) && gate.isBarrier && self.segment(of: gate) == ordinal, "gate")
            }
        }
        let isBarrierRunning = present.contains { $0.isBarrier && $0.state == .running }
        expect(isBarrierRunning == (front.gate != nil && running > 0), "a running barrier")
        expect(!(isBarrierRunning && running > 1), "a barrier runs alone")
    }

    private func checkInvariants(of lanes: Lanes, ready: [ScheduleMember]) {
        for priority in PriorityLane.allCases {
            let expected = ready.filter { $0.lane == priority }
            let lane = lanes[priority]
            var found: [ScheduleMember] = []
            lane.forEach { found.append($0) }
            expect(Set(found.map(\.arrival)) == Set(expected.map(\.arrival)), "members of a lane")
            expect(lane.count == found.count && found.count == expected.count, "count of a lane")
            expect((lanes.occupied >> priority.rawValue & 1 == 1) == !found.isEmpty, "occupied lanes")
            expect(lane.checkInvariants(), "heap of a lane")
            if order == .firstInFirstOut {
                expect(lane.first(order)?.arrival == found.map(\.arrival).min(), "first of a lane")
            }
        }
    }

    private func expect(_ condition: Bool, _ what: String) {
        guard condition else { fatalError("Schedule: \(what) disagrees") }
    }
}
