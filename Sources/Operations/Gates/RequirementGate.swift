import SchedulerCore

/// The requirements of an operation. It acquires all of them together, just before it starts.
final class RequirementGate: OperationGate {
    static var rank: OperationGateRank { .requirements }

    @exclusivity(unchecked) var requirements: [OperationRequirement] = []

    private func requirements(of operation: Operation) -> [OperationRequirement] {
        operation.withGate(Self.self) { $0.requirements } ?? []
    }

    func mayStart(_ operation: Operation) -> GateAnswer {
        let requirements = requirements(of: operation)
        return requirements.isEmpty || ResourcePool.acquire(requirements, for: operation)
            ? .passes : .waits(inLine: true)
    }

    // Other operations may have used the resources during the pause.
    func mayContinue(_ operation: Operation) -> GateAnswer { mayStart(operation) }

    var protectsOthers: Bool { true }

    func lapse(_ operation: Operation) {
        if !requirements(of: operation).isEmpty { ResourcePool.stepOut(operation.scheduleID) }
    }

    func putBack(_ operation: Operation, andAsk asks: Bool) {
        guard !requirements(of: operation).isEmpty else { return }
        if asks { ResourcePool.giveBack(operation) } else { ResourcePool.withdraw(operation) }
    }

    func leaves(_ operation: Operation) {
        putBack(operation, andAsk: false)
        let requirements = operation.withGate(Self.self) { gate in
            defer { gate.requirements = [] }
            return gate.requirements
        }
        // Released here, without the lock: a requirement may hold the last reference to its pool.
        withExtendedLifetime(requirements) {}
    }

    func obstacles(of operation: Operation) -> [GateObstacle] {
        guard ResourcePool.isWaiting(operation) else { return [] }
        return requirements(of: operation).compactMap { requirement in
            if let first = ResourcePool.predecessor(of: operation, for: requirement) {
                return .init(
                    reason: .resourceLine(name: requirement.name, behind: first.label), remover: .operation(first))
            }
            let (resource, usage, holder) = ResourcePool.usage(of: requirement)
            let holders = resource.map { GateObstacle.Remover.holders(resource: $0, name: requirement.name) }
            let remover = usage.inUse == 0 ? .itself : holder.map { .operation($0) } ?? holders ?? .itself
            if requirement.isExclusive {
                let reason = WaitingReason.exclusion(requirement.name, heldBy: holder?.label)
                return usage.inUse > 0 ? .init(reason: reason, remover: remover) : nil
            }
            return .init(
                reason: .resource(
                    name: requirement.name, units: requirement.units, inUse: usage.inUse, capacity: usage.capacity),
                remover: requirement.units > usage.capacity ? .caller : remover)
        }
    }
}
