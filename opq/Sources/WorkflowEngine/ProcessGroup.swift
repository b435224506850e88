import Glibc

/// The process group of a command: the command and the descendants that did not leave the group.
struct ProcessGroup: Sendable {
    /// The time that processes get to end after the request to terminate.
    static let grace = Duration.seconds(2)

    /// The identifier of the group, which is the process identifier of its leader.
    let identifier: pid_t

    /// Sends a signal to all processes in the group.
    ///
    /// - Returns: Whether the group contains a process.
    @discardableResult
    func send(_ signal: Int32) -> Bool {
        Glibc.kill(-identifier, signal) == 0 || errno == EPERM
    }

    /// Kills all processes in the group with `SIGKILL`.
    func kill() {
        send(SIGKILL)
    }

    /// Whether the group contains a process that is not dead. Call this only after the leader was reaped.
    ///
    /// Signal 0 also finds zombies, and some systems take seconds to reap orphans. Therefore the property reads the states of
    /// the processes from `/proc`. If `/proc` cannot be read, the result of signal 0 decides.
    var isAlive: Bool {
        guard send(0) else { return false }
        // The system reuses the identifier for another process only when the group is empty.
        var status = stat()
        if stat("/proc/\(identifier)", &status) == 0 { return false }
        guard let processes = opendir("/proc") else { return true }
        defer { closedir(processes) }
        while let entry = readdir(processes) {
            guard let first = entry.pointee.fileName.utf8.first, (0x30...0x39).contains(first),
                let state = state(of: entry.pointee.fileName)
            else { continue }
            if state.group == identifier, !state.isDead { return true }
        }
        return false
    }

    private func state(of process: String) -> (group: pid_t, isDead: Bool)? {
        let file = open("/proc/\(process)/stat", O_RDONLY | O_CLOEXEC)
        // An ended process has no file. If no descriptor is free, the process counts as a member of the group.
        guard file >= 0 else { return errno == EMFILE || errno == ENFILE ? (identifier, false) : nil }
        defer { close(file) }
        let line = [UInt8](unsafeUninitializedCapacity: 512) { buffer, count in
            count = max(read(file, buffer.baseAddress, buffer.count), 0)
        }
        // The fields after the command's name are state, parent and group. The name may contain any character.
        let text = String(decoding: line, as: UTF8.self)
        let fields = text.split(separator: ")").last?.split(separator: " ") ?? []
        guard fields.count > 2, let group = pid_t(fields[2]) else { return nil }
        return (group, fields[0] == "Z" || fields[0] == "X")
    }
}
