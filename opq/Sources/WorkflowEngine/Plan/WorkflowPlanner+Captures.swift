/// Variables that get the outputs of operations.
extension WorkflowPlanner {
    /// Whether an operation has `capture`.
    var capturesAny: Bool { !captureNames.isEmpty }

    /// Returns the variables that an operation gets from those that it names in `after`. Reports a variable with two sources.
    mutating func captured(by index: Int, _ dependencies: [Located<Range<Int>>]) -> [CapturedVariable] {
        var variables: [CapturedVariable] = []
        var sources: [String: Range<Int>] = [:]
        let own = workflow.operations[drafts[index].description].environment
        for dependency in dependencies {
            let range = dependency.value
            guard let first = range.first, let name = drafts[first].operation.settings.capture else { continue }
            if drafts[first].operation.growth != nil,
                workflow.operations[drafts[index].description].after.contains(where: { reference in
                    reference.position == dependency.position && reference.value.contains("[")
                })
            {
                diagnostics.report(
                    "the items of '\(drafts[first].operation.family)' are found during the run, so '\(name)' has the "
                        + "outputs of all", at: dependency.position,
                    remedy: "write after: \(drafts[first].operation.family)")
            }
            if let other = sources.updateValue(range, forKey: name) {
                guard other != range else { continue }
                diagnostics.report(
                    "'\(drafts[other.lowerBound].operation.family)' and '\(drafts[first].operation.family)' both capture "
                        + "'\(name)', and '\(drafts[index].operation.name)' comes after both", at: dependency.position,
                    remedy: "give the variables different names")
                continue
            }
            if let variable = own.first(where: { $0.name == name }) {
                diagnostics.report(
                    "'\(name)' is captured from '\(drafts[first].operation.family)'", at: variable.value.position,
                    remedy: "use another name in environment:")
            }
            let makers = captureMakers[range] ?? CaptureMakers(range.map { drafts[$0].operation.name })
            captureMakers[range] = makers
            variables.append(CapturedVariable(name: name, makers: makers))
        }
        return variables
    }

    /// Reports captured variables whose names have another meaning.
    mutating func checkCaptures() {
        guard capturesAny else { return }
        let set = Set(workflow.environment.map(\.name))
        for operation in workflow.operations where operation.hasSettings {
            guard let name = operation.settings.plain.capture else { continue }
            if variableNames.contains(name) {
                diagnostics.report(
                    "'\(name)' is a variable of the file", at: operation.settings.capturePosition,
                    remedy: "capture another one")
            } else if set.contains(name) {
                diagnostics.report(
                    "'environment' of the file sets '\(name)' too", at: operation.settings.capturePosition,
                    remedy: "capture another one")
            }
        }
    }

    /// Reports captured variables that are written as placeholders. Their values are not known before the run.
    mutating func checkCapturedPlaceholders(in field: Located<String>, isCommand: Bool, names: Set<String>) {
        guard capturesAny, field.value.hasBrace else { return }
        let captured = captureNames.subtracting(names)
        for name in Template(field.value, names: captured).placeholders where captured.contains(name) {
            diagnostics.report(
                "'{\(name)}' is no placeholder, because its value is captured during the run", at: field.position,
                remedy: isCommand
                    ? "write \"$\(name)\" in a command for a shell" : "only a command has it, as \"$\(name)\"")
        }
    }
}
