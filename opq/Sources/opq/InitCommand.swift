import ArgumentParser
import Glibc

/// A command that writes a first workflow file.
struct InitCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "init", abstract: "Write a first workflow, opq.yml, into the current folder.")

    private static let text = """
        # Run it: opq run        One operation with what it needs: opq run pack        Its faults: opq check
        vars: { level: 6 }

        operations:
          compress:
            each: "*.txt"             # one operation for each file
            optional: true            # no file is no error
            run: gzip -k -f -{level} {item}

          verify:
            each: "*.txt"
            optional: true
            after: compress[{item}]   # the operation for the same file
            run: gzip -t {item}.gz

          pack:
            after: verify             # the whole family
            run: |
              ls > list               # the first line that fails ends the command
              tar cf packed.tar list
        """

    func run() throws {
        for name in WorkflowArgument.defaultNames where access(name, F_OK) == 0 {
            print("opq: there is a file \(name) already", to: &standardError)
            throw ExitCode.badInput
        }
        let name = WorkflowArgument.defaultNames[0]
        let file = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o666)
        var text = Self.text + "\n"
        guard file >= 0, text.withUTF8({ writeAll(UnsafeRawBufferPointer($0), to: file) }), close(file) == 0 else {
            print("opq: cannot write \(name): \(String(cString: strerror(errno)))", to: &standardError)
            throw ExitCode.badInput
        }
        try printLine("\(name) is written: try 'opq run --list' and 'opq run'")
    }
}
