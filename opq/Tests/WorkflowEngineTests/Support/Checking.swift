@testable import WorkflowEngine

/// Returns the errors in a workflow, as `opq check` prints them for a file `w`.
///
/// - Parameter files: The paths that each glob matches.
func complaints(about text: String, files: [String: [String]] = [:]) -> [String] {
    WorkflowFile(text, base: ".", sources: sources(files)).diagnostics.map { $0.line(in: "w") }
}

/// Returns the plan of a correct workflow.
func plan(
    of text: String, base: String = ".", files: [String: [String]] = [:], variables: [String: String] = [:]
) throws -> WorkflowPlan {
    let file = WorkflowFile(text, base: base, variables: variables, sources: sources(files))
    struct Unsound: Error { let diagnostics: [Diagnostic] }
    guard let plan = file.plan else { throw Unsound(diagnostics: file.diagnostics) }
    return plan
}

/// Returns sources in which each glob matches the given paths.
private func sources(_ files: [String: [String]]) -> ItemSources {
    var sources = ItemSources()
    sources.matches = { pattern, _ in Glob.Findings(paths: files[pattern] ?? []) }
    return sources
}
