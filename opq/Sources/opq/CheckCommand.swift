import Arguments
import WorkflowEngine

/// A command that reports all errors in a workflow file.
struct CheckCommand: Command {
    static let description = CommandDescription("check", "Check a workflow file and report all errors in it.")
    static var options: [CommandOption<Self>] { WorkflowArgument.options.map { $0.lifted(\.workflow) } }
    static var operands: CommandOption<Self>? { WorkflowArgument.operands.lifted(\.workflow) }

    private var workflow = WorkflowArgument()

    func validate() throws(UsageError) {
        try workflow.validate()
        if let name = workflow.names.first { throw UsageError("check takes a file only, found '\(name)'") }
    }

    func run() throws {
        try printLine("\(workflow.file.visible): \(try workflow.plan().census)")
    }
}
