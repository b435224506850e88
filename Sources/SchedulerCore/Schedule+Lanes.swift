import OperationsPrimitives

/// The ready members of one segment: five lanes, served from the highest. Within a lane the order is by arrival, or the
/// member that became ready last is first.
extension Schedule {
    /// The order in which the ready members of one priority start.
    public enum Order: Sendable { case firstInFirstOut, lastInFirstOut }

    /// The ready members of one priority. A member that is later than all others, nearly each, is appended to a ring.
    /// Another one enters a heap. With the order `lastInFirstOut`, each member is appended to the ring, whose last one is
    /// next.
    @usableFromInline struct Lane {
        @usableFromInline private(set) var ring = MemberRing()
        private var late = LateHeap()

        /// The number of members.
        @inline(__always)
        var count: Int { ring.count + late.count }

        /// The next member.
        @inline(__always)
        func first(_ order: Order) -> MemberReference? {
            if order == .lastInFirstOut { return ring.last }
            guard let late = late.first else { return ring.first }
            guard let first = ring.first, first.arrival < late.arrival else { return late }
            return first
        }

        @inline(__always)
        mutating func insert(_ member: MemberReference, _ order: Order) {
            if order == .firstInFirstOut, let last = ring.last, last.arrival > member.arrival {
                late.insert(member)
            } else {
                ring.append(member)
            }
        }

        /// Removes and returns the next member.
        @inline(__always)
        mutating func popFirst(_ order: Order) -> MemberReference? {
            if late.isEmpty, order == .firstInFirstOut { return ring.popFirst() }
            guard let member = first(order) else { return nil }
            remove(member)
            return member
        }

        mutating func remove(_ member: MemberReference) {
            if member._withUnsafeGuaranteedRef({ $0.isLate }) { late.remove(member) } else { ring.remove(member) }
        }

        func forEach(_ body: (ScheduleMember) -> Void) {
            ring.forEach(body)
            late.forEach(body)
        }

        func checkInvariants() -> Bool { late.isHeap && ring.isConsistent }
    }

    /// Five lanes, and the set of lanes that contain a member.
    @usableFromInline struct Lanes {
        // Separate properties, because an array needs one more allocation and a check for uniqueness at each access.
        private var veryLow = Lane(), low = Lane(), high = Lane(), veryHigh = Lane()
        /// The lane of nearly all operations.
        @usableFromInline private(set) var normal = Lane()
        /// Bit n: lane n contains a member.
        @usableFromInline private(set) var occupied: UInt8 = 0

        init() {}

        subscript(lane: PriorityLane) -> Lane {
            switch lane {
            case .veryLow: veryLow
            case .low: low
            case .normal: normal
            case .high: high
            case .veryHigh: veryHigh
            }
        }

        /// Changes a lane in place. A `_modify` accessor would need two calls.
        @inline(__always)
        private mutating func withLane<Result>(_ lane: PriorityLane, _ body: (inout Lane) -> Result) -> Result {
            switch lane {
            case .veryLow: body(&veryLow)
            case .low: body(&low)
            case .normal: body(&normal)
            case .high: body(&high)
            case .veryHigh: body(&veryHigh)
            }
        }

        /// The members at two distances behind the first of the highest lane.
        @inlinable @inline(__always)
        mutating func ahead(_ near: UInt32, _ far: UInt32) -> (near: MemberReference?, far: MemberReference?) {
            let isUncommon = occupied & ~(1 << PriorityLane.normal.rawValue) != 0
            return isUncommon ? aheadInHighest(near, far) : normal.ring.ahead(near, far)
        }

        @usableFromInline @inline(never)
        mutating func aheadInHighest(_ near: UInt32, _ far: UInt32) -> (near: MemberReference?, far: MemberReference?) {
            withLane(highest ?? .normal) { $0.ring.ahead(near, far) }
        }

        var highest: PriorityLane? {
            occupied == 0 ? nil : PriorityLane(rawValue: UInt8(7 - occupied.leadingZeroBitCount))
        }

        @inline(__always)
        mutating func insert(_ member: MemberReference, _ order: Order) {
            let lane = member.lane
            occupied |= 1 << lane.rawValue
            if lane == .normal { return normal.insert(member, order) }
            insertUncommon(member, lane, order)
        }

        @inline(never)
        private mutating func insertUncommon(_ member: MemberReference, _ lane: PriorityLane, _ order: Order) {
            withLane(lane) { $0.insert(member, order) }
        }

        /// Removes and returns the first member of the highest lane.
        @inline(__always)
        mutating func popFirst(_ order: Order) -> MemberReference? {
            guard occupied == 1 << PriorityLane.normal.rawValue else { return highest.flatMap { popFirst($0, order) } }
            let member = normal.popFirst(order)
            if normal.count == 0 { occupied = 0 }
            return member
        }

        /// Removes and returns the first member of a lane.
        mutating func popFirst(_ lane: PriorityLane, _ order: Order) -> MemberReference? {
            let (member, isEmpty) = withLane(lane) { lane in (lane.popFirst(order), lane.count == 0) }
            if isEmpty { occupied &= ~(1 << lane.rawValue) }
            return member
        }

        mutating func remove(_ member: MemberReference) {
            let lane = member.lane
            let isEmpty = withLane(lane) { lane in
                lane.remove(member)
                return lane.count == 0
            }
            if isEmpty { occupied &= ~(1 << lane.rawValue) }
        }

        func forEach(_ body: (ScheduleMember) -> Void) {
            if occupied != 0 { for lane in PriorityLane.allCases { self[lane].forEach(body) } }
        }
    }

    /// Changes the order, also for waiting members, which are ordered by arrival then. O(n log n).
    public mutating func setOrder(_ order: Order) {
        guard order != self.order else { return }
        self.order = order
        for offset in 0...laterSegments.count {
            withSegment(at: offset) { segment in
                var ready: [ScheduleMember] = []
                segment.forEachReady { ready.append($0) }
                ready.sort { $0.arrival < $1.arrival }
                for member in ready { segment.remove(.passUnretained(member)) }
                for member in ready { segment.insert(.passUnretained(member), order) }
            }
        }
    }
}
