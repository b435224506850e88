import Glibc
import Operations

/// The resources and the exclusive names that the operations of a run share.
struct RunResources {
    private let pool: ResourcePool
    /// The resources that opq limits itself. `nil` for all.
    private let own: Set<String>?
    private let terminal = ResourcePool(["terminal": 1])
    /// The limits of starts, by the names of the families.
    let rates: [String: StartRate]

    /// Checks the needs of all operations against the totals.
    ///
    /// - Parameters:
    ///   - place: The place of the run. A cluster gives the resources of its nodes itself.
    ///   - memory: The memory of the machine in bytes, which is the total of `memory` if the file sets none.
    ///   - later: Calls a closure after a time.
    /// - Throws: `RunFailure` if an operation needs a resource without a total, or more than the total.
    init(
        _ plan: WorkflowPlan, on place: RunPlace = .local, memory: Int = Self.memoryOfMachine,
        later: @escaping @Sendable (Duration, @escaping @Sendable () -> Void) -> Void = { _, _ in }
    ) throws(RunFailure) {
        var rates: [String: StartRate] = [:]
        for operation in plan.operations {
            guard let rate = operation.settings.rate, rates[operation.family] == nil else { continue }
            rates[operation.family] = StartRate(rate, later: later)
        }
        self.rates = rates
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
        var requirements: [OperationRequirement] = operation.settings.resources.compactMap { name, amount in
            amount > 0 && own?.contains(name) ?? true ? .units(amount, of: name, in: pool) : nil
        }
        requirements += operation.settings.exclusive.map { .exclusive($0) }
        if operation.settings.usesTerminal { requirements.append(.units(1, of: "terminal", in: terminal)) }
        if operation.settings.rate != nil, let rate = rates[operation.family] { requirements.append(rate.requirement) }
        return requirements
    }

    private static var memoryOfMachine: Int { sysconf(Int32(_SC_PHYS_PAGES)) * sysconf(Int32(_SC_PAGESIZE)) }
}
