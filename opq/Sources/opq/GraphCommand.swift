import ArgumentParser
import WorkflowEngine

/// A command that draws the operations of a workflow file.
struct GraphCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "graph", abstract: "Draw the operations of a workflow file, and those that each waits for.",
        discussion: "A family is one node. With names, the drawing has these operations and all that they need.")

    /// The forms of a drawing.
    enum Format: String, CaseIterable, ExpressibleByArgument { case dot, mermaid, svg }

    @OptionGroup var workflow: WorkflowArgument

    @OptionGroup var selection: SelectionOptions

    @Option(help: ArgumentHelp("The form of the drawing.", valueName: "dot|mermaid|svg"))
    var format = Format.dot

    @Flag(help: "Draw each member of a family.")
    var items = false

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
