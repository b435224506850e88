/// The keys of an operation.
extension WorkflowParser {
    /// Returns the operation in an entry of `operations`.
    mutating func operation(_ entry: Entry) -> OperationDescription {
        var operation = OperationDescription(name: entry.key)
        var family: FamilyDescription?
        let members = entries(of: entry.value, as: nil, at: entry.key.position, in: .operation, name: entry.key.value)
        for member in members {
            switch member.key.value {
            case "run": operation.run = command(in: member)
            case "after": operation.after = strings(in: member)
            case "queue": operation.queue = string(in: member)
            case "priority": operation.priority = string(in: member)
            case "directory": operation.directory = string(in: member)
            case "environment": operation.environment = environment(in: member)
            case "barrier": operation.isBarrier = bool(in: member) ?? false
            case "each", "matrix", "exclude", "include", "optional": readFamily(member, into: &family)
            default: readSetting(member, into: &operation.settings)
            }
        }
        operation.family = family.flatMap { checked($0, members: members) }
        if operation.family == nil, let batch = members.first(where: { $0.key.value == "batch" }) {
            report("'batch' without 'each'", at: batch.key.position, remedy: "leave it out: there is one command")
        }
        if entry.value.mapping != nil, !members.contains(where: { $0.key.value == "run" }) {
            report(
                "operation '\(entry.key.value)' has no 'run'", at: entry.key.position,
                remedy: "give it the shell command to run")
        }
        return operation
    }

    /// Returns the command in `entry`: a text for the shell, or a list of a program and its arguments.
    private mutating func command(in entry: Entry) -> CommandDescription? {
        guard let list = entry.value.sequence else {
            guard let text = string(in: entry) else { return nil }
            if text.value.allSatisfy(\.isWhitespace) {
                report("'run' has no command", at: entry.position, remedy: "give it the shell command to run")
            }
            return .text(text)
        }
        guard !list.isEmpty else {
            report("'run' lists no program", at: entry.position, remedy: "give it a program and its arguments")
            return nil
        }
        let words = strings(in: entry, orNumbers: true)
        if words.count == list.count, let program = words.first, program.value.isEmpty {
            report("'run' names no program", at: program.position, remedy: "give it a program and its arguments")
        }
        return .program(words)
    }

    private mutating func readSetting(_ entry: Entry, into settings: inout SettingsDescription) {
        switch entry.key.value {
        case "shell": settings.shell = shell(in: entry)
        case "inputs": settings.inputs = strings(in: entry)
        case "outputs": settings.outputs = strings(in: entry)
        case "depfile": settings.depfile = string(in: entry)
        case "exclusive": settings.exclusive = strings(in: entry)
        case "slurm":
            settings.slurm = strings(in: entry)
            for option in settings.slurm {
                guard let fault = SlurmOptions.fault(in: option.value) else { continue }
                report("'\(option.value)' cannot be an option of sbatch here: \(fault)", at: option.position)
            }
        case "batch": settings.plain.batch = count(in: entry, from: 1) ?? 1
        case "keepOutputs": settings.plain.keepsOutputs = bool(in: entry) ?? false
        case "timeout":
            settings.plain.timeout = duration(in: entry)
            if settings.plain.timeout == .zero {
                report("'timeout' must be more than 0s", at: entry.position, remedy: "leave it out for no limit")
            }
        case "grace": settings.plain.grace = duration(in: entry)
        case "retries": settings.plain.retries = retries(in: entry)
        case "when":
            settings.plain.condition =
                string(in: entry).flatMap { diagnostics.choice($0, for: "condition") } ?? .success
        case "mayFail": settings.plain.mayFail = bool(in: entry) ?? false
        case "resources": settings.plain.resources = amounts(in: entry)
        case "rate": settings.plain.rate = rate(in: entry)
        case "terminal": settings.plain.usesTerminal = bool(in: entry) ?? false
        case "capture":
            settings.plain.capture = string(in: entry)?.value
            settings.capturePosition = entry.position
            if let name = settings.plain.capture, !name.isVariableName || name.hasPrefix("OPQ_") {
                report(
                    "'\(name)' cannot name a captured variable", at: entry.position,
                    remedy: "use letters, digits and underscores, with no digit first")
            }
        default: preconditionFailure("the key '\(entry.key.value)' is in the table only")
        }
    }

    // MARK: - Families

