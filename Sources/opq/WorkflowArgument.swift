import ArgumentParser
import SystemPackage
import WorkflowEngine

/// The argument that names a workflow file.
struct WorkflowArgument: ParsableArguments {
    @Argument(help: "The workflow file.", completion: .file(extensions: ["yml", "yaml"]))
    var file: String

    /// The plan in the file; if it is not sound, all that is wrong with it is printed.
    ///
    /// - Throws: `ExitCode.badInput` for such a file.
    func plan() throws -> WorkflowPlan {
        let workflow = WorkflowFile(at: FilePath(file))
        for diagnostic in workflow.diagnostics {
            print(diagnostic.line(in: file), to: &standardError)
        }
        guard let plan = workflow.plan else { throw ExitCode.badInput }
        return plan
    }
}
