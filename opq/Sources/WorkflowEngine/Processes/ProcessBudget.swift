import Glibc

/// How many commands may run at a time with the processes that the user may have.
struct ProcessBudget: Equatable {
    /// What a command is taken to need: its shell, and two more for a pipe.
    static let perCommand = 3

    /// The number of commands; at least one, for a user whose processes are many may still start another.
    let commands: Int

    /// The budget under a limit, when the user has so many processes and threads, and this process starts so many more.
    init(limit: Int, inUse: Int, threads: Int) {
        commands = max((limit - inUse - threads) / Self.perCommand, 1)
    }

    /// The budget of this process now; `nil` if the limit is none to so many commands.
    ///
    /// Without it, the shells would take all there is, and none could start what its command names.
    static func ofThisProcess(for commands: Int, threads: Int) -> ProcessBudget? {
        var limits = rlimit()
        // The limit is no matter to root. RLIMIT_NPROC has no name in Swift.
        guard geteuid() != 0, getrlimit(__rlimit_resource_t(6), &limits) == 0, limits.rlim_cur < rlim_t(Int32.max)
        else { return nil }
        let inUse = threadsOfUser
        let limit = Int(limits.rlim_cur)
        guard inUse + threads + commands * perCommand > limit else { return nil }
        return ProcessBudget(limit: limit, inUse: inUse, threads: threads)
    }

    /// All threads of this user, of which the limit is one.
    private static var threadsOfUser: Int {
        guard let processes = opendir("/proc") else { return 0 }
        defer { closedir(processes) }
        var count = 0
        var status = stat()
        while let entry = readdir(processes) {
            // A directory has a link for itself, for its name, and for each directory in it: here, for each thread.
            guard stat("/proc/\(entry.pointee.fileName)/task", &status) == 0, status.st_uid == getuid() else {
                continue
            }
            count += max(Int(status.st_nlink) - 2, 1)
        }
        return count
    }
}