    private mutating func readFamily(_ entry: Entry, into family: inout FamilyDescription?) {
        var read = family ?? FamilyDescription(position: entry.position)
        switch entry.key.value {
        case "each":
            read.position = entry.position
            read.sources = sources(in: entry)
            if entry.value.sequence?.isEmpty == true {
                report("'each' lists no item", at: entry.position, remedy: "give it a glob or a list")
            }
        case "matrix":
            read.position = entry.position
            read.axes = mapping(in: entry).map { axis in
                checkPlaceholder(axis.key)
                let values = strings(in: axis, orNumbers: true)
                if values.isEmpty, axis.value.sequence?.isEmpty == true {
                    report("'\(axis.key.value)' lists no value", at: axis.position, remedy: "give it at least one")
                }
                return FamilyDescription.Axis(name: axis.key, values: values)
            }
            if entry.value.mapping?.isEmpty == true {
                report("'matrix' has no axis", at: entry.position, remedy: "give it at least one, as in {os: [a, b]}")
            }
        case "exclude": read.exclusions = combinations(in: entry)
        case "include": read.additions = combinations(in: entry)
        default: read.isOptional = bool(in: entry) ?? false
        }
        family = read
    }

    private mutating func sources(in entry: Entry) -> [FamilyDescription.Source] {
        let nodes = entry.value.sequence ?? [entry.value]
        var sources: [FamilyDescription.Source] = []
        for node in nodes {
            let place = node.isNull ? entry.position : node.position
            let element = Entry(key: Located(entry.key.value, at: place), value: node)
            guard node.mapping != nil, !node.isBarePlaceholder else {
                if entry.value.sequence == nil, string(of: node, orNumber: true) == nil {
                    mismatch(in: entry, expected: "a string or a list of strings")
                } else if let text = string(in: element, orNumber: true) {
                    sources.append(.item(text))
                }
                continue
            }
            let keys = entries(of: node, as: "'each'", at: place, in: .source)
            for key in keys {
                switch key.key.value {
                case "files": sources += strings(in: key).map { .file($0) }
                case "lines": string(in: key).map { sources.append(.lines($0)) }
                default: string(in: key).map { sources.append(.command($0)) }
                }
            }
            if node.mapping?.isEmpty == true {
                report("'each' names no source", at: place, remedy: "give it files, lines or command")
            }
        }
        return sources
    }

    private mutating func combinations(in entry: Entry) -> [FamilyDescription.Combination] {
        let nodes = entry.value.sequence ?? [entry.value]
        return nodes.compactMap { node in
            let element = Entry(
                key: Located(entry.key.value, at: node.isNull ? entry.position : node.position), value: node)
            guard node.mapping != nil else {
                mismatch(in: element, expected: "a map of axes and values, or a list of such maps")
                return nil
            }
            return mapping(in: element).compactMap { axis in
                string(in: axis, orNumber: true).map { (axis.key, $0) }
            }
        }
    }

    /// Returns the family if its keys fit together. Reports keys that do not.
    private mutating func checked(_ family: FamilyDescription, members: [Entry]) -> FamilyDescription? {
        func key(_ name: String) -> Entry? { members.first { $0.key.value == name } }
        if let each = key("each"), let matrix = key("matrix") ?? key("include") ?? key("exclude") {
            report(
                "'\(matrix.key.value)' beside 'each'", at: max(each.key.position, matrix.key.position),
                remedy: "list the items, or name axes: one of the two")
        }
        if key("each") == nil, key("matrix") == nil, let other = key("include") ?? key("exclude") {
            report("'\(other.key.value)' without 'matrix'", at: other.key.position, remedy: "add matrix: with its axes")
            return nil
        }
        if key("each") == nil, key("matrix") == nil, let optional = key("optional") {
            report("'optional' without 'each'", at: optional.key.position, remedy: "add each: with a glob or a list")
            return nil
        }
        for combination in family.exclusions {
            for (axis, value) in combination {
                guard let known = family.axes.first(where: { $0.name.value == axis.value }) else {
                    report(
                        "'exclude' names no axis '\(axis.value)'", at: axis.position,
                        remedy: suggestion(for: axis.value, among: family.axes.map(\.name.value)))
                    continue
                }
                guard !known.values.contains(where: { $0.value == value.value }) else { continue }
                report(
                    "'\(axis.value)' has no value '\(value.value)'", at: value.position,
                    remedy: suggestion(for: value.value, among: known.values.map(\.value)))
            }
        }
        for combination in family.additions {
            for (axis, _) in combination { checkPlaceholder(axis) }
            for axis in family.axes where !combination.contains(where: { $0.axis.value == axis.name.value }) {
                report(
                    "'include' has no value for the axis '\(axis.name.value)'",
                    at: combination.first?.axis.position ?? family.position, remedy: "give it one")
            }
        }
        return family
    }
}
