import Arguments
import WorkflowEngine

/// A command that continues the last run of a workflow file.
struct ResumeCommand: Command {
    static let description = CommandDescription(
        "resume", "Continue the last run of a workflow file.",
        discussion: """
            Operations that succeeded in the last run are done, unless their command, their variables or their files have \
            changed. An operation without inputs and outputs also runs if an operation before it runs.
            """)

    static var options: [CommandOption<Self>] { RunCommand.options.map { $0.lifted(\.command) } }
    static var operands: CommandOption<Self>? { RunCommand.operands?.lifted(\.command) }

    private var command = RunCommand()

    func validate() throws(UsageError) { try command.validate() }

    func run() throws { try command.run(resumes: true) }
}

/// A command that lists the runs of a workflow file.
struct HistoryCommand: Command {
    static let description = CommandDescription("history", "List the runs of a workflow file.")
    static var options: [CommandOption<Self>] { WorkflowArgument.options.map { $0.lifted(\.workflow) } }
    static var operands: CommandOption<Self>? { WorkflowArgument.operands.lifted(\.workflow) }

    private var workflow = WorkflowArgument()

    func validate() throws(UsageError) { try workflow.validate() }

    func run() throws {
        for line in try openRecords(of: workflow).history { try printLine(line) }
    }
}

/// A command that shows the operations of a run.
struct ShowCommand: Command {
    static let description = CommandDescription("show", "Show the operations of the last run, or of another one.")
    static var options: [CommandOption<Self>] {
        WorkflowArgument.options.map { $0.lifted(\.workflow) }
            + [.number("run", "The number of the run.") { $0.number = $1 }]
            + PageOption.options.map { $0.lifted(\.page) }
    }
    static var operands: CommandOption<Self>? { WorkflowArgument.operands.lifted(\.workflow) }

    private var workflow = WorkflowArgument()
    private var number: Int?
    private var page = PageOption()

    func validate() throws(UsageError) { try workflow.validate() }

    func run() throws {
        let records = try openRecords(of: workflow)
        do {
            if let port = page.port {
                return try PastPage.serve(records.pastRuns(run: number, names: workflow.names), records, port)
            }
            for line in try records.show(run: number, names: workflow.names) { try printLine(line) }
        } catch let error as RunRecords.Failure {
            print("opq: \(error.text)".visible, to: &standardError)
            throw ExitCode.badInput
        }
    }
}

/// A command that prints the log of an operation.
struct LogCommand: Command {
    static let description = CommandDescription("log", "Print the output of the last run of operations.")
    static var options: [CommandOption<Self>] { WorkflowArgument.options.map { $0.lifted(\.workflow) } }
    static var operands: CommandOption<Self>? { WorkflowArgument.operands.lifted(\.workflow) }

    private var workflow = WorkflowArgument()

    func validate() throws(UsageError) {
        try workflow.validate()
        if workflow.names.isEmpty { throw UsageError("name an operation") }
    }

    func run() throws {
        let records = try openRecords(of: workflow)
        for name in workflow.names {
            do {
                try records.readLog(of: name) { bytes in
                    if !writeAll(bytes, to: 1) { throw ExitCode.failure }
                }
            } catch let error as RunRecords.Failure {
                print("opq: \(error.text)".visible, to: &standardError)
                throw ExitCode.badInput
            }
        }
    }
}

/// Returns the records of a workflow file.
///
/// - Throws: `ExitCode.badInput` after printing the reason.
private func openRecords(of workflow: WorkflowArgument) throws -> RunRecords {
    do throws(RunStore.Failure) {
        return try RunRecords(of: workflow.file)
    } catch {
        print("opq: \(error.text)".visible, to: &standardError)
        throw ExitCode.badInput
    }
}
