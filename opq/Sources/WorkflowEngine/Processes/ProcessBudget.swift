import Glibc

/// The number of commands that may run at the same time under the user's limit of processes.
struct ProcessBudget: Equatable {
    /// The assumed number of processes for a command: its shell, and two for a pipe.
    static let perCommand = 3

    /// The number of commands. The number is at least one, because a new process may succeed even near the limit.
    let commands: Int

    /// Creates the budget for a limit. The user already has `inUse` processes and threads, and this process will start
    /// `threads` more.
    init(limit: Int, inUse: Int, threads: Int) {
        commands = max((limit - inUse - threads) / Self.perCommand, 1)
    }

    /// Returns the current budget of this process. `nil` if the limit does not restrict `commands` concurrent commands.
    ///
    /// Without the budget, shells could use all processes, and no shell could start its command.
    static func ofThisProcess(for commands: Int, threads: Int) -> ProcessBudget? {
        var limits = rlimit()
        // Root has no limit. Swift has no name for RLIMIT_NPROC.
        guard geteuid() != 0, getrlimit(__rlimit_resource_t(6), &limits) == 0, limits.rlim_cur < rlim_t(Int32.max)
        else { return nil }
        let inUse = threadsOfUser
        let limit = Int(limits.rlim_cur)
        guard inUse + threads + commands * perCommand > limit else { return nil }
        return ProcessBudget(limit: limit, inUse: inUse, threads: threads)
    }

    /// The number of all threads of this user, to which the limit applies.
    private static var threadsOfUser: Int {
        guard let processes = opendir("/proc") else { return 0 }
        defer { closedir(processes) }
        var count = 0
        var status = stat()
        while let entry = readdir(processes) {
            // The link count of `task` is 2 plus the number of its subdirectories, one for each thread.
            guard stat("/proc/\(entry.pointee.fileName)/task", &status) == 0, status.st_uid == getuid() else {
                continue
            }
            count += max(Int(status.st_nlink) - 2, 1)
        }
        return count
    }
}
