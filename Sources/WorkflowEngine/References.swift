/// Resolves what operations name in `after`.
struct References {
    private let drafts: [WorkflowPlanner.Draft]
    private let indices: [String: Int]
    private let families: [String: [Int]]
    private let unknowable: Set<String>

    /// Prepares to resolve what `drafts` name.
    ///
    /// - Parameters:
    ///   - families: The members of every family by its name.
    ///   - unknowable: The families whose members are not all known; nothing is said about those.
    init(to drafts: [WorkflowPlanner.Draft], families: [String: [Int]], unknowable: Set<String>) {
        self.drafts = drafts
        self.families = families
        self.unknowable = unknowable
        indices = Dictionary(drafts.enumerated().map { ($1.operation.name, $0) }) { first, _ in first }
    }

    /// The operations that the one at `index` comes after, each once, with the place that names it.
    func dependencies(of index: Int, diagnostics: inout Diagnostics) -> [Located<Int>] {
        var dependencies: [Located<Int>] = []
        var seen: Set<Int> = []
        for reference in drafts[index].references {
            let named = operations(named: reference, by: index, diagnostics: &diagnostics)
            dependencies += named.filter { seen.insert($0).inserted }.map { Located($0, at: reference.position) }
        }
        return dependencies
    }

    private func operations(
        named reference: Located<String>, by index: Int, diagnostics: inout Diagnostics
    ) -> [Int] {
        let name = reference.value
        let operation = drafts[index].operation.name
        if name == drafts[index].description.name.value || name == operation {
            diagnostics.report(
                "'\(name)' cannot come after itself", at: reference.position, mend: "take it out of 'after'")
            return []
        }
        if let index = indices[name] { return [index] }
        if let members = families[name] { return members }
        guard Template(name).placeholders.isEmpty else { return [] }
        let family = String(name.prefix { $0 != "[" })
        if family != name, let members = families[family] {
            if !unknowable.contains(family) {
                diagnostics.report(
                    "'\(family)' has no item '\(name.dropFirst(family.count + 1).dropLast())'", at: reference.position,
                    mend: suggestion(for: name, among: members.map { drafts[$0].operation.name }))
            }
            return []
        }
        var seen: Set<String> = []
        let known = drafts.map(\.description.name.value).filter { seen.insert($0).inserted }
        diagnostics.report(
            "unknown operation '\(name)'", at: reference.position, mend: suggestion(for: name, among: known))
        return []
    }
}
