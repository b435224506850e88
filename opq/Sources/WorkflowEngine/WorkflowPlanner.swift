/// A planner that turns a workflow into a plan and reports errors in the workflow.
struct WorkflowPlanner {
    /// A planned operation and its description.
    struct Draft {
        /// The operation for the plan.
        var operation: PlannedOperation
        /// The description in the file.
        let description: OperationDescription
        /// The names in `after`, in which the item replaces the placeholders.
        let references: [Located<String>]
    }

    /// The workflow to plan.
    let workflow: Workflow
    private let base: String
    private let matches: Glob.Finder
    /// The names of the declared queues and of the default queue.
    let queueNames: Set<String>
    private(set) lazy var queueCandidates = Suggester.Candidates(
        workflow.queues.map(\.name) + [QueueDescription.defaultName])
    var suggester = Suggester()
    /// The operations that were planned so far.
    private(set) var drafts: [Draft] = []
    /// The names of families whose items could not be found.
    private var unknowable: Set<String> = []
    /// The errors that were found so far.
    var diagnostics = Diagnostics()

    /// Creates a planner for a workflow file in the directory `base`. The planner expands globs with `matches`.
    init(_ workflow: Workflow, base: String, matches: @escaping Glob.Finder = { Glob(pattern: $0).find(in: $1) }) {
        self.workflow = workflow
        queueNames = Set(workflow.queues.map(\.name) + [QueueDescription.defaultName])
        self.base = base
        self.matches = matches
    }

    /// Returns the plan. If `diagnostics` is not empty, the plan is incomplete.
    mutating func plan() -> WorkflowPlan {
        for description in workflow.operations { expand(description) }
        reportSharedNames()
        var queues = workflow.queues
        if !queues.contains(where: { $0.name == QueueDescription.defaultName }),
            drafts.contains(where: { $0.operation.queue == QueueDescription.defaultName })
        {
            queues.append(QueueDescription(name: QueueDescription.defaultName))
        }
        var references = References(to: drafts, families: families, unknowable: unknowable)
        let dependencies = drafts.indices.map { references.dependencies(of: $0, diagnostics: &diagnostics) }
        for index in drafts.indices { drafts[index].operation.awaited = dependencies[index].map(\.value) }
        let barriers = BarrierOrder(drafts.map(\.operation))
        let order = ExecutionOrder(drafts.map(\.operation), barriers: barriers)
        report(order.cycles, dependencies: dependencies)
        for index in drafts.indices { drafts[index].operation.barrierAhead = barriers.ahead[index] }
        return WorkflowPlan(
            name: workflow.name, queues: queues, operations: drafts.map(\.operation), possibleOrder: order.possible,
            describedCount: workflow.operations.count, hasFamilies: !families.isEmpty)
    }

    /// The members of each family, which follow each other in `drafts`.
    private var families: [String: Range<Int>] {
        var families: [String: Range<Int>] = [:]
        for (index, draft) in drafts.enumerated() where draft.description.each != nil {
            let name = draft.description.name.value
            // An operation with a duplicate key, which the parser has reported, makes a family of its own.
            let known = families[name].flatMap { $0.upperBound == index ? $0.lowerBound : nil }
            families[name] = (known ?? index)..<index + 1
        }
        return families
    }

    private mutating func expand(_ description: OperationDescription) {
        let command = description.run.map { CommandTemplate(Template($0.value)) }
        check(description, command)
        guard description.each != nil else {
            drafts.append(draft(of: description, command, for: nil))
            return
        }
        let items = items(of: description)
        for item in items { drafts.append(draft(of: description, command, for: Item(path: item))) }
        if items.isEmpty {
            // The items could not be found. The other keys of the family are checked nevertheless.
            unknowable.insert(description.name.value)
            drafts.append(draft(of: description, command, for: nil))
        }
    }

    private mutating func items(of description: OperationDescription) -> [String] {
        // The item's globs cannot be resolved in a directory whose path contains the item.
        let directory = description.directory.flatMap { Template($0.value).placeholders.isEmpty ? $0.value : nil }
        var items: [String] = []
        var seen: Set<String> = []
        for source in description.each ?? [] {
            guard Glob.isPattern(source.value) else {
                if seen.insert(source.value).inserted { items.append(source.value) }
                continue
            }
            let found = matches(source.value, path(of: directory))
            report(found, of: source, in: path(of: directory))
            items += found.paths.filter { seen.insert($0).inserted }
        }
        return items
    }

    private mutating func report(_ found: Glob.Findings, of pattern: Located<String>, in directory: String) {
        for problem in found.problems {
            let remedy: String? =
                switch problem.kind {
                case .unreadable: "make it readable, or write a pattern that does not lead there"
                case .notUTF8: "rename it"
                }
            diagnostics.report("'\(pattern.value)': \(problem.text)", at: pattern.position, remedy: remedy)
        }
        if found.paths.isEmpty, found.problems.isEmpty {
            diagnostics.report("'\(pattern.value)' matches nothing in \(directory)", at: pattern.position)
        }
    }

    private func path(of directory: String?) -> String {
        guard let directory, !directory.isEmpty else { return base }
        return directory.hasPrefix("/") ? directory : base == "." ? directory : "\(base)/\(directory)"
    }

    private mutating func draft(
        of description: OperationDescription, _ command: CommandTemplate?, for item: Item?
    ) -> Draft {
        func filled(_ field: Located<String>?) -> Located<String>? {
            field.map { Located(Template($0.value).text(for: item), at: $0.position) }
        }
        let name = description.name.value + (item.map { "[\($0.path)]" } ?? "")
        let environment = description.environment.map { ($0.name, Template($0.value.value).text(for: item)) }
        let operation = PlannedOperation(
            name: name,
            command: command?.command(for: item) ?? "",
            directory: path(of: filled(description.directory)?.value),
            environment: Dictionary(environment) { $1 },
            item: item,
            queue: queue(filled(description.queue)),
            priority: priority(filled(description.priority)),
            isBarrier: description.isBarrier)
        checkLengths(of: operation, description)
        return Draft(operation: operation, description: description, references: description.after.compactMap(filled))
    }
}
