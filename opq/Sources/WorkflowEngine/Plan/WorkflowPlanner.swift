/// A planner that turns a workflow into a plan and reports errors in the workflow.
struct WorkflowPlanner {
    /// A planned operation and its description.
    struct Draft {
        /// The operation for the plan.
        var operation: PlannedOperation
        /// The index of the description in the workflow.
        let description: Int
        /// The names in `after`, in which the item replaces the placeholders.
        var references: [Located<String>]
    }

    /// The workflow to plan.
    let workflow: Workflow
    let base: String
    let sources: ItemSources
    /// The names of the declared queues and of the default queue.
    let queueNames: Set<String>
    private(set) lazy var queueCandidates = Suggester.Candidates(
        workflow.queues.map(\.name) + [QueueDescription.defaultName])
    var suggester = Suggester()
    /// The operations that were planned so far.
    private(set) var drafts: [Draft] = []
    /// The members of the families, which follow each other in `drafts`.
    private var families: [String: Range<Int>] = [:]
    /// The indices of families whose items are found during the run.
    var late: Set<Int> = []
    /// The items of families that were looked for early.
    var knownItems: [Int: [Item]] = [:]
    /// The names of families whose items could not be found.
    private var unknowable: Set<String> = []
    /// The errors that were found so far.
    var diagnostics = Diagnostics()
    /// The values of the variables of the file.
    let variables: [String: String]
    let variableNames: Set<String>
    /// The names of captured variables.
    let captureNames: Set<String>
    private let environment: [String: String]
    /// The variables of the files named by `dotenv`.
    private let dotenv: [String: String]
    /// The names of the variables that the workflow sets for all commands.
    var environmentNames: [String] { Array(environment.keys) }
    /// The operations of each captured variable, by their places in the plan.
    var captureMakers: [Range<Int>: CaptureMakers] = [:]
    private var boxes: [Shell: SettingsBox] = [.standard: .standard]

    /// Creates a planner for a workflow file in the directory `base`.
    ///
    /// - Parameters:
    ///   - variables: The values of variables, in place of those in the file.
    ///   - sources: The globs, files and commands in which families find their items.
    ///   - environment: The variables of the files named by `dotenv`.
    init(
        _ workflow: Workflow, base: String, variables: [String: String] = [:], sources: ItemSources = ItemSources(),
        environment: [String: String] = [:]
    ) {
        self.workflow = workflow
        self.base = base
        self.sources = sources
        queueNames = Set(workflow.queues.map(\.name) + [QueueDescription.defaultName])
        let defaults = workflow.variables.map { ($0.name, $0.value.value) }
        let values = Dictionary(defaults) { $1 }.merging(variables) { $1 }
        self.variables = values
        variableNames = Set(values.keys)
        let own = workflow.environment.map { variable in
            (variable.name, Template(variable.value.value, names: Set(values.keys)).text { values[$0] })
        }
        dotenv = environment
        self.environment = environment.merging(own) { $1 }
        captureNames = Set(workflow.operations.lazy.filter(\.hasSettings).compactMap(\.settings.plain.capture))
    }

    /// Returns the plan. If `diagnostics` has errors, the plan is incomplete.
    mutating func plan() -> WorkflowPlan {
        drafts.reserveCapacity(workflow.operations.count)
        checkVariables()
        checkCaptures()
        findLateFamilies()
        for index in workflow.operations.indices { expand(index) }
        reportSharedNames()
        var queues = workflow.queues
        if !queues.contains(where: { $0.name == QueueDescription.defaultName }),
            drafts.contains(where: { $0.operation.queue == QueueDescription.defaultName })
        {
            queues.append(QueueDescription(name: QueueDescription.defaultName))
        }
        let positions = resolveReferences()
        var operations = drafts.map(\.operation)
        let barriers = BarrierOrder(operations)
        let order = ExecutionOrder(operations, barriers: barriers)
        report(order.cycles, positions: positions)
        if order.cycles.isEmpty { checkFiles(of: operations, barriers: barriers) }
        for index in operations.indices where barriers.ahead[index] != nil {
            operations[index].barrierAhead = barriers.ahead[index]
        }
        return WorkflowPlan(
            name: workflow.name, queues: queues, operations: operations, possibleOrder: order.possible,
            describedCount: workflow.operations.count, hasFamilies: !families.isEmpty, settings: workflow.settings,
            directory: base)
    }

