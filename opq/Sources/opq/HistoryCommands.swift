import ArgumentParser
import WorkflowEngine

/// A command that continues the last run of a workflow file.
struct ResumeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "resume",
        abstract: "Continue the last run of a workflow file.",
        discussion: """
            Operations that succeeded in the last run are done, unless their command, their variables or their files have \
            changed. An operation without inputs and outputs also runs if an operation before it runs.
            """)

    @OptionGroup var command: RunCommand

    func run() throws { try command.run(resumes: true) }
}

/// A command that lists the runs of a workflow file.
struct HistoryCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "history", abstract: "List the runs of a workflow file.")

    @OptionGroup var workflow: WorkflowArgument

    func run() throws {
        for line in try openRecords(of: workflow).history { try printLine(line) }
    }
}

/// A command that shows the operations of a run.
struct ShowCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Show the operations of the last run, or of another one.")

    @OptionGroup var workflow: WorkflowArgument

    @Option(name: .customLong("run"), help: ArgumentHelp("The number of the run.", valueName: "number"))
    var number: WholeNumber?

    @OptionGroup var page: PageOption

    func run() throws {
        let records = try openRecords(of: workflow)
        do {
            if let port = page.serve {
                return try PastPage.serve(
                    records.pastRuns(run: number?.value, names: workflow.names), records, port.value)
            }
            for line in try records.show(run: number?.value, names: workflow.names) { try printLine(line) }
        } catch let error as RunRecords.Failure {
            print("opq: \(error.text)".visible, to: &standardError)
            throw ExitCode.badInput
        }
    }
}

/// A command that prints the log of an operation.
struct LogCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "log", abstract: "Print the output of the last run of operations.")

    @OptionGroup var workflow: WorkflowArgument

    func validate() throws {
        if workflow.names.isEmpty { throw ValidationError("name an operation.") }
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
