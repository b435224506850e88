import ArgumentParser
import SystemPackage
import WorkflowEngine

/// The argument that names a workflow file.
struct WorkflowArgument: ParsableArguments {
    @Argument(help: "The workflow file; - is standard input.", completion: .file(extensions: ["yml", "yaml"]))
    var file: String

    @Option(name: .customLong("set"), help: "Set a variable of the file, as in --set mode=release.")
    var assignments: [String] = []

    func validate() throws {
        for assignment in assignments where !assignment.dropFirst().contains("=") || assignment.hasPrefix("=") {
            throw ValidationError("--set must be NAME=VALUE, found '\(assignment)'.")
        }
    }

    /// The values of variables, by their names.
    private var variables: [String: String] {
        let pairs = assignments.map { assignment in
            let parts = assignment.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(
                String.init)
            return (parts[0], parts[1])
        }
        return Dictionary(pairs) { $1 }
    }

    /// Reads the file and returns the plan. Prints all errors in the file on standard error.
    ///
    /// - Throws: `ExitCode.badInput` if the file contains an error.
    func plan() throws -> WorkflowPlan {
        let workflow =
            file == "-"
            ? WorkflowFile(in: .standardInput, variables: variables)
            : WorkflowFile(at: FilePath(file), variables: variables)
        var lines = ""
        for diagnostic in workflow.diagnostics { lines += diagnostic.line(in: file) + "\n" }
        standardError.write(lines)
        guard let plan = workflow.plan else { throw ExitCode.badInput }
        return plan
    }
}
