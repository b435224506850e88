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
            for lane in PriorityLane.allCases {
                let ready = own.count { $0.state == .ready && $0.lane == lane }
                expect(segment.lanes[lane].live == ready, "live entries of a lane")
                expect((segment.lanes.occupied >> lane.rawValue & 1 == 1) == (ready > 0), "occupied lanes")
                expect(segment.lanes[lane].entries >= ready, "entries of a lane")
                expect(segment.lanes[lane].order == order, "order of a lane")
                expect(order == .firstInFirstOut || segment.lanes[lane].inOrder.isEmpty, "a stack is a stack")
            }
            if let gate = segment.gate { expect(holds(gate) && members[Int(gate.slot)].isBarrier, "gate") }
        }
        expect(!(isBarrierRunning && running > 1), "a barrier runs alone")
    }

    private func expect(_ condition: Bool, _ what: String) {
        guard condition else { fatalError("Schedule: \(what) disagrees") }
    }
}
