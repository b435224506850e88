import ArgumentParser
import WorkflowEngine

/// A command that reports all errors in a workflow file.
struct CheckCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Check a workflow file and report all errors in it.")

    @OptionGroup var workflow: WorkflowArgument

    func validate() throws {
        if let name = workflow.names.first { throw ValidationError("check takes a file only, found '\(name)'.") }
    }

    func run() throws {
        try printLine("\(workflow.file.visible): \(try workflow.plan().census)")
    }
}