    /// Resolves the names in `after`. Returns the places of the references of each operation, in the order of `awaited`.
    private mutating func resolveReferences() -> [[SourcePosition]] {
        var references = References(
            to: drafts, of: workflow.operations, families: families, unknowable: unknowable,
            late: Set(late.map { workflow.operations[$0].name.value }))
        return drafts.indices.map { index in
            guard !drafts[index].references.isEmpty else { return [] }
            let dependencies = references.dependencies(of: index, diagnostics: &diagnostics)
            drafts[index].operation.awaited = dependencies.map(\.value)
            if capturesAny { drafts[index].operation.captured = captured(by: index, dependencies) }
            return dependencies.map(\.position)
        }
    }

    private mutating func expand(_ index: Int) {
        let description = workflow.operations[index]
        let start = drafts.count
        let names = self.names(of: description)
        let isShort = checkLength(of: description)
        if isShort, description.hasBraces { check(description, names: names) }
        if isShort { checkShellVariables(description, names: names) }
        let command = isShort ? command(of: description, names: names) : nil
        guard let family = description.family else {
            drafts.append(draft(of: index, command, names: names, for: nil))
            return
        }
        if late.contains(index) {
            drafts.append(lateDraft(of: index, command, names: names))
            families[description.name.value] = start..<drafts.count
            return
        }
        let items = items(of: family, index)
        for item in items { drafts.append(draft(of: index, command, names: names, for: item)) }
        if items.isEmpty, !family.isOptional {
            // The items could not be found. The other keys of the family are checked nevertheless.
            unknowable.insert(description.name.value)
            drafts.append(draft(of: index, command, names: names, for: nil))
        }
        families[description.name.value] = start..<drafts.count
    }

    /// Returns the names of the placeholders of an operation, without those of the item.
    func names(of description: OperationDescription) -> Set<String> {
        guard let family = description.family, family.isMatrix else { return variableNames }
        return variableNames.union(family.axisNames)
    }

    private func command(of description: OperationDescription, names: Set<String>) -> CommandTemplate? {
        guard case .text(let text) = description.run else { return nil }
        return CommandTemplate(Template(text.value, names: names))
    }

    /// Returns the operation that stands for a family whose items are found during the run.
    private mutating func lateDraft(of index: Int, _ command: CommandTemplate?, names: Set<String>) -> Draft {
        var draft = draft(of: index, command, names: names, for: nil)
        draft.operation.growth = FamilyGrowth(
            of: index, in: workflow, base: base, variables: variables, environment: dotenv)
        let description = workflow.operations[index]
        // The member of another family for the same item is not known either, so all of that family is awaited.
        draft.references = description.after.map { reference in
            let family = String(reference.value.prefix { $0 != "[" })
            return Located(reference.value.hasBrace ? family : reference.value, at: reference.position)
        }
        return draft
    }

    /// Returns the members of a family, in the order of their items.
    mutating func members(ofFamily index: Int) -> [PlannedOperation] {
        let description = workflow.operations[index]
        let names = self.names(of: description)
        let command = command(of: description, names: names)
        guard let family = description.family else { return [] }
        return items(of: family, description).map { draft(of: index, command, names: names, for: $0).operation }
    }

    // MARK: - Drafts

