import ArgumentParser
import Glibc

/// The command-line tool.
@main
struct Opq: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "opq",
        abstract: "Runs a graph of shell commands, as many at a time as its queues are wide.",
        discussion: """
            Exit status: 0 if all operations succeeded, 1 if one failed, 2 for bad input, 130 if interrupted.
            """,
        version: "0.1.0",
        subcommands: [RunCommand.self, CheckCommand.self, FetchCommand.self])

    static func main() {
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
}

extension ExitCode {
    /// The file or the command line is at fault.
    static let badInput = ExitCode(2)
    /// The run was ended by a signal.
    static let interrupted = ExitCode(130)
}
