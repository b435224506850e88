import ArgumentParser
import DurableTool
import Foundation

/// The command that shows and changes durable stores.
@main
struct Durable: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "durable",
        abstract: "Show and change a store of durable operations.",
        discussion: """
            The store is the path of a file of SQLite, or an address of PostgreSQL. Other users of the machine can see a password in \
            an argument: put it into the file of PGPASSFILE, or name a service with PGSERVICE.

            Exit status: 0 if something was found or changed; 1 if nothing was found, or a change was refused; 2 for wrong use; \
            3 if the store cannot be used; 4 if the output cannot be written.
            """,
        version: "0.1.0",
        subcommands: [
            List.self, Show.self, Explain.self, Retry.self, Cancel.self, Discard.self, Move.self, Delete.self,
            Prioritize.self, Queues.self, Suspend.self, Resume.self, Limits.self, Schedules.self, Workers.self,
            Stats.self, Check.self, Compact.self, Backup.self, Serve.self,
        ])

    @OptionGroup var store: StoreOptions

    static func main() async {
        openStandardStreams()
        do {
            var command = try parseAsRoot()
            if var asynchronous = command as? any AsyncParsableCommand {
                try await asynchronous.run()
            } else {
                try command.run()
            }
        } catch let failure as Failure {
            printError(failure.description)
            Foundation.exit(failure.status.rawValue)
        } catch let status as ExitCode {
            Foundation.exit(status.rawValue)
        } catch {
            // The argument parser exits with 64 on wrong usage.
            guard exitCode(for: error) == .validationFailure else { exit(withError: error) }
            printError(StoreAddress.masked(fullMessage(for: error), arguments: CommandLine.arguments))
            Foundation.exit(ExitStatus.wrongUse.rawValue)
        }
    }

    /// Opens the first three descriptors if they are closed. Otherwise the connection to a server could become the standard output.
    ///
    /// A closed standard input is opened for writing only, and closed outputs for reading only, so their use still fails.
    private static func openStandardStreams() {
        for descriptor in [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO] where fcntl(descriptor, F_GETFD) < 0 {
            // `open` returns the lowest free descriptor, which is this one.
            _ = open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY)
        }
    }
}

/// Prints a line to the standard error.
func printError(_ text: String) { FileHandle.standardError.write(Data("\(text)\n".utf8)) }
