/// Families whose items are files that other operations make.
extension WorkflowPlanner {
    /// Finds the families whose items are known only when the operations before them have ended, and reports families that do not
    /// wait for those operations. O(families · outputs).
    ///
    /// A family that comes after another one is looked at after it, because the outputs of the other one depend on its items.
    mutating func findLateFamilies() {
        let hasOutputs = workflow.operations.contains { $0.hasSettings && $0.settings.outputs != nil }
        guard hasOutputs, workflow.operations.contains(where: { !sourcePatterns(of: $0).isEmpty }) else { return }
        var search = LateSearch(workflow)
        for index in workflow.operations.indices where !sourcePatterns(of: workflow.operations[index]).isEmpty {
            resolve(index, &search)
        }
        for index in workflow.operations.indices where !late.contains(index) {
            reportUnawaitedMaker(of: index, &search)
        }
    }

    private mutating func resolve(_ index: Int, _ search: inout LateSearch) {
        guard search.resolved.insert(index).inserted else { return }
        let description = workflow.operations[index]
        let patterns = sourcePatterns(of: description)
        guard !patterns.isEmpty else { return }
        for maker in search.before(index).sorted() where maker != index {
            resolve(maker, &search)
            guard meets(patterns, outputsOf: maker, &search) else { continue }
            late.insert(index)
            if description.isBarrier {
                diagnostics.report(
                    "'\(description.name.value)' is a barrier, and its items are found during the run",
                    at: description.name.position, remedy: "leave 'barrier' out")
            }
            return
        }
    }

    private mutating func reportUnawaitedMaker(of index: Int, _ search: inout LateSearch) {
        let description = workflow.operations[index]
        let patterns = sourcePatterns(of: description)
        guard !patterns.isEmpty else { return }
        for maker in workflow.operations.indices where maker != index && !late.contains(maker) {
            guard workflow.operations[maker].hasSettings, workflow.operations[maker].settings.outputs != nil,
                meets(patterns, outputsOf: maker, &search), !search.before(maker).contains(index),
                !search.before(index).contains(maker)
            else { continue }
            let name = workflow.operations[maker].name.value
            diagnostics.report(
                "'\(description.name.value)' takes its items from '\(patterns[0].text)', which '\(name)' makes, "
                    + "and does not wait for it", at: description.family?.position, remedy: "add after: \(name)")
            return
        }
    }

    private mutating func meets(
        _ patterns: [(text: String, directory: String)], outputsOf maker: Int, _ search: inout LateSearch
    ) -> Bool {
        let outputs = search.outputs[maker] ?? outputs(of: maker)
        search.outputs[maker] = outputs
        guard !outputs.isEmpty else { return false }
        return patterns.contains { pattern in
            let meeting = PatternMeeting(pattern.text, in: pattern.directory)
            return outputs.contains { meeting.canMatch(output: $0.text, in: $0.directory) }
        }
    }

    /// Returns the patterns and files in which a family finds its items, with their directories.
    private func sourcePatterns(of description: OperationDescription) -> [(text: String, directory: String)] {
        guard let family = description.family, !family.isMatrix else { return [] }
        let directory = fixedDirectory(of: description)
        let values = variables
        return family.sources.compactMap { source in
            let text = Template(source.text.value, names: variableNames).text { values[$0] }
            switch source {
            case .item: return Glob.isPattern(text) ? (text, directory) : nil
            case .file: return (text, directory)
            case .lines: return (Glob.escaped(text), directory)
            case .command: return nil
            }
        }
    }

    /// Returns the outputs of an operation, with their directories. Each item of a late family may be any text.
    private mutating func outputs(of index: Int) -> [(text: String, directory: String)] {
        let description = workflow.operations[index]
        guard description.hasSettings, let outputs = description.settings.outputs else { return [] }
        let values = variables
        let names = self.names(of: description)
        var items: [Item?] = [nil]
        if let family = description.family, !late.contains(index) { items = self.items(of: family, index) }
        return items.flatMap { item in
            func filled(_ text: String) -> String {
                Template(text, names: names).text { name in
                    item?.value(of: name) ?? values[name]
                        ?? (name == "item" || name.hasPrefix("item.") || names.contains(name) ? "*" : nil)
                }
            }
            func pattern(_ text: String) -> String {
                Template(text, names: names).text { name in
                    (item?.value(of: name) ?? values[name]).map(Glob.escaped)
                        ?? (name == "item" || name.hasPrefix("item.") || names.contains(name) ? "*" : nil)
                }
            }
            let directory = path(of: description.directory.map { filled($0.value) }, for: description)
            return outputs.map { (pattern($0.value), directory) }
        }
    }

    /// Returns the directory in which the sources of a family are read. A directory with the item in its path stands for none.
    func fixedDirectory(of description: OperationDescription) -> String {
        let values = variables
        let directory = description.directory.flatMap { directory in
            let template = Template(directory.value, names: variableNames)
            return template.placeholders.allSatisfy { values[$0] != nil } ? template.text { values[$0] } : nil
        }
        return path(of: directory, for: description)
    }

    /// Returns the items of the family at an index, found once.
    mutating func items(of family: FamilyDescription, _ index: Int) -> [Item] {
        if let known = knownItems[index] { return known }
        let found = items(of: family, workflow.operations[index])
        knownItems[index] = found
        return found
    }
}

/// The state of a search for late families.
private struct LateSearch {
    var resolved: Set<Int> = []
    var outputs: [Int: [(text: String, directory: String)]] = [:]
    private let awaited: [[Int]]
    private var known: [Int: Set<Int>] = [:]

    init(_ workflow: Workflow) {
        let places = Dictionary(zip(workflow.operations.map(\.name.value), workflow.operations.indices)) { first, _ in
            first
        }
        awaited = workflow.operations.map { operation in
            operation.after.compactMap { reference in
                places[reference.value] ?? places[String(reference.value.prefix { $0 != "[" })]
            }
        }
    }

    /// Returns the operations that come before an operation, directly or not.
    mutating func before(_ index: Int) -> Set<Int> {
        if let found = known[index] { return found }
        var found: Set<Int> = []
        var open = awaited[index]
        while let next = open.popLast() {
            guard found.insert(next).inserted else { continue }
            open += awaited[next]
        }
        known[index] = found
        return found
    }
}
