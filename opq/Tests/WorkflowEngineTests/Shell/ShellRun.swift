import Glibc
import SystemPackage

@testable import WorkflowEngine

/// A runner of commands by a shell, in a temporary directory.
struct ShellRun {
    /// Two shells that read some commands differently. `sh` replaces a missing shell.
    static let shells: [String] = ["/bin/dash", "/bin/bash"].map { (path: String) in
        access(path, X_OK) == 0 ? path : "/bin/sh"
    }

    let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    /// Returns the output of a command. A command that runs for ten seconds is killed.
    func output(of command: String, _ item: Item, by shell: String) throws -> String {
        let operation = PlannedOperation(
            name: "x", command: command, program: [shell, "-c", command], directory: directory.path, item: item,
            queue: "q")
        var ends: [Int32] = [-1, -1]
        pipe(&ends)
        let null = FileDescriptor(rawValue: open("/dev/null", O_RDONLY))
        let output = FileDescriptor(rawValue: ends[1])
        let process = try CommandProcess(
            operation, CommandProcess.Streams(input: null, output: output, errors: output))
        let limit = ContinuousClock.now + .seconds(10)
        while !process.hasEnded {
            var ready = pollfd(fd: process.descriptor?.rawValue ?? -1, events: Int16(POLLIN), revents: 0)
            poll(&ready, 1, 10)
            if ContinuousClock.now > limit { ProcessGroup(identifier: process.identifier).kill() }
        }
        _ = process.reap()
        let spool = SpoolDirectory().makeSpool()
        _ = fcntl(ends[0], F_SETFL, O_NONBLOCK)
        var chunk = [UInt8](repeating: 0, count: 64 * 1024)
        while case let count = read(ends[0], &chunk, chunk.count), count > 0 {
            chunk[..<count].withUnsafeBytes { spool.append($0) }
        }
        for descriptor in [ends[0], ends[1], null.rawValue] { close(descriptor) }
        return String(decoding: try spool.tail(byteCount: 10_000), as: UTF8.self)
    }

    /// Deletes a file, and returns whether the file existed.
    func removes(_ file: String) -> Bool { unlink(directory.path + "/" + file) == 0 }
}
