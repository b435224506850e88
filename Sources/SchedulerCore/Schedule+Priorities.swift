/// The ready members of one segment: five lanes, served from the highest. Within a lane the order is by arrival, or the
/// member that became ready last is first.
extension Schedule {
    /// The order in which the ready members of one priority start.
    public enum Order: Sendable { case firstInFirstOut, lastInFirstOut }

    /// The ready members of one priority. Members that come in order of arrival, nearly all, enter a queue. The others
    /// enter a heap. With the order `lastInFirstOut`, all members enter a stack.
    ///
    /// A member that leaves a lane early remains as a stale entry. Its ticket or its member's lane shows that it is
    /// stale. The lane is swept when stale entries are the majority. The first entry is never stale.
    @usableFromInline struct Lane {
        @usableFromInline var inOrder = Ring<Ticket>()
        /// A heap, or a stack.
        var late: [Ticket] = []
        /// The number of entries that are not stale.
        var live = 0
        let order: Order

        init(_ order: Order) { self.order = order }

        var entries: Int { inOrder.count + late.count }

        /// The next entry.
        var first: Ticket? {
            if order == .lastInFirstOut { return late.last }
            guard let late = late.first else { return inOrder.first }
            guard let first = inOrder.first, first.arrival < late.arrival else { return late }
            return first
        }

        mutating func insert(_ ticket: Ticket) {
            live += 1
            if order == .lastInFirstOut {
                late.append(ticket)
            } else if let last = inOrder.last, last.arrival >= ticket.arrival {
                insertLate(ticket)
            } else {
                inOrder.append(ticket)
            }
        }

        /// Removes and returns the next entry, stale or not.
        mutating func pop() -> Ticket? {
            guard let late = late.first else { return inOrder.popFirst() }
            if order == .lastInFirstOut { return self.late.popLast() }
            guard let first = inOrder.first, first.arrival < late.arrival else { return popLate() }
            return inOrder.popFirst()
        }

        private mutating func insertLate(_ ticket: Ticket) {
            late.append(ticket)
            var child = late.count - 1
            while child > 0 {
                let parent = (child - 1) / 2
                guard late[child].arrival < late[parent].arrival else { return }
                late.swapAt(child, parent)
                child = parent
            }
        }

        private mutating func popLate() -> Ticket? {
            late.swapAt(0, late.count - 1)
            let ticket = late.removeLast()
            var parent = 0
            while true {
                var child = 2 * parent + 1
                guard child < late.count else { return ticket }
                if child + 1 < late.count, late[child + 1].arrival < late[child].arrival { child += 1 }
                guard late[child].arrival < late[parent].arrival else { return ticket }
                late.swapAt(child, parent)
                parent = child
            }
        }
    }

    /// Five lanes, and the set of lanes that contain a member.
    @usableFromInline struct Lanes {
        // Separate properties, because an array needs one more allocation and a check for uniqueness at each access.
        private var veryLow, low, high, veryHigh: Lane
        /// The lane of nearly all operations.
        @usableFromInline private(set) var normal: Lane
        /// Bit n: lane n contains an entry that is not stale.
        @usableFromInline private(set) var occupied: UInt8 = 0

        init(_ order: Order) {
            let lane = Lane(order)
            (veryLow, low, normal, high, veryHigh) = (lane, lane, lane, lane, lane)
        }

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
        mutating func withLane<Result>(_ lane: PriorityLane, _ body: (inout Lane) -> Result) -> Result {
            switch lane {
            case .veryLow: body(&veryLow)
            case .low: body(&low)
            case .normal: body(&normal)
            case .high: body(&high)
            case .veryHigh: body(&veryHigh)
            }
        }

        /// Returns the ticket at this distance behind the first of the highest lane. It may be stale.
        @inlinable @inline(__always) func ahead(_ distance: Int) -> Ticket? {
            guard occupied < 2 << PriorityLane.normal.rawValue else { return nil }
            return normal.inOrder.count > distance ? normal.inOrder[distance] : nil
        }

        var highest: PriorityLane? {
            occupied == 0 ? nil : PriorityLane(rawValue: UInt8(7 - occupied.leadingZeroBitCount))
        }

        mutating func insert(_ ticket: Ticket, in lane: PriorityLane) {
            withLane(lane) { $0.insert(ticket) }
            occupied |= 1 << lane.rawValue
        }

        /// Removes and returns the first entry of a lane. Also returns whether some of the others are stale.
        @inline(__always)
        mutating func popFirst(_ lane: PriorityLane) -> (ticket: Ticket?, hasStale: Bool) {
            let (ticket, entries, live) = withLane(lane) { lane in
                let ticket = lane.pop()
                lane.live -= 1
                return (ticket, lane.entries, lane.live)
            }
            if live == 0 { occupied &= ~(1 << lane.rawValue) }
            return (ticket, entries != live)
        }

