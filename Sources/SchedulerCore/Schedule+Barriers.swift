import OperationsPrimitives

/// Barriers separate a queue's members into segments: the members before a barrier, the barrier, the members after it.
///
/// Only the first segment may start members. When its last member has left, the next segment becomes the first. Its gate,
/// the barrier, is then the only member that may start. The members behind it start when the gate has left.
extension Schedule {
    @usableFromInline struct Segment {
        /// The barrier that has to run before the segment's members.
        @usableFromInline var gate: MemberReference?
        /// The members that are not ready.
        var waiting = MemberList()
        /// The ready members of the queue's own service: nearly all.
        @usableFromInline var lanes = Lanes()
        /// The ready members of the other services, by service; empty until the segment has such a member.
        var otherLanes: [Lanes] = []
        /// The services of the ready members.
        @usableFromInline var services = Services()

        init(gate: MemberReference?) { self.gate = gate }

        /// Calls the body with each member that is neither the gate nor running. O(n).
        func forEach(_ body: (ScheduleMember) -> Void) {
            waiting.forEach(body)
            forEachReady(body)
        }

        func forEachReady(_ body: (ScheduleMember) -> Void) {
            lanes.forEach(body)
            for lanes in otherLanes { lanes.forEach(body) }
        }
    }

    /// Adds a new barrier. O(1).
    public mutating func addBarrier(_ member: ScheduleMember) {
        admit(member, .barrier, segment: firstSegment &+ UInt64(laterSegments.count + 1))
        laterSegments.append(Segment(gate: .passUnretained(member)))
        dropFinishedSegments()
    }

    /// Returns the ordinal of a member's segment: the later the segment, the greater. O(1).
    public func segment(of member: ScheduleMember) -> UInt64 { firstSegment &+ UInt64(offset(of: member)) }

    /// The number of segments in front of the member's segment.
    @inline(__always)
    private func offset(of member: ScheduleMember) -> UInt32 {
        member.segment &- UInt32(truncatingIfNeeded: firstSegment)
    }

    /// Whether a barrier in front of the member has not finished. O(1).
    public func isBehindBarrier(_ member: ScheduleMember) -> Bool {
        offset(of: member) > 0 || !member.isBarrier && front.gate != nil
    }

    /// The operations in front of the first barrier, in no order; empty when the barrier is first or runs. O(n).
    public var operationsBeforeBarrier: [ScheduleMember] {
        guard front.gate == nil else { return [] }
        var members = runningMembers
        front.forEach { members.append($0) }
        return members.filter { $0.kind == .operation }
    }

    /// Returns the first barrier to start. The members of earlier segments have left. A barrier has the service of the queue.
    func openGate(for services: Services) -> MemberReference? { services.contains(.ofQueue) ? front.gate : nil }

    @inline(__always)
    mutating func dropFinishedSegments() {
        guard !laterSegments.isEmpty else { return }
        // The running members belong to the first segment. A gate starts only when they have left.
        while front.gate == nil, running == 0, front.waiting.first == nil, front.services.isEmpty,
            let next = laterSegments.popFirst()
        {
            front = next
            firstSegment &+= 1
        }
    }

    /// The segments in order. O(segments).
    var segments: [Segment] { [front] + (0..<laterSegments.count).map { laterSegments[$0] } }

    /// Changes the segment of a member in place.
    @inline(__always)
    mutating func withSegment(of member: ScheduleMember, _ body: (inout Segment) -> Void) {
        withSegment(at: Int(offset(of: member)), body)
    }

    /// Changes the segment that has this number of segments in front of it in place.
    @inline(__always)
    mutating func withSegment(at offset: Int, _ body: (inout Segment) -> Void) {
        offset == 0 ? body(&front) : body(&laterSegments[offset - 1])
    }
}
