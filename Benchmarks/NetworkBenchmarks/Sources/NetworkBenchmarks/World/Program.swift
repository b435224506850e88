import Glibc

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import struct Foundation.Data
import class Foundation.FileManager
#endif

/// Another program, which runs as a separate process.
struct Program: Sendable {
    let path: String

    /// Finds a program by name; nil if it is not installed.
    init?(_ name: String) {
        let folders = (getenv("PATH").map { String(cString: $0) } ?? "").split(separator: ":").map(String.init)
        // Not every search path contains the folder of daemons.
        let paths = (folders + ["/usr/sbin", "/usr/local/sbin"]).map { "\($0)/\(name)" }
        guard let path = paths.first(where: { access($0, X_OK) == 0 }) else { return nil }
        self.path = path
    }

    private init(path: String) { self.path = path }

    /// The running program itself.
    static let own = Program(path: "/proc/self/exe")

    struct Run {
        /// The time from start to end.
        let sample: Sample
        /// The peak of resident memory in MiB.
        let peak: Double
    }

    /// Runs the program to its end. Blocks the thread.
    ///
    /// - Parameter output: The file for the standard output. Errors go to the same name with the suffix `.errors`.
    /// - Throws: `ProgramFailed`.
    @discardableResult
    func run(_ arguments: [String], output: String) throws -> Run {
        let start = ContinuousClock.now
        let process = try launch(arguments, output: output)
        var (status, usage) = (Int32(0), rusage())
        while wait4(process, &status, 0, &usage) < 0 {
            guard errno == EINTR else { throw ProgramFailed(path: path, status: -1, message: "it is lost") }
        }
        let time = start.duration(to: .now)
        guard status == 0 else {
            let data = FileManager.default.contents(atPath: output + ".errors") ?? Data()
            throw ProgramFailed(path: path, status: status, message: String(decoding: data.prefix(500), as: UTF8.self))
        }
        let processorTime = [usage.ru_utime, usage.ru_stime].reduce(Duration.zero) { sum, part in
            sum + .seconds(part.tv_sec) + .microseconds(part.tv_usec)
        }
        return Run(
            sample: [.time: time.milliseconds, .processorTime: processorTime.milliseconds],
            peak: Double(usage.ru_maxrss) / 1024)
    }

    private func launch(_ arguments: [String], output: String) throws -> pid_t {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
        let flags = O_WRONLY | O_CREAT | O_TRUNC
        posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, output, flags, 0o600)
        posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, output + ".errors", flags, 0o600)
        return try spawn(arguments, &actions)
    }

    func spawn(_ arguments: [String], _ actions: inout posix_spawn_file_actions_t) throws -> pid_t {
        var pointers = ([path] + arguments).map { strdup($0) } + [nil]
        defer { for pointer in pointers { free(pointer) } }
        // Pool threads block most signals, and a child inherits the blocked signals. The program would wait forever for its own
        // children.
        var (attributes, none) = (posix_spawnattr_t(), sigset_t())
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        sigemptyset(&none)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
        var process = pid_t()
        let result = posix_spawn(&process, path, &actions, &attributes, &pointers, environ)
        guard result == 0 else {
            throw ProgramFailed(path: path, status: result, message: String(cString: strerror(result)))
        }
        return process
    }
}

/// An error for a program that did not start or that failed.
struct ProgramFailed: Error, CustomStringConvertible {
    let path: String
    let status: Int32
    let message: String

    var description: String { "\(path) ended with \(status): \(message)" }
}
