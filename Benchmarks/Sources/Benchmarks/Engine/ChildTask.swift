import Glibc

/// A measurement in a child process. The program runs itself again and reads a figure from the output.
///
/// The command line has the form `row/line/contender`.
struct ChildTask: RawRepresentable {
    let row: Int
    let line: Int
    let contender: Contender

    init(row: Int, line: Int, contender: Contender) {
        self.row = row
        self.line = line
        self.contender = contender
    }

    init?(rawValue: String) {
        let parts = rawValue.split(separator: "/").map(String.init)
        guard parts.count == 3, let row = Int(parts[0]), let line = Int(parts[1]),
            let contender = Contender(rawValue: parts[2])
        else { return nil }
        self.init(row: row, line: line, contender: contender)
    }

    var rawValue: String { "\(row)/\(line)/\(contender.rawValue)" }

    // MARK: - In the child process

    /// Measures and prints the figure, then releases the leftovers, because the release may crash too.
    func perform(at scale: Scale) {
        guard let row = Row.all(scale).first(where: { $0.number == row }), row.lines.indices.contains(line),
            let entry = row.lines[line].entries.first(where: { $0.contender == contender })
        else { return }
        let sample = entry.measure()
        print(sample.figure)
        fflush(nil)
    }

    // MARK: - In the parent process

    func run(at scale: Scale) -> Outcome {
        var ends: [Int32] = [0, 0]
        guard pipe(&ends) == 0 else { return Outcome() }
        defer { close(ends[0]) }
        let process = spawn(arguments(at: scale), output: ends[1])
        close(ends[1])
        guard let process else { return Outcome() }
        let text = readAll(ends[0])
        var status: Int32 = 0
        while waitpid(process, &status, 0) < 0, errno == EINTR {}
        let figure = text.split(separator: "\n").first.flatMap { Double($0) }
        return Outcome(figure: figure, crashed: status != 0)
    }

    private func arguments(at scale: Scale) -> [String] {
        ["Benchmarks", "--child", rawValue] + (scale == .quick ? ["--quick"] : [])
    }

    private func spawn(_ arguments: [String], output: Int32) -> pid_t? {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO)
        // A crash would print a page of backtrace for each repetition.
        posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0)
        var pointers = arguments.map { strdup($0) } + [nil]
        defer { for pointer in pointers { free(pointer) } }
        var process = pid_t()
        let result = posix_spawn(&process, "/proc/self/exe", &actions, nil, &pointers, environ)
        return result == 0 ? process : nil
    }

    private func readAll(_ file: Int32) -> String {
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 256)
        while case let count = read(file, &chunk, chunk.count), count > 0 { bytes += chunk[..<count] }
        return String(decoding: bytes, as: UTF8.self)
    }
}
