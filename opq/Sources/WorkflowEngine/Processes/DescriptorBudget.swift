import Glibc

/// How many commands may run at a time with the descriptors this process may have.
struct DescriptorBudget: Equatable {
    /// What a command needs while it runs: its spool, and the descriptor that says when it ends.
    static let perCommand = 2
    /// What is needed besides: two to look for processes, one in a starting child, two to write files, and some to spare.
    static let reserve = 8

    /// The number of commands.
    let commands: Int
    /// The limit under which it would be one.
    let leastLimit: Int

    /// The budget under a limit, when so many descriptors are open already.
    init(limit: Int, open: Int) {
        commands = max(limit - open - Self.reserve, 0) / Self.perCommand
        leastLimit = open + Self.reserve + Self.perCommand
    }

    /// The budget of this process now.
    ///
    /// The soft limit is raised first, as far as the hard one allows and so many commands at a time need. Commands inherit
    /// it; more than is needed could mislead those that take its size for the number of their own descriptors.
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
        // Without the two that every directory has, and the stream itself.
        return max(count - 3, 3)
    }
}
