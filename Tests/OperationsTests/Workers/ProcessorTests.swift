@testable import Operations
import TestSupport
import Testing

/// Rule Q4: the number of processors that the process may use.
@Suite(.timeLimit(.minutes(5)), .tags(.ordinaryConditions)) struct ProcessorTests {
    private func processors(_ files: [String: String]) -> Int? { ControlGroupQuota { files[$0] }.processors }

    private let unified = "31 23 0:28 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate\n"

    @Test func `a version 2 quota is rounded up to whole processors`() {
        let files = ["/proc/self/cgroup": "0::/pod/app\n", "/proc/self/mountinfo": unified]
        for (quota, count) in [("150000 100000", 2), ("200000 100000", 2), ("1000 100000", 1), ("1600000 100000", 16)] {
            #expect(processors(files.merging(["/sys/fs/cgroup/pod/app/cpu.max": quota + "\n"]) { $1 }) == count)
        }
        #expect(processors(files.merging(["/sys/fs/cgroup/pod/app/cpu.max": "max 100000\n"]) { $1 }) == nil)
        #expect(processors(files) == nil)
    }

    @Test func `the smallest quota of the group and of the groups around it counts`() {
        let files = [
            "/proc/self/cgroup": "0::/pod/app\n", "/proc/self/mountinfo": unified,
            "/sys/fs/cgroup/pod/app/cpu.max": "800000 100000\n", "/sys/fs/cgroup/pod/cpu.max": "300000 100000\n",
            "/sys/fs/cgroup/cpu.max": "max 100000\n",
        ]
        #expect(processors(files) == 3)
    }

    @Test func `a version 1 quota is found where its controller is mounted`() {
        let mounts = """
            40 31 0:37 / /sys/fs/cgroup/systemd rw,relatime - cgroup cgroup rw,name=systemd
            32 31 0:29 /docker/a1 /sys/fs/cgroup/cpu,cpuacct rw,relatime - cgroup cgroup rw,cpu,cpuacct

            """
        let directory = "/sys/fs/cgroup/cpu,cpuacct"
        var files = [
            "/proc/self/cgroup": "4:memory:/docker/a1\n2:cpu,cpuacct:/docker/a1\n0::/\n",
            "/proc/self/mountinfo": mounts,
            directory + "/cpu.cfs_quota_us": "250000\n", directory + "/cpu.cfs_period_us": "100000\n",
        ]
        #expect(processors(files) == 3)
        files[directory + "/cpu.cfs_quota_us"] = "-1\n"
        #expect(processors(files) == nil)
    }

    @Test(arguments: ["", "0::", "::::", "0::/a:b\n\n", "x", "1:cpu:/\n0::/"])
    func `files of an unknown form are ignored`(text: String) {
        for numbers in ["", "max", "0 0", "-5 100000", "99999999999999999999 1", "1 1 1"] {
            let files = [
                "/proc/self/cgroup": text, "/proc/self/mountinfo": unified + text, "/sys/fs/cgroup/cpu.max": numbers,
            ]
            #expect(processors(files) == nil)
        }
    }

    #if os(Linux)
    @Test func `the affinity of the process limits the number of processors`() async {
        await #expect(processExitsWith: .success) {
            guard useOneProcessor() else { fatalError() }
            guard Processor.count == 1 else { fatalError("\(Processor.count) processors") }
        }
    }
    #endif

    @Test func `the default width can use all processors`() {
        #expect(OperationQueue.defaultMaxThreadCount >= max(64, Processor.count))
        #expect(OperationQueue.maxThreadCount >= OperationQueue.defaultMaxThreadCount)
    }
}
