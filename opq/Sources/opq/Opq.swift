import ArgumentParser
import Glibc
import WorkflowEngine

/// The command-line tool.
@main
struct Opq: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "opq",
        abstract: "Run a graph of shell commands on queues with concurrency limits.",
        discussion: """
            Exit status: 0 if all operations succeeded; 1 if one failed or the output could not be written; 2 for bad input, \
            if nothing can be run, or if a report or trace could not be written. If several apply, 1 wins over 2. A signal that \
            ends the run also ends opq, which a shell shows as 130 for Ctrl-C and 143 for SIGTERM.
            """,
        version: "0.1.0",
        subcommands: [
            RunCommand.self, ResumeCommand.self, CheckCommand.self, HistoryCommand.self, ShowCommand.self,
            LogCommand.self,
            GraphCommand.self, InitCommand.self, SchemaCommand.self, FetchCommand.self,
        ])

    static func main() {
        openStandardStreams()
        let words = arguments
        if let option = words.prefix(while: { $0 != "--" }).first(where: \.isOptionWithoutValue) {
            print("opq: \(option) has no value".visible, to: &standardError)
            Glibc.exit(ExitCode.badInput.rawValue)
        }
        if let mistake = mistakenSubcommand(words.dropFirst().first ?? "") {
            print(mistake, to: &standardError)
            Glibc.exit(ExitCode.badInput.rawValue)
        }
        do {
            var command = try parsed(PageOption.withPort(words.dropFirst())[...])
            try command.run()
        } catch {
            let code = exitCode(for: error)
            // The argument parser exits with 64 on wrong usage, but opq documents status 2.
            guard code == .validationFailure else { exit(withError: error) }
            print(fullMessage(for: error), to: &standardError)
            Glibc.exit(ExitCode.badInput.rawValue)
        }
    }

    /// Returns the command of the words. The parser of one subcommand needs less time than the parser of all, which has the
    /// messages about mistakes.
    private static func parsed(_ words: ArraySlice<String>) throws -> any ParsableCommand {
        let frequent: [any ParsableCommand.Type] = [RunCommand.self, CheckCommand.self]
        if let type = frequent.first(where: { $0.configuration.commandName == words.first }),
            let command = try? type.parseAsRoot(Array(words.dropFirst())), Swift.type(of: command) == type
        {
            return command
        }
        return try parseAsRoot(Array(words))
    }

    /// The words of the command line. Bytes that are not UTF-8 are kept, because they may be in the name of an operation.
    private static var arguments: [String] {
        (0..<Int(CommandLine.argc)).compactMap { index in
            CommandLine.unsafeArgv[index].map { word in
                String(fileName: UnsafeRawBufferPointer(start: word, count: strlen(word)))
            }
        }
    }

    /// Returns the message for a first argument that is neither a subcommand nor an option. The argument parser's own message
    /// does not contain the argument.
    private static func mistakenSubcommand(_ name: String) -> String? {
        let names = configuration.subcommands.compactMap { $0.configuration.commandName }
        guard !name.isEmpty, !name.hasPrefix("-"), !names.contains(name), name != "help" else { return nil }
        let remedy = access(name, F_OK) == 0 ? "did you mean 'opq run \(name)'?" : suggestion(for: name, among: names)
        return "opq: unknown subcommand '\(name)'\(remedy.map { "; \($0)" } ?? "")".visible
    }

    /// Opens the first three descriptors if they are closed. Otherwise a file opened later could become the standard output.
    ///
    /// A closed standard input is opened for writing only, and closed outputs for reading only, so their use still fails.
    private static func openStandardStreams() {
        for descriptor in [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO] where fcntl(descriptor, F_GETFD) < 0 {
            // `open` returns the lowest free descriptor, which is this one.
            _ = open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY)
        }
    }
}

extension ExitCode {
    /// The exit status for an error in the file or in the command line, or for too few system resources.
    static let badInput = ExitCode(2)
    /// The exit status of a fetch that a signal interrupted.
    static let interrupted = ExitCode(130)
}

extension String {
    /// Whether the argument is an option that ends in `=`. The argument parser would take it for an empty value.
    fileprivate var isOptionWithoutValue: Bool {
        hasPrefix("--") && hasSuffix("=") && firstIndex(of: "=") == index(before: endIndex)
    }
}
