import Testing

@testable import WorkflowEngine

struct SlurmOptionsTests {
    private func arguments(_ keys: String, totals: Set<String> = []) throws -> [String] {
        let plan = try plan(of: "operations: {a: {run: x, \(keys)}}")
        return SlurmOptions(plan.operations[0], totals: totals).arguments(commands: 1)
    }

    @Test func `resources and the time limit become options, and the user's own options come last`() throws {
        #expect(try arguments("queue: default").isEmpty)
        #expect(
            try arguments("resources: {memory: 1GB, cpus: 3, gpu: 2, fpga: 1, none: 0}, slurm: [--partition=big, -N2]")
                == ["--cpus-per-task=3", "--gres=fpga:1", "--gres=gpu:2", "--mem=954M", "--partition=big", "-N2"])
        #expect(try arguments("resources: {memory: 1}") == ["--mem=1M"])
        #expect(try arguments("resources: {memory: 1MiB}") == ["--mem=1M"])
        #expect(try arguments("timeout: 10s") == ["--time=2"])
        #expect(try arguments("timeout: 1h, grace: 30s") == ["--time=62"])
    }

    @Test func `the time limit of a job is that of all its commands, with their graces`() throws {
        let plan = try plan(of: "operations: {a: {run: x, timeout: 54s}, b: {run: x, grace: 4s, timeout: 54s}}")
        let options = SlurmOptions(plan.operations[0], totals: [])
        #expect(options.arguments(commands: 1) == ["--time=3"])
        #expect(options.arguments(commands: 50) == ["--time=52"])
        let own = SlurmOptions(plan.operations[1], grace: .seconds(60), totals: [])
        #expect(own.arguments(commands: 60) == ["--time=64"])
        let ofFile = SlurmOptions(plan.operations[0], grace: .seconds(62), totals: [])
        #expect(ofFile.arguments(commands: 10) == ["--time=22"])
    }

    @Test func `a resource with a total in the file is limited by opq, except those of nodes`() throws {
        #expect(
            try arguments("resources: {memory: 1MiB, licenses: 1}", totals: ["memory", "licenses"]) == ["--mem=1M"])
    }

    @Test(
        arguments: [
            ("--array=1-3", "opq sets --array itself"), ("--depend=x", "opq sets --depend itself"),
            ("-a", "opq sets -a itself"), ("-W", "opq sets -W itself"), ("--wrap=x", "opq sets --wrap itself"),
            ("script.sh", "it does not begin with '-'"), ("-", "it does not begin with '-'"), ("--", "it is no option"),
            ("", "it does not begin with '-'"), ("--partition=a", nil), ("-p", nil), ("--exclusive", nil),
            ("--wait-all-nodes=1", nil), ("--ntasks=4", nil),
        ] as [(String, String?)])
    func `options that opq sets itself are refused`(option: String, fault: String?) {
        #expect(SlurmOptions.fault(in: option) == fault)
    }

    @Test func `a refused option has its place`() {
        #expect(
            complaints(about: "operations:\n  a: {run: x, slurm: [--mem=1, --array=2]}") == [
                "w:2:32: error: '--array=2' cannot be an option of sbatch here: opq sets --array itself"
            ])
    }
}
