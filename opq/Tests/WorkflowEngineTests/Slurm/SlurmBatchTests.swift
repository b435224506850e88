import Testing

@testable import WorkflowEngine

struct SlurmBatchTests {
    private let plain = SlurmOptions(
        PlannedOperation(name: "a", command: "x", directory: ".", queue: "default"), totals: [])

    private func divide(_ tasks: [(String, String)], largest: Int = 1001) -> [[Int]] {
        SlurmBatch.divide(tasks.map { (name: $0, family: $1, options: plain) }, largest: largest).map(\.tasks)
    }

    @Test func `members of a family share an array, as large as Slurm permits`() {
        #expect(divide([("a[1]", "a"), ("b", "b"), ("a[2]", "a"), ("a[3]", "a")]) == [[0, 2, 3], [1]])
        #expect(divide((0..<5).map { ("a[\($0)]", "a") }, largest: 2) == [[0, 1], [2, 3], [4]])
        #expect(divide([]).isEmpty)
    }

    @Test func `members with other options have another array`() throws {
        let plan = try plan(of: "operations: {a: {run: x, resources: {cpus: 2}}}")
        let other = SlurmOptions(plan.operations[0], totals: [])
        let batches = SlurmBatch.divide(
            [("a[1]", "a", plain), ("a[2]", "a", other), ("a[3]", "a", plain)].map {
                (name: $0, family: $1, options: $2)
            },
            largest: 10)
        #expect(batches.map(\.tasks) == [[0, 2], [1]])
    }

    @Test func `a job is found by its comment, and never starts again`() {
        let single = SlurmBatch(name: "a b", options: plain, tasks: [0])
        let arguments = single.arguments(batch: "1-x", in: "/f", indices: [0], script: "/f/run")
        #expect(arguments.first == "sbatch" && arguments.suffix(3) == ["/f/run", "/f/1-x", "0"])
        #expect(arguments.contains("--comment=opq:1-x") && arguments.contains("--no-requeue"))
        #expect(arguments.contains("--job-name=a_b") && !arguments.contains { $0.hasPrefix("--array") })
        let array = SlurmBatch(name: "a", options: plain, tasks: [4, 5, 6])
        let some = array.arguments(batch: "1-x", in: "/f", indices: [2], script: "/f/run")
        #expect(some.contains("--array=2") && some.last == "/f/1-x")
    }

    @Test func `indices are written as ranges`() {
        #expect(SlurmBatch.ranges([3, 1, 2, 7, 9, 10]) == "1-3,7,9-10")
        #expect(SlurmBatch.ranges([0]) == "0")
    }
}
