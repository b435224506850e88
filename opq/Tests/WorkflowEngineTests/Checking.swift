@testable import WorkflowEngine

/// The complaints about a workflow, as `opq check` prints them for a file `w`.
///
/// - Parameter files: What globs match.
func complaints(about text: String, files: [String: [String]] = [:]) -> [String] {
    WorkflowFile(text, base: ".") { pattern, _ in Glob.Findings(paths: files[pattern] ?? []) }.diagnostics.map {
        $0.line(in: "w")
    }
}

/// The plan of a workflow that is sound.
func plan(of text: String, base: String = ".", files: [String: [String]] = [:]) throws -> WorkflowPlan {
    let file = WorkflowFile(text, base: base) { pattern, _ in Glob.Findings(paths: files[pattern] ?? []) }
    struct Unsound: Error { let diagnostics: [Diagnostic] }
    guard let plan = file.plan else { throw Unsound(diagnostics: file.diagnostics) }
    return plan
}
