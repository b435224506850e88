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
    let need: ResourceLedger<UInt>.Need
    let name: String
    let isExclusive: Bool

    /// So many units of a resource.
    ///
    /// - Throws: When there is no such resource, the number is not positive, or more than there are.
    public static func units(
        _ units: Int, of resource: String, in pool: ResourcePool
    ) throws(ResourceError) -> OperationRequirement {
        OperationRequirement(need: try pool.need(units, of: resource), name: resource, isExclusive: false)
    }

    /// To be the only operation of the process that runs under this name.
    public static func exclusive(_ name: String) -> OperationRequirement {
        OperationRequirement(need: ResourcePool.exclusions.exclusiveNeed(name), name: name, isExclusive: true)
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
        let capacity = ResourcePool.usage(of: requirement).capacity
        try changeGates { gates in
            let others = gates.requirements.filter { $0.need.resource == requirement.need.resource }
            if requirement.isExclusive, !others.isEmpty { return nil }
            let units = others.reduce(requirement.need.units) { $0 + $1.need.units }
            guard units <= capacity else {
                return .exceedsCapacity(operation: label, resource: requirement.name, units: units, capacity: capacity)
            }
            gates.requirements.append(requirement)
            return nil
        }
    }
}
