import Glibc

/// The program, run again in a process of its own.
struct ChildProcess {
    let arguments: [String]
    /// Whether the messages of the child are discarded. A crash prints a page of backtrace.
    let isSilent: Bool

    init(_ arguments: [String], at scale: Scale, isSilent: Bool = false) {
        self.arguments = ["Benchmarks"] + arguments + (scale == .quick ? ["--quick"] : [])
        self.isSilent = isSilent
    }

    /// Runs the child to its end. Returns its output; nil if it could not be started.
    func run() -> (output: String, hasCrashed: Bool)? {
        var ends: [Int32] = [0, 0]
        guard pipe(&ends) == 0 else { return nil }
        defer { close(ends[0]) }
        let process = spawn(output: ends[1])
        close(ends[1])
        guard let process else { return nil }
        let output = readAll(ends[0])
        var status: Int32 = 0
        while waitpid(process, &status, 0) < 0, errno == EINTR {}
        return (output, status != 0)
    }

    private func spawn(output: Int32) -> pid_t? {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO)
        if isSilent { posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0) }
        var pointers = arguments.map { strdup($0) } + [nil]
        defer { for pointer in pointers { free(pointer) } }
        var process = pid_t()
        let result = posix_spawn(&process, "/proc/self/exe", &actions, nil, &pointers, environ)
        return result == 0 ? process : nil
    }

    private func readAll(_ file: Int32) -> String {
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 4_096)
        while case let count = read(file, &chunk, chunk.count), count > 0 { bytes += chunk[..<count] }
        return String(decoding: bytes, as: UTF8.self)
    }
}
