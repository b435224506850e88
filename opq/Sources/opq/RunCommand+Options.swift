import Arguments
import WorkflowEngine

extension RunCommand {
    static var options: [CommandOption<Self>] {
        WorkflowArgument.options.map { $0.lifted(\.workflow) }
            + SelectionOptions.options.map { $0.lifted(\.selection) } + choices + outputs
            + PageOptions.options.map { $0.lifted(\.page) }
    }

    /// The options that change which commands run, and how.
    private static var choices: [CommandOption<Self>] {
        [
            .flag("list", "List the operations and families, and run no command.") { $0.list = true },
            .number(
                "jobs", short: "j", least: 1,
                "The concurrency limit of queues without 'concurrency' in the file. (default: the number of processors)"
            ) { $0.jobs = $1 },
            .flag("dry-run", "Print the commands that would run, each with the reason, and run none.") {
                $0.dryRun = true
            },
            .choice("on", "The place of the commands: this machine, or a cluster on which Slurm runs. (default: local)")
            {
                $0.place = $1
            },
            .choice(
                "stop",
                """
                After a failure: now ends the running commands, soon starts no others, never runs all that can run. \
                (default: never)
                """
            ) { $0.stop = $1 },
            .flag("force", "Run all operations, also those that are up to date.") { $0.force = true },
            .flag("failed", "Run the operations that failed in the last run, and everything after them.") {
                $0.failed = true
            },
            .number("keep-runs", least: 1, "The number of runs that the history keeps. (default: 100)") {
                $0.keepRuns = $1
            },
        ]
    }

    /// The options that change only the texts and files that are written.
    private static var outputs: [CommandOption<Self>] {
        [
            .flag("explain", "Print the reason why each operation runs.") { $0.explain = true },
            .flag("quiet", short: "q", "Print failures only.") { $0.quiet = true },
            .flag("verbose", short: "v", "Also print each command when it starts.") { $0.verbose = true },
            .flag("stream", "Print the output of commands while they run, each line with the name of the operation.") {
                $0.stream = true
            },
            .flag("json", "Print each event as a line of JSON, in place of the report.") { $0.json = true },
            .text("trace", "file", "Write a trace for Perfetto or chrome://tracing to this file.", value: .path) {
                $0.trace = $1
            },
            .text("report", "file", "Write a page with a timeline to this file.", value: .path) { $0.report = $1 },
            .text("junit", "file", "Write the results in the form of JUnit to this file.", value: .path) {
                $0.junit = $1
            },
        ]
    }
}
