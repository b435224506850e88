import ArgumentParser
import WorkflowEngine

/// A command that reports all errors in a workflow file.
struct CheckCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Check a workflow file and report all errors in it.")

    @OptionGroup var workflow: WorkflowArgument

    func run() throws {
        try printLine("\(workflow.file.visible): \(try workflow.plan().census)")
    }
}
