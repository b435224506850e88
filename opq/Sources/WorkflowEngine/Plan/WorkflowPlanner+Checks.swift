import Glibc

/// Checks of the planner other than expanding families and resolving names.
extension WorkflowPlanner {
    /// Reports placeholders that are unknown, that have no item, or that are at places where the shell expands no variable.
    mutating func check(_ description: OperationDescription, names: Set<String>) {
        let fields = [description.queue, description.priority, description.directory].compactMap(\.self)
        let own = description.hasSettings ? description.settings.strings : []
        for field in (description.run?.strings ?? []) + fields + description.after
            + description.environment.map(\.value) + own
        {
            checkPlaceholders(in: field, description, names: names)
            let isCommand = description.run?.strings.contains { $0.position == field.position } ?? false
            checkCapturedPlaceholders(in: field, isCommand: isCommand, names: names)
        }
        guard case .text(let run) = description.run else { return }
        let template = Template(run.value, names: names)
        let shell = description.settings.shell?.value ?? shell(of: description)
        if !shell.isPOSIX, let placeholder = template.placeholders.first {
            diagnostics.report(
                "'{\(placeholder)}' in a command for another program than a shell", at: run.position,
                remedy: "read the environment variable \(Item.variable(of: placeholder)), or give run a list")
            return
        }
        for misplaced in CommandTemplate(template).misplaced {
            diagnostics.report(
                "'{\(misplaced.placeholder)}' cannot stand here: \(misplaced.obstacle.text)", at: run.position,
                remedy: misplaced.obstacle.remedy(variable: Item.variable(of: misplaced.placeholder)))
        }
    }

    private mutating func checkPlaceholders(
        in field: Located<String>, _ description: OperationDescription, names: Set<String>
    ) {
        guard field.value.hasBrace else { return }
        let family = description.family
        let ofItem = family == nil ? [] : family?.isMatrix == true ? ["item"] : Item.placeholders
        let known = ofItem + names.sorted()
        for name in Template(field.value, names: names).placeholders where !known.contains(name) {
            if family == nil {
                diagnostics.report(
                    "'{\(name)}' in an operation without 'each'", at: field.position,
                    remedy: "add each: with a glob or a list")
            } else {
                diagnostics.report(
                    "unknown placeholder '{\(name)}'", at: field.position, remedy: suggestion(for: name, among: known))
            }
        }
        guard !known.isEmpty else { return }
        for (name, meant) in Template.misspeltPlaceholders(in: field.value, names: known) {
            diagnostics.report(
                "unknown placeholder '{\(name)}'", at: field.position, remedy: "did you mean '\(meant)'?")
        }
    }

    /// Reports variables that an axis hides, and values for variables that the file does not declare.
    mutating func checkVariables() {
        let declared = Set(workflow.variables.map(\.name))
        for name in variableNames.subtracting(declared).sorted() {
            diagnostics.report(
                "the file declares no variable '\(name)'", at: nil,
                remedy: declared.isEmpty
                    ? "add vars: with a default value" : suggestion(for: name, among: workflow.variables.map(\.name)))
        }
        for operation in workflow.operations {
            for axis in operation.family?.axes ?? [] where declared.contains(axis.name.value) {
                diagnostics.report(
                    "'\(axis.name.value)' is a variable of the file", at: axis.name.position,
                    remedy: "use another name for the axis")
            }
        }
    }

    /// Reports a variable in a command that is a placeholder without its braces, and that nothing sets.
    mutating func checkShellVariables(_ description: OperationDescription, names: Set<String>) {
        guard case .text(let run) = description.run else { return }
        guard (description.settings.shell?.value ?? shell(of: description)).isPOSIX else { return }
        let set = Set(workflow.environment.map(\.name) + description.environment.map(\.name) + environmentNames)
        let candidates = names.union(description.family == nil ? [] : ["item"]).subtracting(set)
        for (text, name) in UnsetVariables(in: run.value, names: candidates).found where getenv(name) == nil {
            diagnostics.report(
                "'\(text)' is a variable that nothing sets", at: run.position,
                remedy: "write {\(name)}, or \"$\(Item.variable(of: name))\"")
        }
    }

    /// The longest command, and the longest variable with its name and its equals sign.
    private var limit: Int { 131_071 }

    /// Reports a text that exceeds the system's length limit even without its values. Returns whether there is none.
    mutating func checkLength(of description: OperationDescription) -> Bool {
        guard let run = description.run?.strings.first, run.value.utf8.count > limit else { return true }
        report(run, count: run.value.utf8.count, of: description)
        return false
    }

    private mutating func report(_ run: Located<String>, count: Int, of description: OperationDescription) {
        diagnostics.report(
            "the command of '\(description.name.value)' has \(count) bytes, and the system takes \(limit)",
            at: run.position, remedy: "put it in a file, and run that")
    }

    /// Reports a command or a variable that exceeds the system's length limit.
    mutating func checkLengths(of operation: PlannedOperation, _ description: OperationDescription) {
        if let run = description.run?.strings.first, operation.command.utf8.count > limit {
            report(run, count: operation.command.utf8.count, of: description)
        }
        for (name, value) in description.environment {
            let count = name.utf8.count + 1 + (operation.environment[name]?.utf8.count ?? 0)
            if count > limit {
                diagnostics.report(
                    "the variable '\(name)' has \(count) bytes, and the system takes \(limit)", at: value.position,
                    remedy: "put it in a file")
            }
        }
    }

