import CProcess
import Glibc
import SystemPackage

/// A running command, which leads its own session and its own process group.
///
/// A command has no terminal unless it has `terminal: true`, so opening `/dev/tty` fails. In the session of this process, the command's group would not be
/// in the foreground. `SIGTTIN` or `SIGTTOU` would then stop a command that uses the terminal, and the command would wait
/// forever.
struct CommandProcess: Sendable {
    /// The identifier of the process, of its session and of its process group.
    let identifier: pid_t
    /// A descriptor that becomes readable when the process ends. `nil` if the system cannot provide a descriptor.
    let descriptor: FileDescriptor?

    /// The standard streams of a command, and its place.
    struct Streams {
        let input, output, errors: FileDescriptor
        var place = cprocess_own_session
    }

    /// Starts the command of an operation: a program, or the operation's shell if the command needs one.
    ///
    /// All signals have their default actions and are not blocked. The process has the nice value of the calling thread.
    ///
    /// - Throws: `Shortage` if a resource is short, or `StartFailure` if the command cannot start for another reason.
    ///
    /// - Parameter makeFlags: The value of `MAKEFLAGS`. `nil` for that of this process.
    init(_ operation: PlannedOperation, _ streams: Streams, makeFlags: String? = nil) throws {
        var (identifier, descriptor): (pid_t, Int32) = (0, -1)
        var arguments = operation.arguments
        var variables = operation.variables
        if let makeFlags { variables["MAKEFLAGS"] = makeFlags }
        func start() -> Int32 {
            Self.withArguments(arguments, variables) { words, variables in
                operation.directory.withFileName {
                    cprocess_spawn(
                        &identifier, &descriptor, words[0]!, words, variables, $0, streams.input.rawValue,
                        streams.output.rawValue, streams.errors.rawValue, streams.place)
                }
            }
        }
        var error = start()
        if [ENOENT, ENOTDIR, EACCES, ENOEXEC].contains(error), operation.program == nil {
            // The shell reports the missing program, or runs a script without `#!`.
            arguments = operation.shellArguments
            error = start()
        }
        guard error == 0 else { throw Self.failure(error, of: operation, program: arguments[0]) }
        self.identifier = identifier
        if descriptor < 0 { descriptor = cprocess_open(identifier) }
        self.descriptor = descriptor < 0 ? nil : FileDescriptor(rawValue: descriptor)
    }

    /// Creates a command from a process that other code started, without a descriptor.
    init(identifier: pid_t) {
        self.identifier = identifier
        descriptor = nil
    }

    /// Adds to the nice value of the process and of its group. The command may run for a moment before that.
    func addNiceness(_ value: Int32) {
        let (process, group) = (Int32(PRIO_PROCESS.rawValue), Int32(PRIO_PGRP.rawValue))
        if value > 0 { setpriority(group, id_t(identifier), getpriority(process, 0) + value) }
    }

    /// Whether the process has ended. The system does not reuse the identifier before ``reap()``.
    var hasEnded: Bool {
        var status: Int32 = 0
        return cprocess_ended(identifier, &status) != 0
    }

    /// Releases the identifier of an ended process, and adds the process to the processor time of ended children.
    ///
    /// - Returns: How the process ended.
    func reap() -> ProcessEnd {
        defer { try? descriptor?.close() }
        var status: Int32 = 0
        switch cprocess_reap(identifier, &status) {
        case 1: return .exit(status)
        case 2: return .signal(status)
        case 0: return .unknown("the process has not ended")
        default: return .unknown(errorText(errno))
        }
    }

    private static func failure(_ error: Int32, of operation: PlannedOperation, program: String) -> any Error {
        if let shortage = Shortage(error, directory: operation.directory) { return shortage }
        // The same error number may come from the change of directory or from the start of the program.
        var status = stat()
        if operation.directory.withFileName({ stat($0, &status) }) != 0 {
            let isMissing = errno == ENOENT || errno == ENOTDIR
            return StartFailure(
                text: isMissing
                    ? "there is no directory '\(operation.directory)'"
                    : "cannot enter the directory '\(operation.directory)': \(errorText(errno))")
        }
        if status.st_mode & S_IFMT != S_IFDIR { return StartFailure(text: "'\(operation.directory)' is no directory") }
        if operation.directory.withFileName({ access($0, X_OK) }) != 0 {
            return StartFailure(text: "cannot enter the directory '\(operation.directory)': \(errorText(errno))")
        }
        return StartFailure(text: "\(program): \(errorText(error))")
    }

    /// Calls `body` with the arguments and the environment in the form that the system requires.
    ///
    /// The variables of this process are passed by pointer. Copying hundreds of variables for each command would cost more
    /// than the rest of a start. No code in this process changes the variables.
    private static func withArguments<Result>(
        _ arguments: [String], _ additional: [String: String],
        _ body: ([UnsafeMutablePointer<CChar>?], [UnsafeMutablePointer<CChar>?]) -> Result
    ) -> Result {
        let own = arguments.map { $0.withFileName { strdup($0) } }
        let added = additional.map { "\($0)=\($1)".withFileName { strdup($0) } }
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

/// The way in which a process ended.
public enum ProcessEnd: Equatable, Sendable {
    /// The process exited with the given status.
    case exit(Int32)
    /// A signal with the given number ended the process.
    case signal(Int32)
    /// The system cannot report the end of the process, for the given reason.
    case unknown(String)
}
