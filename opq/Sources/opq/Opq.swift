import Arguments
import Glibc
import WorkflowEngine

/// The command-line tool.
@main
enum Opq {
    private static var program: CommandProgram {
        CommandProgram(
            "opq", version: "0.1.0", "Run a graph of shell commands on queues with concurrency limits.",
            discussion: """
                Exit status: 0 if all operations succeeded; 1 if one failed or the output could not be written; 2 for bad \
                input, if nothing can be run, or if a report or trace could not be written. If several apply, 1 wins over \
                2. A signal that ends the run also ends opq, which a shell shows as 130 for Ctrl-C and 143 for SIGTERM.
                """,
            commands: [
                RunCommand.self, ResumeCommand.self, CheckCommand.self, HistoryCommand.self, ShowCommand.self,
                LogCommand.self, GraphCommand.self, InitCommand.self, SchemaCommand.self, FetchCommand.self,
            ])
    }

    static func main() {
        openStandardStreams()
        do {
            switch program.reaction(to: Array(arguments.dropFirst()), exists: { access($0, F_OK) == 0 }) {
            case .run(let command): try command.run()
            case .print(let text): try printLine(text)
            case .refuse(let text):
                print(text.visibleLines, to: &standardError)
                exit(ExitCode.badInput.rawValue)
            }
        } catch let code as ExitCode {
            exit(code.rawValue)
        } catch {
            print("opq: \(error)".visible, to: &standardError)
            exit(ExitCode.failure.rawValue)
        }
    }

    /// The words of the command line. Bytes that are not UTF-8 are kept, because they may be in the name of an operation.
    private static var arguments: [String] {
        (0..<Int(CommandLine.argc)).compactMap { index in
            CommandLine.unsafeArgv[index].map { word in
                String(fileName: UnsafeRawBufferPointer(start: word, count: strlen(word)))
            }
        }
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
