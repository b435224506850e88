import ArgumentParser
import WorkflowEngine

/// A command that prints the JSON Schema of workflow files.
struct SchemaCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "schema", abstract: "Print the JSON Schema of workflow files, for editors.",
        discussion: """
            Editors with a YAML language server use it by a first line such as \
            # yaml-language-server: $schema=opq.schema.json
            """)

    func run() throws {
        var text = WorkflowSchema.text
        text.removeLast()
        try printLine(text)
    }
}
