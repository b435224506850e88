import Arguments
import WorkflowEngine

/// A command that draws the operations of a workflow file.
struct GraphCommand: Command {
    static let description = CommandDescription(
        "graph", "Draw the operations of a workflow file, and those that each waits for.",
        discussion: "A family is one node. With names, the drawing has these operations and all that they need.")

    static var options: [CommandOption<Self>] {
        WorkflowArgument.options.map { $0.lifted(\.workflow) }
            + SelectionOptions.options.map { $0.lifted(\.selection) }
            + [
                .choice("format", "The form of the drawing. (default: dot)") { $0.format = $1 },
                .flag("items", "Draw each member of a family.") { $0.items = true },
            ]
    }
    static var operands: CommandOption<Self>? { WorkflowArgument.operands.lifted(\.workflow) }

    /// The forms of a drawing.
    enum Format: String, CaseIterable { case dot, mermaid, svg }

    private var workflow = WorkflowArgument()
    private var selection = SelectionOptions()
    private var format = Format.dot
    private var items = false

    func validate() throws(UsageError) { try workflow.validate() }

    func run() throws {
        let form: WorkflowGraph.Format =
            switch format {
            case .dot: .dot
            case .mermaid: .mermaid
            case .svg: .svg
            }
        try printLine(WorkflowGraph(of: try selection.plan(of: workflow), showsItems: items).text(as: form))
    }
}
