/// The processor time that Linux control groups leave to a process, as a number of processors.
///
/// A container is often limited to fewer processors than its machine has by a quota: an amount of processor time in each
/// period. A process that runs more computing threads than the quota permits is stopped for the rest of each period.
struct ControlGroupQuota {
    /// Returns the content of a file, or nil if the file cannot be read.
    let read: (_ path: String) -> String?

    /// The smallest quota among the process's control groups and all groups around them, rounded up to whole processors.
    /// Nil if no group has a quota. Complexity: one file for each level of the hierarchy.
    ///
    /// Source: proc(5), `Documentation/admin-guide/cgroup-v2.rst` and `cgroup-v1/cpuacct.rst` of the Linux kernel.
    var processors: Int? {
        guard let groups = read("/proc/self/cgroup"), let mounts = read("/proc/self/mountinfo") else { return nil }
        let hierarchies = mounts.split(separator: "\n").compactMap { Mount(line: $0) }
        var smallest: Int?
        for line in groups.split(separator: "\n") {
            // A line is "hierarchy:controllers:path"; the path may contain colons.
            let fields = line.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
            guard fields.count == 3 else { continue }
            let controllers = fields[1].split(separator: ",")
            guard controllers.isEmpty || controllers.contains("cpu") else { continue }
            for mount in hierarchies
            where mount.isUnified == controllers.isEmpty && (mount.isUnified || mount.hasProcessor) {
                if let quota = smallestQuota(in: mount, group: fields[2]) { smallest = min(smallest ?? quota, quota) }
            }
        }
        return smallest
    }

    /// Looks at a group and at each group around it, up to the root of the mount.
    private func smallestQuota(in mount: Mount, group: Substring) -> Int? {
        var smallest: Int?
        var directory = mount.directory(of: group)
        while true {
            if let quota = mount.isUnified ? unifiedQuota(directory) : legacyQuota(directory) {
                smallest = min(smallest ?? quota, quota)
            }
            guard directory.count > mount.point.count, let slash = directory.lastIndex(of: "/") else { return smallest }
            directory = String(directory[..<slash])
        }
    }

    /// Version 2: "150000 100000", or "max 100000" without a quota.
    private func unifiedQuota(_ directory: String) -> Int? {
        guard let fields = read(directory + "/cpu.max")?.split(whereSeparator: \.isWhitespace), fields.count == 2 else {
            return nil
        }
        return processors(quota: fields[0], period: fields[1])
    }

    /// Version 1: two files with a number each; the quota is -1 without a quota.
    private func legacyQuota(_ directory: String) -> Int? {
        guard let quota = read(directory + "/cpu.cfs_quota_us")?.split(whereSeparator: \.isWhitespace).first,
            let period = read(directory + "/cpu.cfs_period_us")?.split(whereSeparator: \.isWhitespace).first
        else { return nil }
        return processors(quota: quota, period: period)
    }

    private func processors(quota: Substring, period: Substring) -> Int? {
        guard let quota = Int(quota), let period = Int(period), quota > 0, period > 0 else { return nil }
        return (quota - 1) / period + 1
    }
}

extension ControlGroupQuota {
    /// A mounted hierarchy of control groups: a line of `/proc/self/mountinfo`.
    private struct Mount {
        /// The group that the mount shows at its top.
        let root: Substring
        let point: Substring
        let isUnified: Bool
        let hasProcessor: Bool

        /// Nil if the line describes another kind of file system.
        init?(line: Substring) {
            // "31 23 0:28 ROOT POINT OPTIONS [TAG...] - TYPE SOURCE OPTIONS"
            let fields = line.split(separator: " ")
            guard let dash = fields.firstIndex(of: "-"), dash >= 6, fields.count > dash + 3 else { return nil }
            let type = fields[dash + 1]
            guard type == "cgroup" || type == "cgroup2" else { return nil }
            isUnified = type == "cgroup2"
            hasProcessor = fields[dash + 3].split(separator: ",").contains("cpu")
            (root, point) = (fields[3], fields[4])
        }

        /// Returns the directory of a group's files. A container sees its own group as the root of the mount, but may
        /// read its path as the machine names it.
        func directory(of group: Substring) -> String {
            var path = group
            if root != "/", path == root || path.hasPrefix(root + "/") { path = path.dropFirst(root.count) }
            while path.last == "/" { path.removeLast() }
            return String(point) + path
        }
    }
}
