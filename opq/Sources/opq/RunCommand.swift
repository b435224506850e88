import ArgumentParser
#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif
import Glibc
import OperationsTimeline
import SystemPackage
import WorkflowEngine

/// A command that runs a workflow file.
struct RunCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run",
        abstract: "Run the operations of a workflow file.",
        discussion: """
            The output of an operation is shown in one piece when the operation has ended. If an operation fails, the \
            operations that come after it are skipped, and all others continue. Each command leads its own process group. \
            When the command has ended, the other processes of the group are ended too.
            """)

    /// The reactions to a failure.
    enum Stop: String, CaseIterable, ExpressibleByArgument { case now, soon, never }

    /// The places of commands.
    enum Place: String, CaseIterable, ExpressibleByArgument { case local, slurm }

    @OptionGroup var workflow: WorkflowArgument

    @OptionGroup var selection: SelectionOptions

    @OptionGroup var page: PageOptions

    @Flag(help: "List the operations and families, and run no command.")
    var list = false

    @Option(
        name: [.customShort("j", allowingJoined: true), .long],
        help: "The concurrency limit of queues without 'concurrency' in the file. (default: the number of processors)")
    var jobs: WholeNumber?

    @Flag(help: "Print the commands that would run, each with the reason, and run none.")
    var dryRun = false

    @Option(
        help: ArgumentHelp(
            "The place of the commands: this machine, or a cluster on which Slurm runs.", valueName: "local|slurm"))
    var on: Place?

    @Option(
        help: ArgumentHelp(
            "After a failure: now ends the running commands, soon starts no others, never runs all that can run.",
            valueName: "now|soon|never"))
    var stop = Stop.never

    @Flag(help: "Run all operations, also those that are up to date.")
    var force = false

    @Flag(help: "Print the reason why each operation runs.")
    var explain = false

    @Option(help: ArgumentHelp("The number of runs that the history keeps.", valueName: "number"))
    var keepRuns = WholeNumber(100)

    @Flag(name: .shortAndLong, help: "Print failures only.")
    var quiet = false

    @Flag(name: .shortAndLong, help: "Also print each command when it starts.")
    var verbose = false

    @Option(help: "Write a trace for Perfetto or chrome://tracing to this file.", completion: .file())
    var trace: String?

    @Option(help: "Write a page with a timeline to this file.", completion: .file())
    var report: String?

    @Option(help: "Write the results in the form of JUnit to this file.", completion: .file())
    var junit: String?

    @Flag(help: "Print each event as a line of JSON, in place of the report.")
    var json = false

    @Flag(help: "Print the output of commands while they run, each line with the name of the operation.")
    var stream = false

    @Flag(help: "Run the operations that failed in the last run, and everything after them.")
    var failed = false

    func validate() throws {
        for (option, path) in [("--report", report), ("--trace", trace), ("--junit", junit)] {
            guard let path, path.hasSuffix(".yml") || path.hasSuffix(".yaml") else { continue }
            throw ValidationError("\(option) would overwrite a workflow: '\(path)' must not end in .yml or .yaml.")
        }
        if json, quiet || verbose { throw ValidationError("--json excludes --quiet and --verbose.") }
        if quiet, stream { throw ValidationError("--quiet and --stream exclude each other.") }
        if quiet, verbose { throw ValidationError("--quiet and --verbose exclude each other.") }
        if keepRuns.value < 1 { throw ValidationError("--keep-runs must be 1 or more, found \(keepRuns.value).") }
        if let jobs, jobs.value < 1 { throw ValidationError("--jobs must be 1 or more, found \(jobs.value).") }
    }

    /// Opens the files that are written when the run has ended.
    ///
    /// - Throws: `ExitCode.badInput` after printing the reason, if a file cannot be written.
    private func recordings() throws -> (trace: Recording?, report: Recording?, junit: Recording?) {
        var opened: [Recording] = []
        func open(_ path: String?) throws(Recording.Failure) -> Recording? {
            guard let path else { return nil }
            let recording = try Recording(path: path, workflow: workflow.file, others: opened)
            opened.append(recording)
            return recording
        }
        do throws(Recording.Failure) {
            return (try open(trace), try open(report), try open(junit))
        } catch {
            for recording in opened { recording.abandon() }
            throw failure(error.text)
        }
    }

    private func failure(_ text: String) -> ExitCode {
        print("opq: \(text.visible)", to: &standardError)
        return .badInput
    }

    func run() throws { try run(resumes: false) }

    /// Opens the store of the workflow file. `nil` for a workflow without a file, and if the folder cannot be written.
    private func store(for plan: WorkflowPlan) throws -> RunStore? {
        guard workflow.hasFolder else { return nil }
        do throws(RunStore.Failure) {
            return try RunStore(of: workflow.file, keptRuns: keepRuns.value)
        } catch {
            guard error.isHarmless else { throw failure("cannot run: \(error.text)") }
            // Without a record, an operation with inputs and outputs runs each time.
            if plan.operations.contains(where: { $0.settings.inputs != nil || $0.settings.outputs != nil }) {
                print("opq: nothing is recorded: \(error.text)".visible, to: &standardError)
            }
            return nil
        }
    }

    /// Runs the workflow.
    ///
    /// - Parameter resumes: Whether the run continues the last one.
    func run(resumes: Bool) throws {
        var command = self
        if resumes { try command.continueChoice() }
        if failed { try command.chooseFailed() }
        try command.start(resumes: resumes)
    }

    /// Takes the names, the options and the variables of the last run, unless the command line has others.
    private mutating func continueChoice() throws {
        guard workflow.hasFolder else {
            // The reader of the file complains about a missing one.
            let exists = workflow.file == "-" || access(workflow.file, F_OK) == 0
            return exists ? note("no run of '\(workflow.file)' is recorded, so all operations run") : ()
        }
        let last: (run: Int, choice: RunChoice)?
        do throws(RunStore.Failure) {
            last = try RunRecords(of: workflow.file).lastChoice
        } catch {
            throw failure("cannot run: \(error.text)")
        }
        guard let last else { return }
        var choice = last.choice
        let own = self.choice
        if !own.targets.isEmpty || !own.only.isEmpty || !own.from.isEmpty || !own.until.isEmpty {
            (choice.targets, choice.only, choice.from, choice.until) = ([], [], [], [])
        }
        workflow.add(names: choice.targets, variables: choice.variables)
        selection.only += choice.only
        selection.from += choice.from
        selection.until += choice.until
        on = on ?? Place(rawValue: choice.place.rawValue)
        let words = self.choice.arguments
        if !words.isEmpty { note("continues run \(last.run) with \(words.joined(separator: " "))") }
    }

    /// Chooses the operations that failed in the last run.
    private mutating func chooseFailed() throws {
        var names: [String] = []
        if workflow.hasFolder {
            do throws(RunStore.Failure) {
                names = try RunRecords(of: workflow.file).lastFailures
            } catch {
                throw failure("cannot run: \(error.text)")
            }
        }
        guard !names.isEmpty else { throw failure("no operation failed in the last run of '\(workflow.file)'") }
        selection.from += names
    }

    private func note(_ text: String) { print("opq: \(text)".visible, to: &standardError) }

    /// The part of the workflow for which the command line asks.
    private var place: RunPlace { on.flatMap { RunPlace(rawValue: $0.rawValue) } ?? .local }

    private var choice: RunChoice {
        var choice = RunChoice()
        choice.variables = workflow.variables
        choice.targets = workflow.names
        (choice.only, choice.from, choice.until) = (selection.only, selection.from, selection.until)
        choice.place = place
        return choice
    }

    private func start(resumes: Bool) throws {
        let plan = try selection.plan(of: workflow)
        if list {
            let secrets = Secrets(of: plan) { name in getenv(name).map { String(cString: $0) } }
            for line in plan.listing { try printLine(secrets.masked(line)) }
            return
        }
        let secrets = Secrets(of: plan) { name in getenv(name).map { String(cString: $0) } }
        let isTerminal = !json && isatty(STDOUT_FILENO) == 1 && getenv("TERM").map { String(cString: $0) } != "dumb"
        if dryRun { return try printCommands(of: plan, resumes: resumes, escaped: isTerminal, secrets) }
        let isColoured = isTerminal && (getenv("NO_COLOR").map { $0.pointee == 0 } ?? true)
        let detail: RunReport.Detail = quiet ? .quiet : verbose ? .verbose : .normal
        let isASCII = LocaleCharacters.isASCII { name in getenv(name).map { String(cString: $0) } }
        let printer = RunPrinter(
            report: RunReport(detail: detail, isColoured: isColoured, isASCII: isASCII, name: plan.name),
            fold: isTerminal && detail == .normal ? SuccessFold(of: plan) : nil, secrets: secrets, isJSON: json,
            streamsOutput: stream)
        // Without this, `SIGPIPE` would end opq when a reader such as `head` exits, and the commands would continue to run.
        signal(SIGPIPE, SIG_IGN)
        // If `SIGCHLD` is inherited as ignored, the system discards the exit statuses of commands.
        signal(SIGCHLD, SIG_DFL)
        // The limit of file sizes would otherwise end opq when the output of a command is long.
        signal(SIGXFSZ, SIG_IGN)
        // The files are opened while signals still end the process, because opening a pipe without a reader blocks.
        let files = try recordings()
        let store = try store(for: plan)
        for text in store?.endLeftCommands() ?? [] { note(text) }
        Interruption.block()
        let outputs = FailedOutputs()
        var options = RunOptions(jobs: jobs?.value, stopPolicy: StopPolicy(rawValue: stop.rawValue) ?? .never)
        (options.store, options.isForced, options.resumes, options.explains) = (store, force, resumes, explain)
        options.place = place
        options.note = { [secrets] in printer.announce(secrets.masked($0)) }
        options.choice = choice
        for (name, value) in choice.variables.sorted(by: { $0.key < $1.key }) where secrets.masked(value) != value {
            note("the value of '\(name)' is a secret and is not recorded; resume needs --set again")
            options.choice.variables[name] = nil
        }
        options.fileBytes =
            store == nil ? [] : (try? Array(Data(contentsOf: URL(fileURLWithPath: workflow.file)))) ?? []
        if resumes, let note = store?.noteForResume(options.fileBytes) { print("opq: \(note)", to: &standardError) }
        let isDrawn = isTerminal && detail != .quiet
        let page = self.page.port.map { RunPage($0, of: plan, jobs: jobs?.value, store, secrets) }
        options.reportsStarts = detail == .verbose || isDrawn || json || page != nil
        options.reportsSkips = !quiet || page != nil
        (options.adoptsOrphans, options.streams) = (true, stream || page != nil)
        let terminal = handover(printer)
        options.terminal = terminal
        var display: Display?
        if isDrawn {
            let progress = RunProgress(of: plan, jobs: jobs?.value, durations: store?.durations(of: plan) ?? [])
            display = Display(progress, on: printer, isASCII: isASCII, isColoured: isColoured)
        }
        let run: WorkflowRun
        let interruption: Interruption
        do {
            try page?.open(stays: self.page.stay)
            run = try WorkflowRun(plan, options: options) { [display, stream] event in
                outputs.note(event)
                page?.note(event)
                if case .output = event, !stream { return true }
                let isPrinted = printer.print(event)
                display?.note(event)
                return isPrinted
            }
            for text in run.notes { note(text) }
            interruption = try Interruption(
                of: run, terminal: terminal,
                announce: { if page?.leave() != true { printer.announceCancellation() } },
                redraw: { [display] isContinued in
                    if isContinued { display?.continued() } else { display?.changed() }
                })
        } catch {
            page?.close()
            display?.end()
            files.trace?.abandon()
            files.report?.abandon()
            files.junit?.abandon()
            throw failure("cannot run: \(error)")
        }
        let recording = OperationTimeline(limit: plan.growsDuringRun ? 1_000_000 : plan.operations.count)
        if files.trace != nil || files.report != nil { run.record(in: recording) }
        let result = run.run()
        display?.end()
        let commands = result.operations.map(\.command)
        var last = printer.report.failures(of: result, commands: commands, outputs: outputs.byName)
        last += [printer.report.summary(of: result)].compactMap(\.self)
        if json { last = [JSONEvents.line(for: result)] }
        let isPrinted = last.allSatisfy { printer.print($0) }
        if let failure = result.recordFailure {
            print("opq: \(failure)".visible, to: &standardError)
        }
        let title = plan.name.map { "\($0) (\(workflow.file))" } ?? workflow.file
        // Each file is written even if writing the other one fails.
        let isRecorded = [
            write(files.trace) { try recording.chromeTrace(title: title) },
            write(files.junit) {
                Data(JUnitReport.text(of: result, title: title, outputs: outputs.byName).utf8)
            },
            write(files.report) {
                let facts = RunFacts(of: plan, result.operations, recording.spans, jobs: jobs?.value)
                let timeline = recording.htmlTimeline(title: title, outputs: outputs.byName)
                return Data(
                    ReportPage.text(timeline: timeline, facts, result, outputs: outputs.byName, secrets: secrets).utf8)
            },
        ]
        // A reader that closes a pipe, as `head` does, is not an error.
        if let error = printer.failure, error != EPIPE {
            print("opq: cannot write to standard output: \(String(cString: strerror(error)))", to: &standardError)
        }
        let signal = interruption.signal
        page?.close(after: result, isInterrupted: signal != nil) { note($0) }
        if let signal { endProcess(by: signal) }
        let isComplete = isPrinted && printer.failure == nil
        if !isComplete || !result.conclusions.allSatisfy({ $0.isFine }) { throw ExitCode.failure }
        if isRecorded.contains(false) { throw ExitCode.badInput }
    }

    /// Returns the terminal for operations that use it.
    private func handover(_ printer: RunPrinter) -> TerminalHandover {
        // The standard input of opq is the workflow then.
        let own = workflow.hasFolder ? -1 : open("/dev/tty", O_RDWR | O_CLOEXEC)
        return TerminalHandover(
            input: own >= 0 ? FileDescriptor(rawValue: own) : .standardInput,
            // The lines of JSON have standard output for themselves.
            output: json ? .standardError : .standardOutput,
            willBegin: { printer.beginTerminal($0) }, didEnd: { printer.endTerminal() },
            interrupted: { kill(getpid(), $0) },
            stopped: {
                guard !isIgnored(SIGTSTP) else { return false }
                kill(getpid(), SIGTSTP)
                return true
            })
    }

    /// Writes a file, if the user named one. Prints the reason of a failure.
    private func write(_ recording: Recording?, _ contents: () throws -> Data) -> Bool {
        do {
            try recording?.write(try contents())
            return true
        } catch {
            _ = failure((error as? Recording.Failure)?.text ?? "\(error)")
            return false
        }
    }

    /// Prints the commands that would run in a possible order, each with the reason and with its additional variables.
    private func printCommands(of plan: WorkflowPlan, resumes: Bool, escaped: Bool, _ secrets: Secrets) throws {
        let forecast: RunForecast
        do throws(RunStore.Failure) {
            forecast = try RunForecast(
                of: plan, workflow: workflow.hasFolder ? workflow.file : nil, isForced: force, resumes: resumes)
        } catch {
            throw failure("cannot run: \(error.text)")
        }
        for entry in forecast.entries {
            let operation = entry.operation
            try printLine("# \(operation.name.visible) in \(operation.directory.visible): \(entry.reason.visible)")
            for (name, value) in operation.variables.sorted(by: { $0.key < $1.key }) {
                // Variables of the item are printed only if the command uses them.
                if operation.environment[name] == nil, !operation.command.contains(name) { continue }
                let assignment = "\(name)='\(secrets.masked(value).replacing("'", with: "'\\''"))'"
                try printLine(escaped ? assignment.visibleLines : assignment)
            }
            let text = secrets.masked(operation.command)
            try printLine(escaped ? text.visibleLines : text)
        }
    }
}
