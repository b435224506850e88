import SchedulerCore

/// What an operation needs for itself while it runs: units of resources, or to be the only one of its kind.
///
/// All requirements of an operation are met at one moment, just before it starts, and end when it has finished. While it
/// waits for them it holds no slot, and none of them; so there is no deadlock, whatever the order. Operations that need
/// some of the same are served in the order in which they first asked, of whatever queues they are, as long as their queue
/// has room at that moment. Who cannot start is overtaken: so a queue that is always full, the main queue, and queues with
/// an `underlyingQueue`, may have to ask often.
///
/// It is a matter of queues: an operation that is started by hand waits for nothing.
public struct OperationRequirement: Sendable {
    enum Target: Equatable {
        /// A resource of a pool. The pool lives as long as operations may require something of it.
        case resource(Int, of: ResourcePool)
        /// An exclusive name, which the ledger knows while operations need it.
        case name

        static func == (a: Self, b: Self) -> Bool {
            switch (a, b) {
            case (.resource(let a, _), .resource(let b, _)): a == b
            case (.name, .name): true
            default: false
            }
        }
    }

    let target: Target
    let name: String
    let units: Int

    var isExclusive: Bool { target == .name }

    /// Whether both are about the same resource, or the same name.
    func isAlike(_ other: OperationRequirement) -> Bool {
        target == other.target && (!isExclusive || name == other.name)
    }

    /// So many units of a resource.
    ///
    /// - Throws: When there is no such resource, the number is not positive, or more than there are.
    public static func units(
        _ units: Int, of resource: String, in pool: ResourcePool
    ) throws(ResourceError) -> OperationRequirement {
        OperationRequirement(
            target: .resource(try pool.resource(resource, forNeedOf: units), of: pool), name: resource, units: units)
    }

    /// To be the only operation of the process that runs under this name.
    public static func exclusive(_ name: String) -> OperationRequirement {
        OperationRequirement(target: .name, name: name, units: 1)
    }
}

extension Operation {
    /// Makes the operation wait for a requirement, besides those it has. Units of one resource add up.
    ///
    /// Misuse M9 when it has started, and when it then needs more units than there are.
    public final func addRequirement(_ requirement: OperationRequirement) {
        stopOnMisuse { () throws(OperationError) in try tryAddRequirement(requirement) }
    }

    /// `addRequirement` that throws misuse M9 as an error and then has changed nothing.
    public final func tryAddRequirement(_ requirement: OperationRequirement) throws(OperationError) {
        let label = label
        let capacity = ResourcePool.usage(of: requirement).usage.capacity
        try changeGates { gates in
            let others = gates.requirements.filter { $0.isAlike(requirement) }
            if requirement.isExclusive, !others.isEmpty { return nil }
            let units = others.reduce(requirement.units) { $0 + $1.units }
            guard units <= capacity else {
                return .exceedsCapacity(operation: label, resource: requirement.name, units: units, capacity: capacity)
            }
            gates.requirements.append(requirement)
            return nil
        }
    }
}
