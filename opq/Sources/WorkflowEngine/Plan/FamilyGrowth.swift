/// A family whose items are found when the operations before it have ended.
final class FamilyGrowth: Equatable, Sendable {
    private let workflow: Workflow
    private let base: String
    private let variables: [String: String]
    private let environment: [String: String]
    private let index: Int

    init(
        of index: Int, in workflow: Workflow, base: String, variables: [String: String], environment: [String: String]
    ) {
        (self.index, self.workflow, self.base) = (index, workflow, base)
        (self.variables, self.environment) = (variables, environment)
    }

    static func == (left: FamilyGrowth, right: FamilyGrowth) -> Bool { left === right }

    /// Finds the items, and returns the operations for them in order. They wait for no others.
    ///
    /// - Throws: ``GrowthFailure`` if the items cannot be found, or if there are none.
    func operations() throws(GrowthFailure) -> [PlannedOperation] {
        var planner = WorkflowPlanner(workflow, base: base, variables: variables, environment: environment)
        let operations = planner.members(ofFamily: index)
        let errors = planner.diagnostics.inFileOrder.filter { $0.severity == .error }
        if let first = errors.first {
            throw GrowthFailure(text: first.message + (first.remedy.map { "; \($0)" } ?? ""))
        }
        let clashes = FileLinks(operations).clashes
        if let clash = clashes.first {
            throw GrowthFailure(
                text:
                    "'\(operations[clash.first].name)' and '\(operations[clash.second].name)' both make '\(clash.path)'"
            )
        }
        return operations
    }
}

/// The reason why the items of a family cannot be found.
struct GrowthFailure: Error, Equatable {
    let text: String
}

extension WorkflowPlan {
    /// Whether a family finds its items during the run.
    public var growsDuringRun: Bool { operations.contains { $0.growth != nil } }

    /// Returns the plan of the members of a family, which were found during the run.
    func members(_ members: [PlannedOperation]) -> WorkflowPlan {
        WorkflowPlan(
            name: name, queues: queues, operations: members, possibleOrder: Array(members.indices), describedCount: 1,
            hasFamilies: true, settings: settings, directory: directory,
            otherNames: otherNames + operations.map(\.name),
            otherInputs: otherInputs
                + operations.compactMap { operation in
                    operation.settings.inputs.map {
                        DeclaredInputs(directory: operation.directory, patterns: $0)
                    }
                })
    }
}
