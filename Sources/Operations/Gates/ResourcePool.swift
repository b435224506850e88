import SchedulerCore

/// Resources that operations share, each with a number of units: bytes of memory, connections, licenses.
///
/// ```swift
/// let machine = ResourcePool(["memory": 8, "gpu": 1])
/// render.addRequirement(.units(3, of: "memory", in: machine))
/// ```
///
/// A pool is a namespace. Operations of any number of queues may use a pool.
public final class ResourcePool: Sendable {
    /// The numbers of the resources in the ledger.
    private let resources = Locked<[String: Int]>([:])

    /// One ledger for all pools, because an operation receives its requirements of several pools at one moment.
    private static let ledger = Locked(ResourceLedger<UInt>())

    /// Creates a pool with a number of units for each resource. ``setCapacity(_:of:)`` adds resources later.
    ///
    /// The call stops the process if a number is below 0.
    public init(_ capacities: [String: Int] = [:]) {
        // Sorted, because the order of a dictionary differs between processes (rule N4).
        for (name, capacity) in capacities.sorted(by: { $0.key < $1.key }) { setCapacity(capacity, of: name) }
    }

    // Requirements hold the pool, so no operation can request its resources any more.
    deinit {
        let ids = resources.withLock { $0.values.sorted() }
        Self.ledger.withLock { ledger in for id in ids { ledger.removeResource(id) } }
    }

    // MARK: - Capacity and use

    /// The use of a resource at one moment: the capacity, the units in use, and the number of waiting operations.
    public struct Usage: Sendable, Equatable {
        /// The number of units of the resource.
        public let capacity: Int
        /// The number of units that operations use.
        public let inUse: Int
        /// The number of operations that wait for units.
        public let waiting: Int

        /// Creates a value, for example for a test.
        public init(capacity: Int, inUse: Int, waiting: Int) {
            self.capacity = capacity
            self.inUse = inUse
            self.waiting = waiting
        }
    }

    /// Returns the use of a resource at this moment; nil if the pool has no resource of this name.
    public func usage(of resource: String) -> Usage? {
        guard let id = id(of: resource) else { return nil }
        let usage = Self.ledger.withLock { $0.usage(of: id) }
        return Usage(capacity: usage.capacity, inUse: usage.inUse, waiting: usage.waiting)
    }

    /// Changes the number of units of a resource, also while operations use the resource. Adds the resource if the pool has
    /// no resource of this name.
    ///
    /// Running operations keep their units. An operation that needs more units than the new capacity waits until the
    /// capacity is raised, and does not block other operations.
    ///
    /// The call stops the process if the capacity is below 0.
    public func setCapacity(_ capacity: Int, of resource: String) {
        if capacity < 0 { InvalidPolicy.resource(resource, capacity: capacity).stop() }
        guard let id = id(of: resource) else { return add(resource, capacity: capacity) }
        Self.step { $0.setCapacity(capacity, of: id) }
    }

    private func add(_ resource: String, capacity: Int) {
        let new = Self.ledger.withLock { $0.addResource(capacity: capacity) }
        let known = resources.withLock { resources -> Int? in
            if let known = resources[resource] { return known }
            resources[resource] = new
            return nil
        }
        guard let known else { return }
        // Another thread has added the resource meanwhile.
        Self.ledger.withLock { $0.removeResource(new) }
        Self.step { $0.setCapacity(capacity, of: known) }
    }

    private func id(of resource: String) -> Int? { resources.withLock { $0[resource] } }

    // MARK: - Needs

    /// The largest number of units that the resource of a requirement has had.
    static func largestCapacity(of requirement: OperationRequirement) -> Int {
        guard let id = requirement.resource?.id else { return 1 }
        return ledger.withLock { $0.largestCapacity(of: id) }
    }

    /// Returns the resource of a name, if an operation may need this number of units of the resource.
    func resource(_ name: String, forNeedOf units: Int) throws(ResourceError) -> Int {
        guard units > 0 else { throw .unitsNotPositive(resource: name, units: units) }
        guard let id = id(of: name) else {
            throw .unknownResource(resource: name, known: resources.withLock { $0.keys.sorted() })
        }
        let largest = Self.ledger.withLock { $0.largestCapacity(of: id) }
        guard units <= largest else { throw .exceedsCapacity(resource: name, units: units, capacity: largest) }
        return id
    }

    /// Whether the ledger knows an exclusive name, because an operation waits for the name or has it.
    package static func isKnown(exclusiveName name: String) -> Bool {
        ledger.withLock { $0.known(name) } != nil
    }

    /// The number of resources of all pools, and of exclusive names, that the ledger knows.
    package static var resourceCount: Int { ledger.withLock { $0.resourceCount } }

    // MARK: - Operations

    /// Requests the requirements of an operation. True: the operation has all of them. False: the ledger asks the
    /// operation again whether it is ready, as soon as it can have them.
    static func acquire(_ requirements: [OperationRequirement], for operation: Operation) -> Bool {
        var isGranted = false
        let lane = lane(of: operation)
        step { ledger in
            // Other operations may take the turn of the key at any time.
            let answer = ledger.request(
                operation.scheduleID, needs(requirements, &ledger), lane: lane, givesWay: lane.key != nil)
            isGranted = answer.isGranted
            return answer.offered
        }
        return isGranted
    }