    /// Returns the name of the queue for an operation, and reports an unknown name.
    mutating func queue(_ name: Located<String>?) -> String {
        guard let name else { return QueueDescription.defaultName }
        if !queueNames.contains(name.value), !name.value.hasBrace {
            diagnostics.report(
                "unknown queue '\(name.value)'", at: name.position,
                remedy: suggester.suggestion(for: name.value, among: queueCandidates))
        }
        return name.value
    }

    /// Returns the priority with the given name. Reports an unknown name and returns the normal priority.
    mutating func priority(_ name: Located<String>?) -> Priority {
        guard let name, !name.value.hasBrace else { return .normal }
        return diagnostics.choice(name, for: "priority") ?? .normal
    }

    /// Reports files that two operations make, and files that an operation reads without waiting for the one that makes them.
    mutating func checkFiles(of operations: [PlannedOperation], barriers: BarrierOrder) {
        guard operations.contains(where: { $0.settings.outputs != nil }) else { return }
        let links = FileLinks(operations)
        // The members of two families have the same fault.
        var seen: Set<[String]> = []
        for clash in links.clashes {
            let (first, second) = (operations[clash.first], operations[clash.second])
            guard seen.insert([first.family, second.family].sorted()).inserted else { continue }
            diagnostics.report(
                "'\(first.name)' and '\(second.name)' both make '\(clash.path)'",
                at: settings(of: clash.second).outputs?[clash.output].position,
                remedy: first.family == second.family
                    ? "give each item its own output, as in {item.stem}.o" : "give each its own output")
        }
        seen = []
        var order = WaitOrder(operations, barriers: barriers)
        links.forEachReading { reading in
            let (reader, maker) = (operations[reading.reader], operations[reading.maker])
            guard !order.does(reading.reader, waitFor: reading.maker), !seen.contains([reader.family, maker.family]),
                !order.does(reading.maker, waitFor: reading.reader)
            else { return }
            seen.insert([reader.family, maker.family])
            diagnostics.report(
                "'\(reader.name)' reads '\(reading.path)', which '\(maker.name)' makes, and does not wait for it",
                at: settings(of: reading.reader).inputs?[reading.input].position,
                remedy: "add after: \(reader.family == maker.family ? maker.name : maker.family)")
        }
    }

    private func settings(of index: Int) -> SettingsDescription {
        workflow.operations[drafts[index].description].settings
    }

    /// Reports operations that have the same name.
    mutating func reportSharedNames() {
        // Only a name with a bracket can be that of a member of a family.
        guard drafts.contains(where: { $0.operation.item != nil }) else { return }
        var owners: [String: Int] = [:]
        for draft in drafts where draft.operation.name.utf8.last == UInt8(ascii: "]") {
            // The parser has reported duplicate keys.
            guard let other = owners.updateValue(draft.description, forKey: draft.operation.name) else { continue }
            let (first, second) = (workflow.operations[other].name, workflow.operations[draft.description].name)
            guard first.value != second.value else { continue }
            diagnostics.report(
                "'\(first.value)' and '\(second.value)' both make an operation '\(draft.operation.name)'",
                at: second.position, remedy: "rename one of them")
        }
    }

    /// Reports cycles. Cycles that differ only in the items of families are reported as one cycle.
    mutating func report(_ cycles: [ExecutionOrder.Cycle], positions: [[SourcePosition]]) {
        var seen: Set<[String]> = []
        for cycle in cycles where seen.insert(cycle.map { drafts[$0.waiting].operation.family }).inserted {
            let path = path(of: cycle.map(\.waiting) + [cycle[0].waiting])
            // Barriers wait only for earlier operations of the file, so each cycle contains a link of an `after` key.
            let reference = cycle.compactMap { link in
                zip(drafts[link.waiting].operation.awaited, positions[link.waiting])
                    .first { $0.0.contains(link.awaited) }?.1
            }.first
            let message = "operations wait for each other: \(path.joined(separator: " → "))"
            diagnostics.report(message, at: reference, remedy: remedy(of: cycle))
        }
    }

    /// Returns the names of operations. Of a long path, the result contains only the start and the end.
    private func path(of indices: [Int]) -> [String] {
        let (start, end) = (6, 3)
        guard indices.count > start + end + 1 else { return indices.map { drafts[$0].operation.name } }
        let left = indices.count - start - end
        return indices.prefix(start).map { drafts[$0].operation.name } + ["(\(left) more)"]
            + indices.suffix(end).map { drafts[$0].operation.name }
    }

    private func remedy(of cycle: ExecutionOrder.Cycle) -> String {
        let link = cycle.first { $0.reason != .after } ?? cycle[0]
        let (waiting, awaited) = (drafts[link.waiting].operation.name, drafts[link.awaited].operation.name)
        return switch link.reason {
        case .after: "remove one of them from an 'after'"
        case .behindBarrier: "'\(waiting)' is queued after the barrier '\(awaited)': move it up or to another queue"
        case .gatheredByBarrier: "the barrier '\(waiting)' waits for '\(awaited)', queued before it: move that down"
        }
    }
}
