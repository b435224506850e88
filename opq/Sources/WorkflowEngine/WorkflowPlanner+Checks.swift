/// Checks of the planner other than expanding families and resolving names.
extension WorkflowPlanner {
    /// Reports placeholders that are unknown, that have no item, or that the shell would not read as plain values.
    mutating func check(_ description: OperationDescription, _ command: CommandTemplate?) {
        let fields = [description.run, description.queue, description.priority, description.directory]
        for field in fields.compactMap(\.self) + description.after + description.environment.map(\.value) {
            for name in Template(field.value).placeholders {
                if description.each == nil {
                    diagnostics.report(
                        "'{\(name)}' in an operation without 'each'", at: field.position,
                        remedy: "add each: with a glob or a list")
                } else if !Item.placeholders.contains(name) {
                    diagnostics.report(
                        "unknown placeholder '{\(name)}'", at: field.position,
                        remedy: suggestion(for: name, among: Item.placeholders))
                }
            }
            guard description.each != nil else { continue }
            for (name, meant) in Template.misspeltPlaceholders(in: field.value) {
                diagnostics.report(
                    "unknown placeholder '{\(name)}'", at: field.position, remedy: "did you mean '\(meant)'?")
            }
        }
        guard let run = description.run, description.each != nil else { return }
        for misplaced in command?.misplaced ?? [] {
            guard let variable = Item.variable(of: misplaced.placeholder) else { continue }
            diagnostics.report(
                "'{\(misplaced.placeholder)}' cannot be quoted at this place: \(misplaced.obstacle.text)",
                at: run.position,
                remedy: misplaced.obstacle.remedy(variable: variable))
        }
    }

    /// Reports a command or a variable that exceeds the system's length limit.
    mutating func checkLengths(of operation: PlannedOperation, _ description: OperationDescription) {
        let limit = 131_071
        if let run = description.run, operation.command.utf8.count > limit {
            diagnostics.report(
                "the command of '\(description.name.value)' has \(operation.command.utf8.count) bytes, and the system takes "
                    + "\(limit)", at: run.position, remedy: "put it in a file, and run that")
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
        if !queueNames.contains(name.value), Template(name.value).placeholders.isEmpty {
            diagnostics.report(
                "unknown queue '\(name.value)'", at: name.position,
                remedy: suggester.suggestion(for: name.value, among: queueCandidates))
        }
        return name.value
    }

    /// Returns the priority with the given name. Reports an unknown name and returns the normal priority.
    mutating func priority(_ name: Located<String>?) -> Priority {
        guard let name, Template(name.value).placeholders.isEmpty else { return .normal }
        return diagnostics.choice(name, for: "priority") ?? .normal
    }

    /// Reports operations that have the same name.
    mutating func reportSharedNames() {
        var owners: [String: String] = [:]
        for draft in drafts {
            let owner = draft.description.name
            // The parser has reported duplicate keys.
            if let other = owners.updateValue(owner.value, forKey: draft.operation.name), other != owner.value {
                diagnostics.report(
                    "'\(other)' and '\(owner.value)' both make an operation '\(draft.operation.name)'",
                    at: owner.position, remedy: "rename one of them")
            }
        }
    }

    /// Reports cycles. Cycles that differ only in the items of families are reported as one cycle.
    mutating func report(_ cycles: [ExecutionOrder.Cycle], dependencies: [[Located<Range<Int>>]]) {
        var seen: Set<[String]> = []
        for cycle in cycles where seen.insert(cycle.map { drafts[$0.waiting].description.name.value }).inserted {
            let path = path(of: cycle.map(\.waiting) + [cycle[0].waiting])
            // Barriers wait only for earlier operations of the file, so each cycle contains a link of an `after` key.
            let reference = cycle.lazy.compactMap { link in
                dependencies[link.waiting].first { $0.value.contains(link.awaited) }?.position
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
