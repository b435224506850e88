extension Schedule {
    /// Recounts all redundant values, and stops the process with the name of a value that disagrees. For tests. O(n log
    /// n).
    public func checkInvariants() {
        let present = members.filter { $0.state != .gone }
        expect(present.count == count, "count")
        expect(present.count { $0.kind != .operation } == unlistedCount, "barriers and jobs")
        expect(present.count { $0.state == .running } == running, "running")
        expect(freeSlots.count == members.count - present.count, "free slots")
        expect(Set(present.map(\.arrival)).count == present.count, "arrivals are unique")
        for offset in 0...laterSegments.count {
            let segment = offset == 0 ? front : laterSegments[offset - 1]
            let own = present.filter { $0.segment == firstSegment + UInt64(offset) && !$0.isBarrier }
            expect(own.count == segment.live, "live members of a segment")
            expect(offset == 0 || !own.contains { $0.state == .running }, "nothing behind a barrier runs")
            for service in Service.allCases {
                let ready = own.filter { $0.state == .ready && $0.service == service }
                expect(segment.services.contains(service) == !ready.isEmpty, "services of a segment")
                segment.lanes(of: service).map { checkInvariants(of: $0, ready: ready) }
            }
            if let gate = segment.gate { expect(holds(gate) && members[Int(gate.slot)].isBarrier, "gate") }
        }
        expect(!(isBarrierRunning && running > 1), "a barrier runs alone")
    }

    private func checkInvariants(of lanes: Lanes, ready: [Member]) {
        for priority in PriorityLane.allCases {
            let count = ready.count { $0.lane == priority }
            let lane = lanes[priority]
            expect(lane.live == count, "live entries of a lane")
            expect((lanes.occupied >> priority.rawValue & 1 == 1) == (count > 0), "occupied lanes")
            expect(lane.entries >= count, "entries of a lane")
            expect(
                count == 0 || lane.first.map { ready.map(\.arrival).contains($0.arrival) } == true, "first of a lane")
            expect(lane.order == order, "order of a lane")
            expect(order == .firstInFirstOut || lane.inOrder.isEmpty, "a stack is a stack")
        }
    }

    private func expect(_ condition: Bool, _ what: String) {
        guard condition else { fatalError("Schedule: \(what) disagrees") }
    }
}
