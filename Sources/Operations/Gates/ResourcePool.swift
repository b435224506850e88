import SchedulerCore

/// Resources that operations share, each so many units: bytes of memory, connections, licences.
///
///     let machine = try ResourcePool(["memory": 8, "gpu": 1])
///     render.addRequirement(try .units(3, of: "memory", in: machine))
///
/// A pool is a name space; operations of any number of queues may use it.
public final class ResourcePool: Sendable {
    private let resources: [String: Int]

    /// One ledger for all pools: what an operation needs of several is had at one moment.
    private static let ledger = Locked(ResourceLedger<UInt>())

    /// A pool with so many units of each resource.
    ///
    /// - Throws: `ResourceError.negativeCapacity`.
    public init(_ capacities: [String: Int]) throws(ResourceError) {
        for (name, capacity) in capacities where capacity < 0 {
            throw .negativeCapacity(resource: name, capacity: capacity)
        }
        var resources: [String: Int] = [:]
        // Sorted: the order of a dictionary is another one in every process (rule N4).
        for (name, capacity) in capacities.sorted(by: { $0.key < $1.key }) {
            resources[name] = Self.ledger.withLock { $0.addResource(capacity: capacity) }
        }
        self.resources = resources
    }

    // Requirements hold the pool, so no operation can ask for its resources any more.
    deinit { Self.ledger.withLock { ledger in for id in resources.values { ledger.removeResource(id) } } }

    // MARK: - Looking and changing

    /// How many units of a resource there are, are in use, and how many operations wait for some.
    public struct Usage: Sendable, Equatable {
        public let capacity: Int
        public let inUse: Int
        public let waiting: Int

        public init(capacity: Int, inUse: Int, waiting: Int) {
            self.capacity = capacity
            self.inUse = inUse
            self.waiting = waiting
        }
    }

    /// How a resource is used at this moment.
    public func usage(of resource: String) throws(ResourceError) -> Usage {
        let id = try id(of: resource)
        let usage = Self.ledger.withLock { $0.usage(of: id) }
        return Usage(capacity: usage.capacity, inUse: usage.inUse, waiting: usage.waiting)
    }

    /// Changes how many units there are, also while operations use them: those that run keep what they have.
    ///
    /// An operation that needs more than there are now waits until there are more again, and is in nobody's way.
    public func setCapacity(_ capacity: Int, of resource: String) throws(ResourceError) {
        guard capacity >= 0 else { throw .negativeCapacity(resource: resource, capacity: capacity) }
        let id = try id(of: resource)
        Self.step { $0.setCapacity(capacity, of: id) }
    }

    private func id(of resource: String) throws(ResourceError) -> Int {
        guard let id = resources[resource] else {
            throw .unknownResource(resource: resource, known: resources.keys.sorted())
        }
        return id
    }

    // MARK: - Needs

    /// The resource of a name, if an operation may need so many units of it.
    func resource(_ name: String, forNeedOf units: Int) throws(ResourceError) -> Int {
        guard units > 0 else { throw .unitsNotPositive(resource: name, units: units) }
        let id = try id(of: name)
        let capacity = Self.ledger.withLock { $0.usage(of: id).capacity }
        guard units <= capacity else { throw .exceedsCapacity(resource: name, units: units, capacity: capacity) }
        return id
    }

    /// Whether anything is known of an exclusive name: an operation waits for it or has it.
    package static func isKnown(exclusiveName name: String) -> Bool {
        ledger.withLock { $0.usage(ofName: name) } != nil
    }

    /// How many resources of pools, and exclusive names, are known.
    package static var resourceCount: Int { ledger.withLock { $0.resourceCount } }

    // MARK: - Operations

    /// True: the operation has all it requires. False: it is told, by being asked whether it is ready, when that is so.
    static func acquire(_ requirements: [OperationRequirement], for operation: Operation) -> Bool {
        var isGranted = false
        step { ledger in
            let answer = ledger.request(operation.scheduleID, needs(requirements, &ledger))
            isGranted = answer.isGranted
            return answer.offered
        }
        return isGranted
    }

    static func withdraw(_ operation: Operation) { step { $0.withdraw(operation.scheduleID) } }

