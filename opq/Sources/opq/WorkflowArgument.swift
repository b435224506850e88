import ArgumentParser
import SystemPackage
import WorkflowEngine

/// The argument that names a workflow file.
struct WorkflowArgument: ParsableArguments {
    @Argument(help: "The workflow file; - is standard input.", completion: .file(extensions: ["yml", "yaml"]))
    var file: String

    /// Reads the file and returns the plan. Prints all errors in the file on standard error.
    ///
    /// - Throws: `ExitCode.badInput` if the file contains an error.
    func plan() throws -> WorkflowPlan {
        let workflow = file == "-" ? WorkflowFile(in: .standardInput) : WorkflowFile(at: FilePath(file))
        var lines = ""
        for diagnostic in workflow.diagnostics { lines += diagnostic.line(in: file) + "\n" }
        standardError.write(lines)
        guard let plan = workflow.plan else { throw ExitCode.badInput }
        return plan
    }
}
