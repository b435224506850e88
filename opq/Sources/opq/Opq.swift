import ArgumentParser
import Glibc
import WorkflowEngine

/// The command-line tool.
@main
struct Opq: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "opq",
        abstract: "Runs a graph of shell commands, as many at a time as its queues are wide.",
        discussion: """
            Exit status: 0 if all operations succeeded; 1 if one failed or the output could not be written; 2 for bad input, \
            if nothing can be run, or if a report or trace could not be written; 130 if interrupted. If several apply, 130 wins \
            over 1, and 1 over 2.
            """,
        version: "0.1.0",
        subcommands: [RunCommand.self, CheckCommand.self, FetchCommand.self])

    static func main() {
        openStandardStreams()
        if let mistake = mistakenSubcommand(CommandLine.arguments.dropFirst().first ?? "") {
            print(mistake, to: &standardError)
            Glibc.exit(ExitCode.badInput.rawValue)
        }
        do {
            var command = try parseAsRoot()
            try command.run()
        } catch {
            let code = exitCode(for: error)
            // Bad usage is bad input, whereas the parser has 64 for it.
            guard code == .validationFailure else { exit(withError: error) }
            print(fullMessage(for: error), to: &standardError)
            Glibc.exit(ExitCode.badInput.rawValue)
        }
    }

    /// The message for a first argument that is neither a subcommand nor an option; the parser has none that names it.
    private static func mistakenSubcommand(_ name: String) -> String? {
        let names = configuration.subcommands.compactMap { $0.configuration.commandName }
        guard !name.isEmpty, !name.hasPrefix("-"), !names.contains(name), name != "help" else { return nil }
        let remedy = access(name, F_OK) == 0 ? "did you mean 'opq run \(name)'?" : suggestion(for: name, among: names)
        return "opq: unknown subcommand '\(name)'\(remedy.map { "; \($0)" } ?? "")".visible
    }

    /// Makes sure that the first three descriptors are taken: a file opened later must not become standard output.
    ///
    /// What was closed stays of no use: it is opened the other way round.
    private static func openStandardStreams() {
        for descriptor in [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO] where fcntl(descriptor, F_GETFD) < 0 {
            // The lowest number that is free is this one.
            _ = open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY)
        }
    }
}

extension ExitCode {
    /// The file or the command line is at fault, or the system has not what a run needs to begin.
    static let badInput = ExitCode(2)
    /// The run was ended by a signal.
    static let interrupted = ExitCode(130)
}
