/// Barriers separate a queue's members into segments: the members before a barrier, the barrier, the members after it.
///
/// Only the first segment may start members. When its last member has left, the next segment becomes the first. Its gate,
/// the barrier, is then the only member that may start. The members behind it start when the gate has left.
extension Schedule {
    @usableFromInline struct Segment {
        /// The barrier that has to run before the segment's members.
        @usableFromInline var gate: Ticket?
        /// The number of members of the segment, without the gate.
        var live = 0
        /// The ready members of the queue's own service: nearly all.
        @usableFromInline var lanes: Lanes
        /// The ready members of the other services, by service; empty until the segment has such a member.
        var otherLanes: [Lanes] = []
        /// The services of the ready members.
        @usableFromInline var services = Services()

        init(gate: Ticket?, _ order: Order) {
            self.gate = gate
            lanes = Lanes(order)
        }
    }

    /// Adds a barrier. O(1).
    public mutating func addedBarrier(_ id: ID) -> Ticket {
        let ordinal = firstSegment + UInt64(laterSegments.count + 1)
        let ticket = admit(
            Member(
                id: id, arrival: 0, segment: ordinal, state: .waiting, lane: .normal, service: .ofQueue, kind: .barrier)
        )
        laterSegments.append(Segment(gate: ticket, order))
        dropFinishedSegments()
        return ticket
    }

    @inlinable var isBarrierRunning: Bool {
        guard let gate = front.gate else { return false }
        return members[Int(gate.slot)].state == .running
    }

    /// Returns the ordinal of a member's segment: the later the segment, the greater. O(1).
    public func segment(of ticket: Ticket) -> UInt64 { members[Int(ticket.slot)].segment }

    /// Whether a barrier in front of the member has not finished. O(1).
    public func isBehindBarrier(_ ticket: Ticket) -> Bool {
        let member = members[Int(ticket.slot)]
        guard !member.isBarrier else { return member.segment > firstSegment }
        return member.segment > firstSegment || front.gate != nil
    }

    /// The operations in front of the first barrier and their arrivals, in no order; empty when the barrier is first or
    /// runs. O(n).
    public var arrivalsBeforeBarrier: [(arrival: UInt64, id: ID)] {
        guard front.gate == nil else { return [] }
        return members.lazy.filter { $0.isListed && $0.segment == firstSegment }.map { ($0.arrival, $0.id) }
    }

    /// The same operations in the order in which they arrived. O(n log n).
    public var idsBeforeBarrier: [ID] { arrivalsBeforeBarrier.sorted { $0.arrival < $1.arrival }.map(\.id) }

    /// Starts the first barrier, if all members of earlier segments have left. A barrier has the service of the queue.
    mutating func openGate(for services: Services) -> Ticket? {
        guard running == 0, services.contains(.ofQueue), let gate = front.gate else { return nil }
        members[Int(gate.slot)].state = .running
        return gate
    }

    @inline(__always)
    mutating func dropFinishedSegments() {
        guard !laterSegments.isEmpty else { return }
        while front.gate == nil, front.live == 0, let next = laterSegments.popFirst() {
            front = next
            firstSegment += 1
        }
    }

    /// Changes the segment of an ordinal in place.
    @inline(__always)
    mutating func withSegment<Result>(_ ordinal: UInt64, _ body: (inout Segment) -> Result) -> Result {
        ordinal == firstSegment ? body(&front) : body(&laterSegments[Int(ordinal - firstSegment) - 1])
    }
}
