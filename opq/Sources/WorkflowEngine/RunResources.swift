import Glibc
import Operations

/// The resources and the exclusive names that the operations of a run share.
struct RunResources {
    private let pool: ResourcePool
    /// The resources that opq limits itself. `nil` for all.
    private let own: Set<String>?

    /// Checks the needs of all operations against the totals.
    ///
    /// - Parameters:
    ///   - place: The place of the run. A cluster gives the resources of its nodes itself.
    ///   - memory: The memory of the machine in bytes, which is the total of `memory` if the file sets none.
    /// - Throws: `RunFailure` if an operation needs a resource without a total, or more than the total.
    init(_ plan: WorkflowPlan, on place: RunPlace = .local, memory: Int = Self.memoryOfMachine) throws(RunFailure) {
        let totals = (place == .local ? ["memory": memory] : [:]).merging(plan.settings.resources) { $1 }
        // Slurm refuses a job that needs more than the nodes have.
        own = place == .local ? nil : Set(plan.settings.resources.keys).subtracting(SlurmOptions.ownResources)
        pool = ResourcePool(totals)
        for operation in plan.operations {
            for (name, amount) in operation.settings.resources.sorted(by: { $0.key < $1.key })
            where own?.contains(name) ?? true {
                guard let total = totals[name] else {
                    throw RunFailure(
                        description: "'\(operation.name)' needs \(amount) of '\(name)', which has no total; "
                            + "add resources: { \(name): \(max(amount, 1)) } at the top of the file")
                }
                guard amount <= total else {
                    throw RunFailure(
                        description: "'\(operation.name)' needs \(amount) of '\(name)', and the total is \(total)")
                }
            }
        }
    }

    /// Returns the requirements of an operation.
    func requirements(of operation: PlannedOperation) -> [OperationRequirement] {
        operation.settings.resources.compactMap { name, amount in
            amount > 0 && own?.contains(name) ?? true ? .units(amount, of: name, in: pool) : nil
        } + operation.settings.exclusive.map { .exclusive($0) }
    }

    private static var memoryOfMachine: Int { sysconf(Int32(_SC_PHYS_PAGES)) * sysconf(Int32(_SC_PAGESIZE)) }
}
