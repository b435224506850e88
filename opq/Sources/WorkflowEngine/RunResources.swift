import Glibc
import Operations

/// The resources and the exclusive names that the operations of a run share.
struct RunResources {
    private let pool: ResourcePool

    /// Checks the needs of all operations against the totals.
    ///
    /// - Parameter memory: The memory of the machine in bytes, which is the total of `memory` if the file sets none.
    /// - Throws: `RunFailure` if an operation needs a resource without a total, or more than the total.
    init(_ plan: WorkflowPlan, memory: Int = Self.memoryOfMachine) throws(RunFailure) {
        let totals = ["memory": memory].merging(plan.settings.resources) { $1 }
        pool = ResourcePool(totals)
        for operation in plan.operations {
            for (name, amount) in operation.settings.resources.sorted(by: { $0.key < $1.key }) {
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
            amount > 0 ? .units(amount, of: name, in: pool) : nil
        } + operation.settings.exclusive.map { .exclusive($0) }
    }

    private static var memoryOfMachine: Int { sysconf(Int32(_SC_PHYS_PAGES)) * sysconf(Int32(_SC_PAGESIZE)) }
}
