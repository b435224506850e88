import CProcess
import Glibc
import SystemPackage

/// A running shell command: the leader of a session, and so of a process group, of its own.
///
/// A command has no terminal. One that opens `/dev/tty` gets an error; in the session of this process it would be stopped
/// by `SIGTTIN` or `SIGTTOU`, since its group is not in the foreground, and would wait for ever.
struct CommandProcess: Sendable {
    /// The identifier of the process, of its session and of its group.
    let identifier: pid_t
    /// Becomes readable when the process ends; `nil` where the system has none to give.
    let descriptor: FileDescriptor?

    /// Starts `/bin/sh -c` with the command of an operation.
    ///
    /// Standard input is empty; standard output and standard error are the spool. The process has all signals at their
    /// default actions, none blocked, and the nice value of the calling thread.
    ///
    /// - Throws: `Shortage` or `StartFailure`.
    init(_ operation: PlannedOperation, output: FileDescriptor, shell: String = "/bin/sh") throws {
        var identifier: pid_t = 0
        let error = Self.withArguments([shell, "-c", operation.command], operation.variables) { arguments, variables in
            cprocess_spawn(&identifier, shell, arguments, variables, operation.directory, output.rawValue)
        }
        guard error == 0 else { throw Self.failure(error, of: operation, shell: shell) }
        self.identifier = identifier
        let descriptor = cprocess_open(identifier)
        self.descriptor = descriptor < 0 ? nil : FileDescriptor(rawValue: descriptor)
    }

    /// A process that was started elsewhere, without a descriptor.
    init(identifier: pid_t) {
        self.identifier = identifier
        descriptor = nil
    }

    /// How the process ended, once it has. It keeps its identifier until ``reap()``.
    func end() -> ProcessEnd? {
        var status: Int32 = 0
        switch cprocess_ended(identifier, &status) {
        case 0: return nil
        case 1: return .exit(status)
        case 2: return .signal(status)
        default: return .unknown(errorText(errno))
        }
    }

    /// Releases the identifier of the process, which has ended. Its processor time counts from now on.
    func reap() {
        var status: Int32 = 0
        while waitpid(identifier, &status, WNOHANG) < 0, errno == EINTR {}
        try? descriptor?.close()
    }

    private static func failure(_ error: Int32, of operation: PlannedOperation, shell: String) -> any Error {
        if let shortage = Shortage(error, directory: operation.directory) { return shortage }
        // The one number stands for the change of directory and for the start of the shell.
        var status = stat()
        if stat(operation.directory, &status) != 0 {
            let isMissing = errno == ENOENT || errno == ENOTDIR
            return StartFailure(
                text: isMissing
                    ? "there is no directory '\(operation.directory)'"
                    : "cannot enter the directory '\(operation.directory)': \(errorText(errno))")
        }
        if status.st_mode & S_IFMT != S_IFDIR { return StartFailure(text: "'\(operation.directory)' is no directory") }
        if access(operation.directory, X_OK) != 0 {
            return StartFailure(text: "cannot enter the directory '\(operation.directory)': \(errorText(errno))")
        }
        return StartFailure(text: "\(shell): \(errorText(error))")
    }

    /// Calls `body` with arguments and environment as `posix_spawn` takes them.
    ///
    /// The variables of this process are passed on where they are: a copy of some hundred for each command costs more than
    /// the rest of a start. Nothing in this process changes them.
    private static func withArguments<Result>(
        _ arguments: [String], _ additional: [String: String],
        _ body: ([UnsafeMutablePointer<CChar>?], [UnsafeMutablePointer<CChar>?]) -> Result
    ) -> Result {
        let own = arguments.map { strdup($0) }
        let added = additional.map { strdup("\($0)=\($1)") }
        defer { for pointer in own + added { free(pointer) } }
        var variables: [UnsafeMutablePointer<CChar>?] = []
        var next = environ
        while let variable = next.pointee {
            if additional.isEmpty || additional[Self.name(of: variable)] == nil { variables.append(variable) }
            next += 1
        }
        return body(own + [nil], variables + added + [nil])
    }

    private static func name(of variable: UnsafeMutablePointer<CChar>) -> String {
        let length = strchr(variable, Int32(UInt8(ascii: "="))).map { $0 - variable } ?? 0
        return variable.withMemoryRebound(to: UInt8.self, capacity: length) {
            String(decoding: UnsafeBufferPointer(start: $0, count: length), as: UTF8.self)
        }
    }
}

/// How a process ended.
public enum ProcessEnd: Equatable, Sendable {
    /// It exited with that status.
    case exit(Int32)
    /// It was ended by the signal of that number.
    case signal(Int32)
    /// The system does not know the process, for the reason given.
    case unknown(String)
}
