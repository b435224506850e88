import SchedulerCore

/// A need of a running operation: units of a resource, or an exclusive name.
///
/// An operation receives all its requirements at one moment, just before it starts, and returns them when it has
/// finished. A waiting operation holds no slot and none of its requirements, so the order of requirements cannot cause a
/// deadlock.
///
/// Operations that compete for a requirement receive it in the order of their first requests, across queues. An operation
/// whose queue has no free slot at that moment is overtaken. So operations of a queue that is always full, of the main
/// queue, or of a queue with an `underlyingQueue` may need several requests.
///
/// A requirement that the next operation is about to receive stays reserved, and so unused, while the queue of that operation waits
/// for a thread.
///
/// Requirements apply to queues: `Operation.start()` called by hand waits for no requirement.
public struct OperationRequirement: Sendable {
    /// The resource and its pool; nil for an exclusive name. The pool exists as long as operations may require the resource. The
    /// ledger keeps a name while operations need it.
    let resource: (id: Int, pool: ResourcePool)?
    let name: String
    let units: Int

    var isExclusive: Bool { resource == nil }

    /// Whether both requirements mean the same resource or the same exclusive name.
    func isAlike(_ other: OperationRequirement) -> Bool { resource?.id == other.resource?.id && name == other.name }

    /// Returns a requirement of units of a resource.
    ///
    /// The call stops the process if the pool has no such resource, `units` is below 1, or `units` exceeds the
    /// largest capacity that the resource has had. ``tryUnits(_:of:in:)`` throws an error instead.
    public static func units(_ units: Int, of resource: String, in pool: ResourcePool) -> OperationRequirement {
        do { return try tryUnits(units, of: resource, in: pool) } catch { fatalError("ResourceError: \(error)") }
    }

    /// Returns a requirement of units of a resource, and throws an error if the pool cannot satisfy it. For numbers and names
    /// that come from data.
    ///
    /// - Throws: `ResourceError` when the pool has no such resource, `units` is below 1, or `units` exceeds the largest capacity that the
    ///   resource has had.
    public static func tryUnits(
        _ units: Int, of resource: String, in pool: ResourcePool
    ) throws(ResourceError) -> OperationRequirement {
        OperationRequirement(
            resource: (try pool.resource(resource, forNeedOf: units), pool), name: resource, units: units)
    }

    /// Returns the requirement to be the only running operation of the process with this exclusive name.
    public static func exclusive(_ name: String) -> OperationRequirement {
        OperationRequirement(resource: nil, name: name, units: 1)
    }
}

extension Operation {
    /// Adds a requirement. The operation waits for all its requirements. Units of the same resource add up.
    ///
    /// The call stops the process if the operation has started, or if the sum exceeds the largest capacity that the
    /// resource has had. If the sum exceeds only the present capacity, the operation waits until the capacity is raised.
    /// ``tryAddRequirement(_:)`` throws an error instead.
    public final func addRequirement(_ requirement: OperationRequirement) {
        stopOnMisuse { () throws(OperationError) in try tryAddRequirement(requirement) }
    }

    /// Adds a requirement, like `addRequirement(_:)`, and throws an error on misuse.
    ///
    /// - Throws: `OperationError.lateGate` or `OperationError.exceedsCapacity`. The call has changed nothing then.
    public final func tryAddRequirement(_ requirement: OperationRequirement) throws(OperationError) {
        let label = label
        let capacity = ResourcePool.largestCapacity(of: requirement)
        try changeGate(
            orNew: RequirementGate(),
            unless: { gate in
                let others = gate?.requirements.filter { $0.isAlike(requirement) } ?? []
                let present = others.reduce(0) { $0 + $1.units }
                guard requirement.units > capacity - present, !requirement.isExclusive else { return nil }
                let (sum, overflows) = present.addingReportingOverflow(requirement.units)
                let units = overflows ? .max : sum
                return .exceedsCapacity(operation: label, resource: requirement.name, units: units, capacity: capacity)
            }
        ) { gate in
            guard !requirement.isExclusive || !gate.requirements.contains(where: { $0.isAlike(requirement) }) else {
                return
            }
            gate.requirements.append(requirement)
        }
    }
}
