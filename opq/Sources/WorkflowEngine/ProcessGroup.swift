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
        Glibc.kill(-identifier, signal) == 0 || errno == EPERM
    }

    /// Ends all processes in the group at once.
    func kill() {
        send(SIGKILL)
    }

    /// Whether a process in the group runs or could run. The leader has been reaped.
    ///
    /// A signal also finds zombies, and some systems take seconds to reap orphans. So the states of the processes are read.
    /// Where they cannot be read, the signal decides.
    var isAlive: Bool {
        guard send(0) else { return false }
        // The system gives the identifier to another process only when nothing of the group is left.
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
        // A process that is gone has no file. What cannot be read for want of a descriptor is taken for one of the group.
        guard file >= 0 else { return errno == EMFILE || errno == ENFILE ? (identifier, false) : nil }
        defer { close(file) }
        let line = [UInt8](unsafeUninitializedCapacity: 512) { buffer, count in
            count = max(read(file, buffer.baseAddress, buffer.count), 0)
        }
        // What follows the name of the command, which may hold anything, is its state, parent and group.
        let text = String(decoding: line, as: UTF8.self)
        let fields = text.split(separator: ")").last?.split(separator: " ") ?? []
        guard fields.count > 2, let group = pid_t(fields[2]) else { return nil }
        return (group, fields[0] == "Z" || fields[0] == "X")
    }
}
