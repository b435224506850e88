/// Members of different service levels run on different threads. A thread takes the members of its own level only, and the
/// others stay where suspension, the limit and late dependencies hold them back.
///
/// All ready members, of any service, have one order: by priority, then by arrival. A thread may pass over members of other
/// services only while the queue has a slot for each of them.
///
/// The order `lastInFirstOut` applies within one service. Of the first members of two services, the one that arrived last
/// precedes, not the one that became ready last.
extension Schedule {
    /// The service of a member: the service of its queue, or one of its own. The caller maps services to threads.
    public enum Service: UInt8, Sendable, CaseIterable {
        case ofQueue, first, second, third, fourth, fifth
    }

    /// A set of services.
    @frozen
    public struct Services: OptionSet, Sendable {
        public var rawValue: UInt8

        @inlinable public init(rawValue: UInt8) { self.rawValue = rawValue }

        @inlinable public static var all: Services { Services(rawValue: 0b111111) }
        @inlinable public static var ofQueue: Services { Services(rawValue: 1) }

        @inlinable public init(_ service: Service) { self.init(rawValue: 1 << service.rawValue) }

        @inlinable public func contains(_ service: Service) -> Bool { rawValue >> service.rawValue & 1 == 1 }

        /// Whether the set has fewer than two services.
        @inlinable var isSimple: Bool { rawValue & (rawValue &- 1) == 0 }
    }

    /// The services for which `next(for:)` would return a member, unless its claim fails.
    ///
    /// Mutating, because other getters would copy the schedule for `startableOfSeveral`.
    @inlinable @inline(__always) public var startable: Services {
        mutating get {
            guard hasStartable else { return [] }
            if front.gate != nil { return .ofQueue }
            return front.services.isSimple ? front.services : startableOfSeveral()
        }
    }

    @usableFromInline mutating func startableOfSeveral() -> Services {
        var found = Services()
        for service in Service.allCases where front.services.contains(service) && choice(for: Services(service)) != nil
        {
            found.insert(Services(service))
        }
        return found
    }

    /// A ready member that may start, and its place in the order.
    struct Choice {
        let service: Service
        let lane: PriorityLane
        let arrival: UInt64
    }

    /// Removes and returns the next ready member of the services in the first segment.
    @inline(__always)
    mutating func popReady(for services: Services) -> MemberReference? {
        let isSimple = front.services == .ofQueue && !aging.isOn
        guard isSimple else { return popChosen(for: services) }
        guard services.contains(.ofQueue) else { return nil }
        let member = front.lanes.popFirst(order)
        if front.lanes.occupied == 0 { front.services = [] }
        return member
    }

    @inline(never)
    private mutating func popChosen(for services: Services) -> MemberReference? {
        guard let choice = choice(for: services) else { return nil }
        if aging.isOn { aging.serve(choice, among: front.occupied) }
        let order = order
        let member = front.withLanes(choice.service) { $0.popFirst(choice.lane, order) }
        front.noteLeft(choice.service)
        return member
    }

    /// Returns the first member of the services, if the queue has a slot for each member that precedes it.
    private func choice(for services: Services) -> Choice? {
        let due = aging.isOn ? aging.line(among: front.occupied) : nil
        var best: Choice?
        for service in Service.allCases where services.contains(service) {
            guard let own = front.first(of: service, due: due, order) else { continue }
            if best.map({ precedes(own, $0, due: due) }) ?? true { best = own }
        }
        guard let best else { return nil }
        var passedOver = 0
        for service in Service.allCases where front.services.contains(service) && !services.contains(service) {
            passedOver += front.count(of: service, order) { lane, first in
                precedes(Choice(service: service, lane: lane, arrival: first), best, due: due)
            }
        }
        return running + passedOver < width ? best : nil
    }

    /// Whether a member precedes another one. A lane that is due by its age precedes all others.
    private func precedes(_ a: Choice, _ b: Choice, due: PriorityLane?) -> Bool {
        if a.lane != b.lane { return a.lane == due || b.lane != due && a.lane > b.lane }
        return order == .firstInFirstOut ? a.arrival < b.arrival : a.arrival > b.arrival
    }
}

extension Schedule.Segment {
    /// The lanes in which some service has a ready member: bit n for lane n.
    var occupied: UInt8 { otherLanes.reduce(lanes.occupied) { $0 | $1.occupied } }

    func lanes(of service: Schedule.Service) -> Schedule.Lanes? {
        if service == .ofQueue { return lanes }
        return otherLanes.isEmpty ? nil : otherLanes[Int(service.rawValue) - 1]
    }

    @inline(__always)
    mutating func insert(_ member: MemberReference, _ order: Schedule.Order) {
        let service = member.service
        services.rawValue |= 1 << service.rawValue
        if service == .ofQueue { return lanes.insert(member, order) }
        withLanes(service) { $0.insert(member, order) }
    }

    mutating func remove(_ member: MemberReference) {
        let service = member.service
        withLanes(service) { $0.remove(member) }
        noteLeft(service)
    }

    /// Changes the lanes of a service in place.
    @inline(never)
    mutating func withLanes<Result>(
        _ service: Schedule.Service, _ body: (inout Schedule.Lanes) -> Result
    ) -> Result {
        if service == .ofQueue { return body(&lanes) }
        if otherLanes.isEmpty {
            otherLanes = Array(repeating: Schedule.Lanes(), count: Schedule.Service.allCases.count - 1)
        }
        return body(&otherLanes[Int(service.rawValue) - 1])
    }

    /// Updates the set of services after a member of the service has left its lane.
    mutating func noteLeft(_ service: Schedule.Service) {
        if lanes(of: service)?.occupied == 0 { services.remove(Schedule.Services(service)) }
    }

    fileprivate func first(
        of service: Schedule.Service, due: PriorityLane?, _ order: Schedule.Order
    ) -> Schedule.Choice? {
        guard let lanes = lanes(of: service), var lane = lanes.highest else { return nil }
        if let due, lanes.occupied >> due.rawValue & 1 == 1 { lane = due }
        return lanes[lane].first(order).map { Schedule.Choice(service: service, lane: lane, arrival: $0.arrival) }
    }

    /// Counts the members in the lanes whose first member satisfies the predicate.
    fileprivate func count(
        of service: Schedule.Service, _ order: Schedule.Order, where isCounted: (PriorityLane, _ first: UInt64) -> Bool
    ) -> Int {
        guard let lanes = lanes(of: service) else { return 0 }
        return PriorityLane.allCases.reduce(0) { count, lane in
            guard let first = lanes[lane].first(order), isCounted(lane, first.arrival) else { return count }
            return count + lanes[lane].count
        }
    }
}
