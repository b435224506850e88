import Glibc

/// The process group that a command leads, with all that the command started and that did not leave it.
struct ProcessGroup: Sendable {
    /// How long processes may take to end after they have been asked to.
    static let grace = Duration.seconds(2)

    /// The identifier of the group, which is that of its leader.
    let identifier: pid_t

    /// Sends a signal to all processes in the group.
    ///
    /// - Returns: Whether there was any.
    @discardableResult
    func send(_ signal: Int32) -> Bool {
        Glibc.kill(-identifier, signal) == 0
    }

    /// Ends all processes in the group at once.
    func kill() {
        send(SIGKILL)
    }

    /// Ends what is left in the group after its leader: by `SIGTERM`, and from `deadline` on by `SIGKILL`.
    func end(by deadline: ContinuousClock.Instant) async {
        guard send(SIGTERM) else { return }
        let clock = ContinuousClock()
        // The identifier is not given to another group while one process is left in this one.
        while isAlive {
            if clock.now >= deadline {
                kill()
                return
            }
            // Detached, or it would not sleep at all: it is in a cancelled task that this is called.
            await Task.detached { try? await clock.sleep(for: .milliseconds(10)) }.value
        }
    }

    /// Whether a process in the group runs or could run.
    ///
    /// To a signal, the dead whom their parent has not yet buried are in the group as well, and some systems
    /// take seconds to bury orphans.
    private var isAlive: Bool {
        guard send(0), let processes = opendir("/proc") else { return false }
        defer { closedir(processes) }
        while let entry = readdir(processes) {
            guard let file = fopen("/proc/\(entry.pointee.fileName)/stat", "r") else { continue }
            defer { fclose(file) }
            var line = [UInt8](repeating: 0, count: 512)
            let length = fread(&line, 1, line.count, file)
            // What follows the name of the command, which may hold anything, is its state, parent and group.
            let text = String(decoding: line[..<length], as: UTF8.self)
            let fields = text.split(separator: ")").last?.split(separator: " ") ?? []
            if fields.count > 2, fields[2] == "\(identifier)", !["Z", "X"].contains(fields[0]) { return true }
        }
        return false
    }
}