        mutating func left(_ lane: PriorityLane) {
            let isEmpty = withLane(lane) { lane in
                lane.live -= 1
                return lane.live == 0
            }
            if isEmpty { occupied &= ~(1 << lane.rawValue) }
        }
    }

    mutating func makeReady(_ ticket: Ticket) {
        let index = Int(ticket.slot)
        let (lane, service) = (members[index].lane, members[index].service)
        members[index].state = .ready
        withSegment(members[index].segment) { $0.insert(ticket, lane, service) }
    }

    /// Removes a ready member from its lane. Its entry there is stale from now on.
    mutating func leaveLane(_ ticket: Ticket) {
        let index = Int(ticket.slot)
        let (lane, service, segment) = (members[index].lane, members[index].service, members[index].segment)
        members[index].state = .waiting
        let left = withSegment(segment) { segment in
            let left = segment.withLanes(service) { lanes in
                lanes.left(lane)
                return (entries: lanes[lane].entries, live: lanes[lane].live)
            }
            segment.noteLeft(service)
            return left
        }
        if left.entries > 2 * left.live + 64 {
            sweep(lane, service, ofSegment: segment)
        } else {
            trim(lane, service, ofSegment: segment)
        }
    }

    /// Removes the first member of a lane of the first segment, which runs from now on.
    mutating func popFirst(_ service: Service, _ lane: PriorityLane) -> Ticket {
        let (ticket, hasStale) = front.withLanes(service) { $0.popFirst(lane) }
        front.noteLeft(service)
        return popped(ticket, hasStale, lane, service)
    }

    /// Continues after the first entry of a lane was removed.
    @inline(__always)
    mutating func popped(_ ticket: Ticket?, _ hasStale: Bool, _ lane: PriorityLane, _ service: Service) -> Ticket {
        guard let ticket else { preconditionFailure("a lane counts a member that it does not hold") }
        // Before the trim: a member that left the lane and came back has a second entry, which is stale from here on.
        members[Int(ticket.slot)].state = .running
        if hasStale { trim(lane, service, ofSegment: firstSegment) }
        return ticket
    }

    func isReady(_ ticket: Ticket, _ lane: PriorityLane, _ service: Service) -> Bool {
        let member = members[Int(ticket.slot)]
        return member.arrival == ticket.arrival && member.state == .ready && member.lane == lane
            && member.service == service
    }

    /// Removes stale entries at the beginning of a lane.
    @inline(never)
    private mutating func trim(_ lane: PriorityLane, _ service: Service, ofSegment segment: UInt64) {
        while let first = withSegment(segment, { $0.withLanes(service) { $0.withLane(lane) { $0.first } } }),
            !isReady(first, lane, service)
        {
            withSegment(segment) { $0.withLanes(service) { $0.withLane(lane) { _ = $0.pop() } } }
        }
    }

    /// Removes the stale entries of a lane.
    private mutating func sweep(_ lane: PriorityLane, _ service: Service, ofSegment segment: UInt64) {
        let standing = clear(lane, service, ofSegment: segment)
        var kept = Lane(order)
        for ticket in order == .lastInFirstOut ? standing.reversed() : standing { kept.insert(ticket) }
        withSegment(segment) { $0.withLanes(service) { $0.withLane(lane) { $0 = kept } } }
    }

    /// Changes the order, also for waiting members, which are ordered by arrival then. O(n log n).
    public mutating func setOrder(_ order: Order) {
        guard order != self.order else { return }
        for segment in firstSegment...firstSegment + UInt64(laterSegments.count) {
            var standing: [(PriorityLane, Service, [Ticket])] = []
            for service in Service.allCases where withSegment(segment, { $0.services.contains(service) }) {
                for lane in PriorityLane.allCases {
                    standing.append((lane, service, clear(lane, service, ofSegment: segment)))
                }
            }
            withSegment(segment) { $0.forgetEntries(order) }
            for (lane, service, tickets) in standing {
                let byArrival = tickets.sorted { $0.arrival < $1.arrival }
                withSegment(segment) { segment in for ticket in byArrival { segment.insert(ticket, lane, service) } }
            }
        }
        self.order = order
    }

    /// Empties a lane and returns its members, in the order in which they would have been served.
    private mutating func clear(_ lane: PriorityLane, _ service: Service, ofSegment segment: UInt64) -> [Ticket] {
        let (empty, isStack) = (Lane(order), order == .lastInFirstOut)
        var entries = withSegment(segment) { segment in
            var taken = empty
            segment.withLanes(service) { $0.withLane(lane) { swap(&taken, &$0) } }
            return taken
        }
        var standing: [Ticket] = []
        // A member that left and came back has two entries, and the entry that is found first counts. By arrival both are
        // adjacent. In a stack other entries may be between them.
        var seen = Set<Ticket>()
        while let ticket = entries.pop() {
            guard ticket != standing.last, isReady(ticket, lane, service) else { continue }
            if isStack, !seen.insert(ticket).inserted { continue }
            standing.append(ticket)
        }
        return standing
    }
}
