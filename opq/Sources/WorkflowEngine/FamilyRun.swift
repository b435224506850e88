import Operations
import OperationsTimeline
import Synchronization

/// The objects of a run with which operations are added to it.
final class RunHost: Sendable {
    /// The queue of the operations that stand for families. Such an operation executes until its last member has ended, and must
    /// not take the place of a member.
    static let familyQueue = ""

    private let queues: [String: OperationQueue]
    private let resources: RunResources
    private let requirement: OperationRequirement?
    /// The trace of the run. `nil` if nothing is traced.
    let trace = Mutex<OperationTimeline?>(nil)

    init(queues: [String: OperationQueue], resources: RunResources, requirement: OperationRequirement?) {
        (self.queues, self.resources, self.requirement) = (queues, resources, requirement)
    }

    /// Adds the requirements of an operation.
    func prepare(_ operation: CommandOperation) {
        guard operation.planned.growth == nil else { return }
        if let requirement { operation.addRequirement(requirement) }
        for requirement in resources.requirements(of: operation.planned) { operation.addRequirement(requirement) }
    }

    /// Adds an operation to its queue.
    func add(_ operation: CommandOperation) {
        let planned = operation.planned
        queues[planned.growth == nil ? planned.queue : Self.familyQueue]?.addOperation(operation)
    }

    func cancelAllOperations() {
        for queue in queues.values { queue.cancelAllOperations() }
    }
}

/// The members of a family that were found during the run.
final class FamilyRun: Sendable {
    let plan: WorkflowPlan
    let ledger: RunLedger
    let journal: RunJournal
    private let operations: [CommandOperation]

    /// Creates the members. None starts before ``start()``.
    ///
    /// - Parameters:
    ///   - index: The index of the operation that stands for the family in `plan`.
    ///   - ended: Called when the last member has ended.
    init(
        _ members: [PlannedOperation], of index: Int, in plan: WorkflowPlan, _ shell: CommandShell,
        ended: @escaping @Sendable () -> Void
    ) {
        let own = plan.members(members)
        self.plan = own
        ledger = RunLedger(ofFamilyIn: shell.ledger, operationCount: members.count)
        journal = shell.journal.journal(ofFamilyAt: index, own)
        ledger.record(in: journal)
        let shell = CommandShell(ofFamilyIn: shell, own, ledger: ledger, journal: journal)
        let end = FamilyEnd(memberCount: members.count, whenEnded: ended)
        operations = members.indices.map { CommandOperation($0, shell: shell, isMember: true) }
        for operation in operations {
            operation.families.append(end)
            shell.host.prepare(operation)
            shell.host.trace.withLock(\.self)?.record(operation, asIn: operation.planned.queue)
        }
    }

    /// Adds the members to their queues.
    func start(in host: RunHost) {
        for operation in operations { host.add(operation) }
    }

    /// Calls `body` with each member.
    func forEach(_ body: (CommandOperation) -> Void) { for operation in operations { body(operation) } }

    /// The results of the members. A member that has not started counts as cancelled.
    var conclusions: [Conclusion] {
        zip(plan.operations, ledger.conclusions).map { $1 ?? Conclusion(name: $0.name, outcome: .cancelled) }
    }

    /// The result of the family: that of the first member that failed, or else a cancellation, or else a success.
    func conclusion(named name: String) -> Conclusion {
        let conclusions = conclusions
        let bad = conclusions.first { !$0.isFine && $0.outcome != .cancelled } ?? conclusions.first { !$0.isFine }
        return Conclusion(name: name, outcome: bad?.outcome ?? .succeeded)
    }
}