    private mutating func draft(
        of index: Int, _ command: CommandTemplate?, names: Set<String>, for item: Item?
    ) -> Draft {
        let description = workflow.operations[index]
        let values = variables
        func filled(_ text: String) -> String {
            Template(text, names: names).text { item?.value(of: $0) ?? values[$0] }
        }
        // No value is a pattern: a file may have the name `a[1].c`.
        func pattern(_ text: String) -> String {
            Template(text, names: names).text { (item?.value(of: $0) ?? values[$0]).map(Glob.escaped) }
        }
        func located(_ field: Located<String>) -> Located<String> { Located(filled(field.value), at: field.position) }
        let name = description.name.value
        var environment = environment
        for (name, value) in description.environment { environment[name] = filled(value.value) }
        let text: String
        var program: [String]?
        switch description.run {
        case .text: text = command?.command ?? ""
        case .program(let words):
            program = words.map { filled($0.value) }
            text = program?.map(\.quotedForShell).joined(separator: " ") ?? ""
        case nil: text = ""
        }
        for (name, value) in values where text.contains(Item.variable(of: name)) {
            environment[Item.variable(of: name)] = value
        }
        let queue = description.queue.map { located($0) }
        let operation = PlannedOperation(
            name: item.map { "\(name)[\($0.path)]" } ?? name, family: name, command: text, program: program,
            directory: path(of: description.directory.map { filled($0.value) }, for: description),
            environment: environment, item: item,
            queue: self.queue(queue), priority: priority(description.priority.map { located($0) }),
            isBarrier: description.isBarrier,
            settings: settings(
                of: description, isLate: item == nil && late.contains(index), filled: filled, patterns: pattern))
        checkLengths(of: operation, description)
        let references =
            description.after.contains { $0.value.hasBrace } ? description.after.map(located) : description.after
        return Draft(operation: operation, description: index, references: references)
    }

    private mutating func settings(
        of description: OperationDescription, isLate: Bool, filled: (String) -> String,
        patterns: (String) -> String
    ) -> SettingsBox {
        let ofFile = shell(of: description)
        guard description.hasSettings else {
            if let box = boxes[ofFile] { return box }
            var settings = OperationSettings()
            settings.shell = ofFile
            let box = SettingsBox(settings)
            boxes[ofFile] = box
            return box
        }
        let own = description.settings
        var settings = own.plain
        settings.shell = own.shell?.value ?? ofFile
        // The files of a family whose items are not known are unknown too.
        settings.inputs = isLate ? nil : own.inputs?.map { patterns($0.value) }
        settings.outputs = isLate ? nil : own.outputs?.map { patterns($0.value) }
        settings.depfile = own.depfile.map { filled($0.value) }
        settings.exclusive = own.exclusive.map { filled($0.value) }
        settings.slurm = own.slurm.map { filled($0.value) }
        return SettingsBox(settings)
    }

    /// Returns the shell of the file that describes an operation.
    func shell(of description: OperationDescription) -> Shell {
        (workflow.origins.isEmpty ? workflow.shell?.value : workflow.origins[description.origin].shell) ?? .standard
    }

    /// Returns the path of a directory that an operation names.
    func path(of directory: String?, for description: OperationDescription) -> String {
        let base = workflow.origins.isEmpty ? base : workflow.origins[description.origin].base
        guard let directory, !directory.isEmpty else { return base }
        return directory.hasPrefix("/") ? directory : base == "." ? directory : "\(base)/\(directory)"
    }
}

extension FamilyDescription {
    /// The names of the axes, those of additional combinations included.
    var axisNames: [String] {
        var seen: Set<String> = []
        return (axes.map(\.name.value) + additions.flatMap { $0.map(\.axis.value) }).filter { seen.insert($0).inserted }
    }
}

extension OperationDescription {
    /// Whether a string of the operation may contain a placeholder.
    fileprivate var hasBraces: Bool {
        if run?.strings.contains(where: { $0.value.hasBrace }) == true { return true }
        if after.contains(where: { $0.value.hasBrace }) { return true }
        return [queue, priority, directory].contains { $0?.value.hasBrace == true }
            || environment.contains { $0.value.value.hasBrace }
            || hasSettings && settings.strings.contains { $0.value.hasBrace }
    }
}
