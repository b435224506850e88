import Testing

@testable import WorkflowEngine

struct ControlGroupsTests {
    @Test func `the smallest number of free processes counts, in a unified hierarchy`() {
        let groups = ControlGroups {
            [
                "/proc/self/cgroup": "0::/outer/inner\n",
                "/proc/self/mountinfo": "30 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n",
                "/sys/fs/cgroup/outer/inner/pids.max": "100\n", "/sys/fs/cgroup/outer/inner/pids.current": "30\n",
                "/sys/fs/cgroup/outer/pids.max": "40\n", "/sys/fs/cgroup/outer/pids.current": "35\n",
                "/sys/fs/cgroup/outer/inner/cpu.max": "150000 100000\n", "/sys/fs/cgroup/outer/cpu.max": "max 100000\n",
            ][$0]
        }
        #expect(groups.freeProcesses == 5)
        #expect(groups.processors == 2)
    }

    @Test func `a container of version 1 sees its own group as the root`() {
        let groups = ControlGroups {
            [
                "/proc/self/cgroup": "8:pids:/docker/abc\n1:cpu,cpuacct:/docker/abc\n0::/\n",
                "/proc/self/mountinfo": """
                39 31 0:36 /docker/abc /sys/fs/cgroup/pids rw,relatime - cgroup cgroup rw,pids
                40 31 0:37 /docker/abc /sys/fs/cgroup/cpu,cpuacct rw,relatime - cgroup cgroup rw,cpu,cpuacct

                """,
                "/sys/fs/cgroup/pids/pids.max": "25\n", "/sys/fs/cgroup/pids/pids.current": "4\n",
                "/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us": "50000\n",
                "/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us": "100000\n",
            ][$0]
        }
        #expect(groups.freeProcesses == 21)
        #expect(groups.processors == 1)
    }

    @Test func `groups without limits limit nothing`() {
        let groups = ControlGroups {
            [
                "/proc/self/cgroup": "8:pids:/\n0::/\n",
                "/proc/self/mountinfo": "39 31 0:36 / /sys/fs/cgroup/pids rw,relatime - cgroup cgroup rw,pids\n",
                "/sys/fs/cgroup/pids/pids.max": "max\n", "/sys/fs/cgroup/pids/pids.current": "70\n",
            ][$0]
        }
        #expect(groups.freeProcesses == nil)
        #expect(groups.processors == nil)
        #expect(ControlGroups { _ in nil }.freeProcesses == nil)
    }
}
