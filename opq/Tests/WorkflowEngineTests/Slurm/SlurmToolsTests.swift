import Testing

@testable import WorkflowEngine

@Suite(.timeLimit(.minutes(1)))
struct SlurmToolsTests {
    @Test func `the identifier of a job is found beside warnings and the name of a cluster`() {
        #expect(SlurmTools.identifier(in: "42\n") == "42")
        #expect(SlurmTools.identifier(in: "sbatch: warning: 7 things\n42;main\n") == "42")
        #expect(SlurmTools.identifier(in: "sbatch: error: no\n") == nil)
    }

    @Test func `a failure to reach Slurm passes, and a refusal does not`() {
        func isPassing(_ text: String) -> Bool { SlurmTools.isPassing(SlurmTools.Output(end: .exit(1), text: text)) }
        #expect(
            isPassing(
                "sbatch: error: Batch job submission failed: Unable to contact slurm controller (connect failure)"))
        #expect(isPassing("sbatch: error: Batch job submission failed: Socket timed out on send/recv operation"))
        #expect(isPassing("sbatch: error: Slurm temporarily unable to accept job, sleeping and retrying"))
        #expect(!isPassing("sbatch: error: invalid partition specified: x"))
        #expect(!isPassing("sbatch: error: Memory specification can not be satisfied"))
        #expect(SlurmTools.isPassing(SlurmTools.Output(end: .signal(15), text: "")))
    }

    @Test func `limits are read from the configuration`() {
        let limits = SlurmTools.Limits("MaxArraySize            = 11\nMaxJobCount             = 20\nOther = x y\n")
        #expect(limits.arraySize == 11 && limits.jobs == 20)
        #expect(SlurmTools.Limits("").arraySize == 1001)
    }

    @Test func `a program runs to its end, and a missing program is a failure`() throws {
        let watch = try ProcessWatch()
        defer { watch.send(.stop) }
        let tools = SlurmTools(watch)
        #expect(tools.run(["echo", "a", "b"]) == SlurmTools.Output(end: .exit(0), text: "a b\n"))
        #expect(tools.run(["false"]).reason == "exit 1")
        #expect(tools.run(["no-such-program-of-slurm"]).success == nil)
        #expect(tools.run(["no-such-program-of-slurm"]).reason.contains("No such file"))
    }

    @Test func `a program that hangs is ended`() throws {
        let watch = try ProcessWatch()
        defer { watch.send(.stop) }
        let output = SlurmTools(watch, limit: .milliseconds(50)).run(["sleep", "1000"])
        #expect(output.end == .signal(15) && SlurmTools.isPassing(output))
    }
}
