import ArgumentParser
import SystemPackage
import WorkflowEngine

/// The argument that names a workflow file.
struct WorkflowArgument: ParsableArguments {
    @Argument(help: "The workflow file; - is standard input.", completion: .file(extensions: ["yml", "yaml"]))
    var file: String

    /// The plan in the file; if it is not sound, all that is wrong with it is printed.
    ///
    /// - Throws: `ExitCode.badInput` for such a file.
    func plan() throws -> WorkflowPlan {
        let workflow = file == "-" ? WorkflowFile(in: .standardInput) : WorkflowFile(at: FilePath(file))
        var lines = ""
        for diagnostic in workflow.diagnostics { lines += diagnostic.line(in: file) + "\n" }
        standardError.write(lines)
        guard let plan = workflow.plan else { throw ExitCode.badInput }
        return plan
    }
}
