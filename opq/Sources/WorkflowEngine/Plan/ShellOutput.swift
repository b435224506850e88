import Glibc

/// The output of a shell command that ran while the plan was made.
enum ShellOutput {
    /// An error number of the system.
    struct SystemError: Error {
        let code: CInt
    }

    /// Runs a text by `/bin/sh`, and returns its wait status and its standard output. Blocks until the shell has ended.
    ///
    /// A process that the shell leaves behind may hold the pipe open, so the end of the shell and not that of the pipe counts.
    /// The function kills a shell that prints more than `limit` bytes, and returns somewhat more than these.
    static func run(_ text: String, limit: Int) -> Result<(status: Int32, bytes: [UInt8]), SystemError> {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { return .failure(SystemError(code: errno)) }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        defer { close(ends[0]) }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO)
        var process = pid_t()
        let code = text.withFileName { text in
            var arguments = [strdup("sh"), strdup("-c"), strdup(text), nil]
            defer { for argument in arguments { free(argument) } }
            return posix_spawn(&process, "/bin/sh", &actions, nil, &arguments, environ)
        }
        close(ends[1])
        guard code == 0 else { return .failure(SystemError(code: code)) }
        _ = fcntl(ends[0], F_SETFL, O_NONBLOCK)
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 64 * 1024)
        var status: Int32 = 0
        var hasEnded = false
        var isOpen = true
        while true {
            // The end is asked for before the last read, so that no output before the end is lost.
            if !hasEnded { hasEnded = waitpid(process, &status, isOpen ? WNOHANG : 0) == process }
            while isOpen, bytes.count <= limit {
                let count = read(ends[0], &chunk, chunk.count)
                if count < 0, errno == EINTR { continue }
                if count == 0 { isOpen = false }
                guard count > 0 else { break }
                bytes += chunk[..<count]
            }
            if hasEnded { return .success((status, bytes)) }
            if bytes.count > limit {
                kill(process, SIGKILL)
                isOpen = false
            }
            var ready = pollfd(fd: ends[0], events: Int16(POLLIN), revents: 0)
            if isOpen { poll(&ready, 1, 5) }
        }
    }
}
