import CProcess
import Glibc

/// The number of commands that may run at the same time under the limits of processes and threads.
struct ProcessBudget: Equatable {
    /// The assumed number of processes for a command: its shell, and two for a pipe.
    static let perCommand = 3

    /// The number of commands. The number is at least one, because a new process may succeed even near the limit.
    let commands: Int

    /// Creates the budget for the largest number of commands whose processes and threads fit into `free`.
    ///
    /// A queue may have a thread for each operation that starts, so the threads of the queues count as well.
    ///
    /// - Parameters:
    ///   - free: The number of processes and threads that may still start.
    ///   - threads: The number of threads that this process will start beside those of the queues.
    ///   - limits: The concurrency limits of the queues.
    ///   - most: The number of commands that the budget never exceeds.
    init(free: Int, threads: Int, limits: [Int], most: Int) {
        func fits(_ commands: Int) -> Bool {
            let ofQueues = limits.reduce(0) { $0 + min($1, commands) }
            return threads + ofQueues + commands * Self.perCommand <= free
        }
        // The need grows with the number of commands, so a binary search finds the largest number.
        var (lower, upper) = (1, max(min(most, max(free, 1)), 1))
        while lower < upper {
            let middle = (lower + upper + 1) / 2
            if fits(middle) { lower = middle } else { upper = middle - 1 }
        }
        commands = lower
    }

    /// Returns the current budget of this process. `nil` if no limit exists.
    ///
    /// Without the budget, shells could use all processes, and no shell could start its command.
    static func ofThisProcess(threads: Int, limits: [Int], most: Int) -> ProcessBudget? {
        let free = [freeOfUser, ControlGroups.current.freeProcesses].compactMap(\.self).min()
        return free.map { ProcessBudget(free: $0, threads: threads, limits: limits, most: most) }
    }

    /// The number of threads that the user may still start. `nil` without a limit.
    private static var freeOfUser: Int? {
        var limits = rlimit()
        // Root has no limit. Swift has no name for RLIMIT_NPROC.
        guard geteuid() != 0, getrlimit(__rlimit_resource_t(6), &limits) == 0, limits.rlim_cur < rlim_t(Int32.max)
        else { return nil }
        return max(Int(limits.rlim_cur) - threadsOfUser, 0)
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
