import SchedulerCore

/// Resources that operations share, each so many units: bytes of memory, connections, licences.
///
///     let machine = try ResourcePool(["memory": 8, "gpu": 1])
///     render.addRequirement(try .units(3, of: "memory", in: machine))
///
/// A pool is a name space; operations of any number of queues may use it.
public final class ResourcePool: Sendable {
    private let resources: Locked<[String: Int]>

    /// One ledger for all pools: what an operation needs of several is had at one moment.
    private static let ledger = Locked(ResourceLedger<UInt>())
    /// The names of mutual exclusion.
    static let exclusions = ResourcePool()

    private init() { resources = Locked([:]) }

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
        self.resources = Locked(resources)
    }

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
        let (id, known) = resources.withLock { ($0[resource], Array($0.keys)) }
        guard let id else { throw .unknownResource(resource: resource, known: known.sorted()) }
        return id
    }

    // MARK: - Needs

    func need(_ units: Int, of resource: String) throws(ResourceError) -> ResourceLedger<UInt>.Need {
        guard units > 0 else { throw .unitsNotPositive(resource: resource, units: units) }
        let id = try id(of: resource)
        let capacity = Self.ledger.withLock { $0.usage(of: id).capacity }
        guard units <= capacity else { throw .exceedsCapacity(resource: resource, units: units, capacity: capacity) }
        return .init(units, of: id)
    }

    func exclusiveNeed(_ name: String) -> ResourceLedger<UInt>.Need {
        if let known = resources.withLock({ $0[name] }) { return .init(1, of: known) }
        // Two threads may make one each: the second is then of no use, and stays so.
        let new = Self.ledger.withLock { $0.addResource(capacity: 1) }
        let id = resources.withLock { resources in
            let id = resources[name] ?? new
            resources[name] = id
            return id
        }
        return .init(1, of: id)
    }

    // MARK: - Operations

    /// True: the operation has all it requires. False: it is told, by being asked whether it is ready, when that is so.
    static func acquire(_ requirements: [OperationRequirement], for operation: Operation) -> Bool {
        let needs = merged(requirements)
        var isGranted = false
        step { ledger in
            let answer = ledger.request(operation.scheduleID, needs)
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

    static func usage(of requirement: OperationRequirement) -> ResourceLedger<UInt>.Usage {
        ledger.withLock { $0.usage(of: requirement.need.resource) }
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

    /// Each resource once.
    private static func merged(_ requirements: [OperationRequirement]) -> [ResourceLedger<UInt>.Need] {
        guard requirements.count > 1 else { return requirements.map(\.need) }
        var units: [Int: Int] = [:]
        for requirement in requirements { units[requirement.need.resource, default: 0] += requirement.need.units }
        // In an order that is the same in every process (rule N4).
        return units.sorted { $0.key < $1.key }.map { resource, units in .init(units, of: resource) }
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