    /// Nothing is kept any longer for these.
    static func lapse(_ operations: [UInt]) {
        for operation in operations { step { $0.lapse(operation) } }
    }

    /// How what is required is used, and the operation that alone uses it.
    static func usage(
        of requirement: OperationRequirement
    ) -> (usage: ResourceLedger<UInt>.Usage, holder: Operation?) {
        ledger.withLock { ledger in
            switch requirement.target {
            case .resource(let id, _):
                (ledger.usage(of: id), ledger.soleHolder(of: id).map(OperationQueue.operation))
            case .name:
                (
                    ledger.usage(ofName: requirement.name) ?? .init(capacity: 1, inUse: 0, waiting: 0),
                    ledger.holder(ofName: requirement.name).map(OperationQueue.operation)
                )
            }
        }
    }

    static func isWaiting(_ operation: Operation) -> Bool { ledger.withLock { $0.isWaiting(operation.scheduleID) } }

    /// The operation is not ready, whatever it could have. By its address, for it may be gone already.
    static func stepOut(_ operation: UInt) { step { $0.stepOut(operation) } }

    /// One event of the ledger; then, without the lock, tells whom it answers: they are asked whether they are ready, and come
    /// if so.
    ///
    /// Who is told may turn the offer down, which makes the next offer, and so on down a line of any length. So it is the
    /// outermost of these calls on a thread that tells, one after the other.
    private static func step(_ event: (inout ResourceLedger<UInt>) -> [UInt]) {
        let answered: [Operation] = ledger.withLock { ledger in
            // In the ledger an operation is in its queue, which holds it: it withdraws before it leaves.
            event(&ledger).map(OperationQueue.operation)
        }
        guard !answered.isEmpty else { return }
        HeldLocks.assertNone()
        let context = ThreadContext.current
        for operation in answered { context.toTell.append(operation) }
        guard !context.isTelling else { return }
        context.isTelling = true
        while let next = context.toTell.popFirst() { next.reconsiderReadiness() }
        context.isTelling = false
    }

    /// What the requirements need, each resource once, in the order of the requirements: the same in every process (rule N4).
    private static func needs(
        _ requirements: [OperationRequirement], _ ledger: inout ResourceLedger<UInt>
    ) -> [ResourceLedger<UInt>.Need] {
        var needs: [ResourceLedger<UInt>.Need] = []
        var places: [Int: Int] = [:]
        for requirement in requirements {
            let resource =
                switch requirement.target {
                case .resource(let id, _): id
                case .name: ledger.resource(named: requirement.name)
                }
            if let place = places[resource] {
                needs[place].units += requirement.units
            } else {
                places[resource] = needs.count
                needs.append(.init(requirement.units, of: resource))
            }
        }
        return needs
    }
}

/// What is wrong with a resource, or with what somebody wants of it.
public enum ResourceError: Error, Equatable, Sendable, CustomStringConvertible {
    /// A pool cannot have fewer than no units.
    case negativeCapacity(resource: String, capacity: Int)
    /// The pool has no resource of this name.
    case unknownResource(resource: String, known: [String])
    /// An operation needs at least one unit.
    case unitsNotPositive(resource: String, units: Int)
    /// There are not so many units, so the operation could never start.
    case exceedsCapacity(resource: String, units: Int, capacity: Int)

    public var description: String {
        switch self {
        case .negativeCapacity(let resource, let capacity):
            "'\(resource)' was to have \(capacity) units. A capacity is 0 or more."
        case .unknownResource(let resource, let known):
            """
            there is no resource '\(resource)' in the pool, which has \
            \(known.isEmpty ? "none" : known.map { "'\($0)'" }.joined(separator: ", ")). \
            Name it in the pool's init.
            """
        case .unitsNotPositive(let resource, let units):
            "an operation was to need \(units) units of '\(resource)'. Need at least 1, or do not require it."
        case .exceedsCapacity(let resource, let units, let capacity):
            """
            an operation was to need \(units) units of '\(resource)', of which there are \(capacity): it could never \
            start. Need less, or raise the capacity first.
            """
        }
    }
}
