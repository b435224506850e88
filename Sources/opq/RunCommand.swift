import ArgumentParser
import Foundation
import OperationsTrace
import WorkflowEngine

/// Runs a workflow file.
struct RunCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run",
        abstract: "Run the operations of a workflow file.",
        discussion: """
            What an operation prints is shown in one piece when it has ended. If it fails, those that come after \
            it are skipped and all others go on. An operation owns its process group: what it leaves running in \
            there is ended.
            """)

    enum FailurePolicy: EnumerableFlag {
        case keepGoing, failFast

        static func help(for value: Self) -> ArgumentHelp? {
            switch value {
            case .keepGoing: "Run all that does not come after a failed operation."
            case .failFast: "Cancel the rest when an operation fails."
            }
        }
    }

    @OptionGroup var workflow: WorkflowArgument

    @Option(name: .shortAndLong, help: "The width of queues without one. (default: the number of processors)")
    var jobs: Int?

    @Flag(help: "Print the commands in a possible order and run none.")
    var dryRun = false

    @Flag(exclusivity: .exclusive)
    var failurePolicy = FailurePolicy.keepGoing

    @Flag(name: .shortAndLong, help: "Print failures only.")
    var quiet = false

    @Flag(name: .shortAndLong, help: "Print commands as they start, too.")
    var verbose = false

    @Option(help: "Write a trace for Perfetto or chrome://tracing to this file.", completion: .file())
    var trace: String?

    @Option(help: "Write a page with a timeline to this file.", completion: .file())
    var report: String?

    func validate() throws {
        if quiet, verbose { throw ValidationError("--quiet and --verbose exclude each other.") }
        if let jobs, jobs < 1 { throw ValidationError("--jobs must be 1 or more, found \(jobs).") }
    }

    /// The files to be written, and what is to be in them.
    private var recordings: [(path: String, contents: (OperationTrace) throws -> Data)] {
        let title = workflow.file
        return [
            (trace, { try $0.chromeTrace() }),
            (report, { Data($0.htmlTimeline(title: title).utf8) }),
        ].compactMap { path, contents in path.map { ($0, contents) } }
    }

    /// Writes a file.
    ///
    /// - Throws: `ExitCode.badInput`, and says why, when that is not possible.
    private func write(_ contents: Data, to path: String) throws {
        do { try contents.write(to: URL(fileURLWithPath: path)) } catch {
            print("opq: cannot write \(path): \(error.localizedDescription)", to: &standardError)
            throw ExitCode.badInput
        }
    }

    func run() throws {
        let plan = try workflow.plan()
        let isTerminal = isatty(STDOUT_FILENO) == 1 && getenv("TERM").map { String(cString: $0) } != "dumb"
        let isColoured = isTerminal && (getenv("NO_COLOR").map { $0.pointee == 0 } ?? true)
        let detail: RunReport.Detail = quiet ? .quiet : verbose ? .verbose : .normal
        let printer = RunPrinter(report: RunReport(detail: detail, isColoured: isColoured))
        if dryRun {
            for index in plan.possibleOrder {
                let operation = plan.operations[index]
                _ = printer.print("# \(operation.name) in \(operation.directory)\n\(operation.command)")
            }
            return
        }
        // Otherwise a reader that goes away, as in `opq run … | head`, would leave all commands running.
        signal(SIGPIPE, SIG_IGN)
        let options = RunOptions(jobs: jobs, failsFast: failurePolicy == .failFast)
        let run = WorkflowRun(plan, options: options) { printer.print($0) }
        let recording = OperationTrace()
        // Before anything runs: a mistake in a path is not to be found out an hour later.
        for (path, _) in recordings { try write(Data(), to: path) }
        if !recordings.isEmpty { run.record(in: recording) }
        let interruption = Interruption(cancel: run.cancel, kill: run.kill)
        let status = isTerminal && detail != .quiet ? StatusLine(of: run, on: printer) : nil
        let result = run.run()
        status?.end()
        _ = printer.print(printer.report.summary(of: result))
        for (path, contents) in recordings { try write(contents(recording), to: path) }
        if interruption.hasHappened { throw ExitCode.interrupted }
        if !result.conclusions.allSatisfy({ $0.outcome == .succeeded }) { throw ExitCode.failure }
    }
}
