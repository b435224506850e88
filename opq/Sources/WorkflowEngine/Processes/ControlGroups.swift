/// The limits of the Linux control groups of this process, which containers set.
struct ControlGroups {
    /// A function that returns the content of a file. `nil` if the file cannot be read.
    let read: (_ path: String) -> String?

    /// The control groups of this process.
    static var current: ControlGroups {
        ControlGroups { path in path == mounts ? mountsOfGroups : text(of: path) }
    }

    private static let mounts = "/proc/self/mountinfo"

    /// The lines of the mounts of control groups. The kernel writes a line for each mount, which takes long for a small run.
    private static let mountsOfGroups = text(of: mounts).map { text in
        text.split(separator: "\n").filter { $0.contains(" - cgroup") }.joined(separator: "\n")
    }

    private static func text(of path: String) -> String? {
        contents(ofFile: path).map { String(decoding: $0, as: UTF8.self) }
    }

    /// The number of processes and threads that may still start in the group and in all groups around it. `nil` without a
    /// limit.
    ///
    /// Source: `Documentation/admin-guide/cgroup-v2.rst` and `cgroup-v1/pids.rst` of the Linux kernel.
    var freeProcesses: Int? {
        directories(of: "pids").compactMap { directory, _ in
            guard let most = number(in: directory + "/pids.max"), let used = number(in: directory + "/pids.current")
            else {
                return nil
            }
            return max(most - used, 0)
        }.min()
    }

    /// The smallest quota of processor time, rounded up to whole processors. `nil` without a quota.
    var processors: Int? {
        directories(of: "cpu").compactMap { directory, isUnified in
            let fields: [Substring]
            if isUnified {
                fields = read(directory + "/cpu.max")?.split(whereSeparator: \.isWhitespace) ?? []
            } else {
                fields = ["/cpu.cfs_quota_us", "/cpu.cfs_period_us"].compactMap {
                    read(directory + $0)?.split(whereSeparator: \.isWhitespace).first
                }
            }
            guard fields.count == 2, let quota = Int(fields[0]), let period = Int(fields[1]), quota > 0, period > 0
            else {
                return nil
            }
            return (quota - 1) / period + 1
        }.min()
    }

    private func number(in path: String) -> Int? {
        read(path)?.split(whereSeparator: \.isWhitespace).first.flatMap { Int($0) }
    }

    /// Returns the directories of the process's group and of the groups around it, in each hierarchy that has a controller.
    private func directories(of controller: String) -> [(directory: String, isUnified: Bool)] {
        guard let groups = read("/proc/self/cgroup"), let mounts = read(Self.mounts) else { return [] }
        let hierarchies = mounts.split(separator: "\n").compactMap { Mount(line: $0, controller: controller) }
        var found: [(directory: String, isUnified: Bool)] = []
        for line in groups.split(separator: "\n") {
            // A line is "hierarchy:controllers:path"; the path may contain colons.
            let fields = line.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
            guard fields.count == 3 else { continue }
            let controllers = fields[1].split(separator: ",")
            guard controllers.isEmpty || controllers.contains(Substring(controller)) else { continue }
            for mount in hierarchies where mount.isUnified == controllers.isEmpty {
                var directory = mount.directory(of: fields[2])
                found.append((directory, mount.isUnified))
                while directory.count > mount.point.count, let slash = directory.lastIndex(of: "/") {
                    directory = String(directory[..<slash])
                    found.append((directory, mount.isUnified))
                }
            }
        }
        return found
    }

    /// A mounted hierarchy of control groups: a line of `/proc/self/mountinfo`.
    private struct Mount {
        /// The group that the mount shows at its top.
        let root: Substring
        let point: Substring
        let isUnified: Bool

        /// Creates a mount. `nil` if the line describes another kind of file system, or the hierarchy has no such controller.
        init?(line: Substring, controller: String) {
            // "31 23 0:28 ROOT POINT OPTIONS [TAG...] - TYPE SOURCE OPTIONS"
            let fields = line.split(separator: " ")
            guard let dash = fields.firstIndex(of: "-"), dash >= 6, fields.count > dash + 3 else { return nil }
            isUnified = fields[dash + 1] == "cgroup2"
            let isLegacy =
                fields[dash + 1] == "cgroup" && fields[dash + 3].split(separator: ",").contains(Substring(controller))
            guard isUnified || isLegacy else { return nil }
            (root, point) = (fields[3], fields[4])
        }

        /// Returns the directory of a group's files. A container sees its own group as the root of the mount, but may read
        /// its path as the machine names it.
        func directory(of group: Substring) -> String {
            var path = group
            if root != "/", path == root || path.hasPrefix(root + "/") { path = path.dropFirst(root.count) }
            while path.last == "/" { path.removeLast() }
            return String(point) + path
        }
    }
}