    private static func lane(of operation: Operation) -> ResourceLedger<UInt>.Lane {
        let queue = operation.queue?.takeUnretainedValue()
        let key =
            operation.word.lifecycle.contains(.keyed)
            ? queue?.withState { $0.policies.first(KeyPolicy.self)?.key(of: operation.scheduleID) } : nil
        return .init(queue: queue.map(lane) ?? 0, key: key ?? nil)
    }

    private static func lane(_ queue: OperationQueue) -> UInt {
        UInt(bitPattern: Unmanaged.passUnretained(queue).toOpaque())
    }

    /// Sets whether the operations of a queue without keys give way to operations of other queues.
    static func setGivesWay(_ queue: OperationQueue, _ givesWay: Bool, change: UInt64) {
        step { $0.setGivesWay(.init(queue: lane(queue)), givesWay, change: change) }
    }

    static func withdraw(_ operation: Operation) { step { $0.withdraw(operation.scheduleID) } }

    /// Returns the units of an operation that requests again soon. No other operation of its queue overtakes it.
    static func giveBack(_ operation: Operation) { step { $0.giveBack(operation.scheduleID) } }

    /// Ends the offers to these operations.
    static func lapse(_ operations: [UInt]) {
        for operation in operations { step { $0.lapse(operation) } }
    }

    /// Returns the resource of a requirement and its use, and the operation that holds all units in use alone.
    static func usage(
        of requirement: OperationRequirement
    ) -> (resource: Int?, usage: ResourceLedger<UInt>.Usage, soleHolder: Operation?) {
        ledger.withLock { ledger in
            guard let id = requirement.resource?.id ?? ledger.known(requirement.name) else {
                return (nil, .init(capacity: 1, inUse: 0, waiting: 0), nil)
            }
            return (id, ledger.usage(of: id), ledger.soleHolder(of: id).map(OperationQueue.operation))
        }
    }

    /// Returns the operations that hold units of a resource, in the order of their first requests. O(n log n).
    static func holders(of resource: Int) -> [Operation] {
        ledger.withLock { $0.holders(of: resource).map(OperationQueue.operation) }
    }

    /// Returns the operation that this one must not overtake although the units of the requirement suffice.
    static func predecessor(of operation: Operation, for requirement: OperationRequirement) -> Operation? {
        var first: Operation?
        step { ledger in
            guard let id = requirement.resource?.id ?? ledger.known(requirement.name) else { return [] }
            let (predecessor, offered) = ledger.predecessor(of: operation.scheduleID, for: id)
            first = predecessor.map(OperationQueue.operation)
            return offered
        }
        return first
    }

    static func isWaiting(_ operation: Operation) -> Bool { ledger.withLock { $0.isWaiting(operation.scheduleID) } }

    /// Notes that the operation is not ready. By address, because the operation may already be released.
    static func stepOut(_ operation: UInt) { step { $0.stepOut(operation) } }

    /// Performs one event of the ledger. Then, without the lock, asks the operations of the answer whether they are
    /// ready.
    ///
    /// An operation that declines an offer causes the next offer, and so on along a line of any length.
    private static func step(_ event: (inout ResourceLedger<UInt>) -> [UInt]) {
        let answered: [Operation] = ledger.withLock { ledger in
            // An operation in the ledger is in its queue, and the queue holds it: an operation withdraws before it
            // leaves.
            event(&ledger).map(OperationQueue.operation)
        }
        HeldLocks.assertNone()
        for operation in answered { Descent.step { operation.reconsiderReadiness() } }
    }

    /// Returns the needs of the requirements: each resource once, in the order of the requirements. The order is the same
    /// in every process (rule N4).
    private static func needs(
        _ requirements: [OperationRequirement], _ ledger: inout ResourceLedger<UInt>
    ) -> [ResourceLedger<UInt>.Need] {
        var needs: [ResourceLedger<UInt>.Need] = []
        var places: [Int: Int] = [:]
        for requirement in requirements {
            let resource = requirement.resource?.id ?? ledger.resource(named: requirement.name)
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

/// An error about a requirement of a resource.
public enum ResourceError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The pool has no resource of this name.
    case unknownResource(resource: String, known: [String])
    /// The number of units was below 1.
    case unitsNotPositive(resource: String, units: Int)
    /// The number of units exceeded the largest capacity that the resource has had, so the operation could never start.
    case exceedsCapacity(resource: String, units: Int, capacity: Int)

    public var description: String {
        switch self {
        case .unknownResource(let resource, let known):
            """
            there is no resource \(resource.inQuotes) in the pool, which has \
            \(known.isEmpty ? "none" : known.map(\.inQuotes).joined(separator: ", ")). \
            Set its capacity first.
            """
        case .unitsNotPositive(let resource, let units):
            "a requirement of \(units) units of \(resource.inQuotes) was created. Require at least 1 unit, or leave it out."
        case .exceedsCapacity(let resource, let units, let capacity):
            """
            a requirement of \(units) units of \(resource.inQuotes) was created, but the capacity was never more than \
            \(capacity). The operation could never start. Require fewer units, or raise the capacity first.
            """
        }
    }
}
