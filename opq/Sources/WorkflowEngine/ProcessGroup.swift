import Glibc

/// The processes of a command: its group, and the descendants that left the group but not the session.
struct ProcessGroup: Sendable {
    /// The time that processes get to end after the request to terminate, unless the workflow sets another.
    static let grace = Duration.seconds(2)

    /// The identifier of the group and of the session, which is the process identifier of its leader.
    let identifier: pid_t

    /// Sends a signal to all processes in the group.
    ///
    /// - Returns: Whether the group contains a process.
    @discardableResult
    func send(_ signal: Int32) -> Bool {
        Glibc.kill(-identifier, signal) == 0 || errno == EPERM
    }

    /// Sends a signal to the group, and to the other processes of the session that `table` contains.
    func sendToSession(_ signal: Int32, _ table: ProcessTable) {
        // A stopped process handles a signal only after `SIGCONT`.
        if send(signal), signal != SIGKILL, signal != SIGSTOP { send(SIGCONT) }
        for entry in table.members(of: identifier, inSession: true) where entry.group != identifier {
            ProcessTable.send(signal, to: entry)
            if signal != SIGKILL, signal != SIGSTOP { ProcessTable.send(SIGCONT, to: entry) }
        }
    }

    /// Kills all processes in the group with `SIGKILL`.
    func kill() {
        send(SIGKILL)
    }

    /// Returns whether the group contains a process that is not dead. Call this only after the leader was reaped.
    ///
    /// Signal 0 also finds zombies, and some systems take seconds to reap orphans. Therefore the method reads the states of
    /// the processes from `/proc`. If `/proc` cannot be read, the result of signal 0 decides.
    ///
    /// - Parameter inSession: Whether processes count that left the group but not the session.
    func isAlive(inSession: Bool = false, _ table: () -> ProcessTable = { ProcessTable() }) -> Bool {
        guard send(0) || inSession else { return false }
        // The system reuses the identifier for another process only when the group and the session are empty.
        var status = stat()
        if stat("/proc/\(identifier)", &status) == 0 { return false }
        let table = table()
        return table.isIncomplete && send(0) || !table.members(of: identifier, inSession: inSession).isEmpty
    }
}
