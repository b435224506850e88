/// A resolver for the names in `after`.
struct References {
    private let drafts: [WorkflowPlanner.Draft]
    private let descriptions: [OperationDescription]
    private let indices: [String: Int]
    private let families: [String: Range<Int>]
    private let unknowable: Set<String>
    private let late: Set<String>
    private var suggester = Suggester()
    private var known: Suggester.Candidates?
    private var members: [String: Suggester.Candidates] = [:]

    /// Creates a resolver for the names in `drafts`.
    ///
    /// - Parameters:
    ///   - families: The members of every family, by the name of the family.
    ///   - unknowable: The families whose members are not all known. The resolver reports no unknown items of these
    ///     families.
    ///   - late: The families whose items are found during the run. A name with an item stands for the whole family.
    init(
        to drafts: [WorkflowPlanner.Draft], of descriptions: [OperationDescription], families: [String: Range<Int>],
        unknowable: Set<String>, late: Set<String> = []
    ) {
        self.drafts = drafts
        self.descriptions = descriptions
        self.families = families
        (self.unknowable, self.late) = (unknowable, late)
        // A file without references needs no names.
        guard drafts.contains(where: { !$0.references.isEmpty }) else {
            indices = [:]
            return
        }
        var indices = [String: Int](minimumCapacity: drafts.count)
        for index in drafts.indices.reversed() { indices[drafts[index].operation.name] = index }
        self.indices = indices
    }

    /// Returns the operations and families on which the operation at `index` depends, with the places of their references.
    mutating func dependencies(of index: Int, diagnostics: inout Diagnostics) -> [Located<Range<Int>>] {
        drafts[index].references.compactMap { reference in
            let awaited = operations(named: reference, by: index, diagnostics: &diagnostics)
            return awaited.map { Located($0, at: reference.position) }
        }
    }

    private mutating func operations(
        named reference: Located<String>, by index: Int, diagnostics: inout Diagnostics
    ) -> Range<Int>? {
        let name = reference.value
        let operation = drafts[index].operation.name
        if name == drafts[index].operation.family || name == operation {
            diagnostics.report(
                "'\(name)' cannot come after itself", at: reference.position, remedy: "remove it from 'after'")
            return nil
        }
        if let index = indices[name] { return index..<index + 1 }
        if let members = families[name] { return members.isEmpty ? nil : members }
        guard !name.hasBrace else { return nil }
        let family = String(name.prefix { $0 != "[" })
        if family != name, late.contains(family), let members = families[family] { return members }
        if family != name, families[family] != nil {
            if !unknowable.contains(family) {
                diagnostics.report(
                    "'\(family)' has no item '\(name.dropFirst(family.count + 1).dropLast())'", at: reference.position,
                    remedy: suggester.suggestion(for: name, among: candidates(of: family)))
            }
            return nil
        }
        diagnostics.report(
            "unknown operation '\(name)'", at: reference.position,
            remedy: suggester.suggestion(for: name, among: candidates()))
        return nil
    }

    /// Returns the names in the file, computed once, because a file may contain as many errors as names.
    private mutating func candidates() -> Suggester.Candidates {
        if let known { return known }
        let made = Suggester.Candidates(descriptions.map(\.name.value))
        known = made
        return made
    }

    private mutating func candidates(of family: String) -> Suggester.Candidates {
        if let known = members[family] { return known }
        let made = Suggester.Candidates((families[family] ?? 0..<0).map { drafts[$0].operation.name })
        members[family] = made
        return made
    }
}
