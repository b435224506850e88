import Glibc

/// The number of commands that may run at the same time under the limit of open descriptors.
struct DescriptorBudget: Equatable {
    /// The number of descriptors for a running command: the pipe and the file of its output, and one that reports its end.
    static let perCommand = 3
    /// The number of descriptors for other uses: two to look for processes, one in a starting child, two to write files, and
    /// a reserve.
    static let reserve = 8

    /// The number of commands.
    let commands: Int
    /// The smallest limit that allows one command.
    let leastLimit: Int

    /// Creates the budget for a limit, of which `open` descriptors are already in use.
    init(limit: Int, open: Int) {
        commands = max(limit - open - Self.reserve, 0) / Self.perCommand
        leastLimit = open + Self.reserve + Self.perCommand
    }

    /// Returns the current budget of this process, after raising the soft limit.
    ///
    /// The soft limit is raised as far as `commands` concurrent commands need and the hard limit allows. Commands inherit the
    /// limit. A larger limit could mislead programs that use the limit as the number of their descriptors.
    static func ofThisProcess(for commands: Int) -> DescriptorBudget {
        let open = openCount
        var limits = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limits) == 0 else {
            return DescriptorBudget(limit: 1024, open: open)
        }
        let (wanted, overflows) = commands.multipliedReportingOverflow(by: perCommand)
        let needed = rlim_t(overflows ? Int.max / 2 : wanted) + rlim_t(open + reserve)
        if limits.rlim_cur < needed, limits.rlim_cur < limits.rlim_max {
            var raised = limits
            raised.rlim_cur = min(needed, limits.rlim_max)
            if setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &raised) == 0 { limits = raised }
        }
        return DescriptorBudget(limit: Int(min(limits.rlim_cur, rlim_t(Int32.max))), open: open)
    }

    private static var openCount: Int {
        guard let stream = opendir("/proc/self/fd") else { return 16 }
        defer { closedir(stream) }
        var count = 0
        while readdir(stream) != nil { count += 1 }
        // The count excludes the entries `.` and `..`, and the descriptor of the stream itself.
        return max(count - 3, 3)
    }
}
