import Testing

@testable import WorkflowEngine

struct SlurmBatchTests {
    private let plain = SlurmOptions(
        PlannedOperation(name: "a", command: "x", directory: ".", queue: "default"), totals: [])

    private func batches(_ tasks: [(String, String)], share: Int = 1, largest: Int = 1001) -> [SlurmBatch] {
        SlurmBatch.divide(
            tasks.map { SlurmBatch.Member(name: $0, family: $1, options: plain, share: share) }, largest: largest)
    }

    private func divide(_ tasks: [(String, String)], largest: Int = 1001) -> [[Int]] {
        batches(tasks, largest: largest).map(\.tasks)
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
                SlurmBatch.Member(name: $0, family: $1, options: $2)
            },
            largest: 10)
        #expect(batches.map(\.tasks) == [[0, 2], [1]])
    }

    @Test func `members that share jobs fill an array with as many jobs as Slurm permits`() {
        let members = (0..<7).map { ("a[\($0)]", "a") }
        let all = batches(members, share: 3)
        #expect(all.map(\.tasks) == [Array(0..<7)] && all.map(\.share) == [3])
        let divided = batches(members, share: 3, largest: 2)
        #expect(divided.map(\.tasks) == [Array(0..<6), [6]] && divided.map(\.share) == [3, 1])
        #expect(divided[1].name == "a[6]")
        for share in [7, 8, .max] {
            #expect(batches(members, share: share, largest: 2).map(\.share) == [7])
            #expect(batches(members, share: share, largest: .max).map(\.tasks) == [Array(0..<7)])
        }
    }

    @Test func `a queue that starts fewer commands than may share a job is named`() throws {
        let text = """
            queues: {one: {concurrency: 1}, wide: }
            operations:
              a: {run: x, each: [1, 2, 3], batch: 2, queue: one}
              b: {run: x, each: [1, 2, 3], batch: 50, queue: wide}
              c: {run: x, each: [1, 2, 3], queue: one}
            """
        let plan = try plan(of: text)
        let narrow = "'a' has batch: 2, and its queue starts 1 command at a time, so no job has more"
        #expect(SlurmBatch.notes(plan, jobs: 3) == [narrow])
        #expect(
            SlurmBatch.notes(plan, jobs: 2) == [
                narrow, "'b' has batch: 50, and its queue starts 2 commands at a time, so no job has more",
            ])
    }

    @Test func `a job is found by its comment, and never starts again`() {
        let single = SlurmBatch(name: "a b", options: plain, tasks: [0])
        let arguments = single.arguments(batch: "1-x", in: "/f", jobs: [0], script: "/f/run")
        #expect(arguments.first == "sbatch" && arguments.suffix(4) == ["/f/run", "/f/1-x", "1", "0"])
        #expect(arguments.contains("--comment=opq:1-x") && arguments.contains("--no-requeue"))
        #expect(arguments.contains("--job-name=a_b") && !arguments.contains { $0.hasPrefix("--array") })
        let array = SlurmBatch(name: "a", options: plain, tasks: [4, 5, 6])
        let some = array.arguments(batch: "1-x", in: "/f", jobs: [2], script: "/f/run")
        #expect(some.contains("--array=2") && some.suffix(2) == ["/f/1-x", "1"])
    }

    @Test func `a job of several commands has their number, and the sum of their time limits`() throws {
        let plan = try plan(of: "operations: {a: {run: x, each: [1, 2, 3, 4], timeout: 10m, batch: 2}}")
        let options = SlurmOptions(plan.operations[0], totals: [])
        let members = plan.operations.map {
            SlurmBatch.Member(name: $0.name, family: $0.family, options: options, share: $0.settings.batch)
        }
        let batch = try #require(SlurmBatch.divide(members, largest: 1001).first)
        let arguments = batch.arguments(batch: "1-x-2", in: "/f", jobs: [0, 1], script: "/f/run")
        #expect(arguments.contains("--time=22") && arguments.contains("--array=0-1"))
        #expect(arguments.suffix(3) == ["/f/run", "/f/1-x-2", "2"])
    }

    @Test(
        arguments: [
            ("each: [1], batch: 0", "w:2:33: error: 'batch' must be 1 or more, found 0"),
            ("each: [1], batch: -1", "w:2:33: error: 'batch' must be 1 or more, found -1"),
            ("each: [1], batch: many", "w:2:33: error: 'batch' must be a whole number, found the string 'many'"),
            (
                "each: [1], batch: 99999999999999999999",
                "w:2:33: error: 'batch' must be a whole number, found the number 99999999999999999999"
            ),
            ("batch: 5", "w:2:15: error: 'batch' without 'each'; leave it out: there is one command"),
        ])
    func `a number of commands that has no meaning is refused at its place`(keys: String, complaint: String) {
        let found = complaints(about: "operations:\n  a: {run: x, \(keys)}")
        #expect(found == [complaint])
    }

    @Test func `indices are written as ranges`() {
        #expect(SlurmBatch.ranges([3, 1, 2, 7, 9, 10]) == "1-3,7,9-10")
        #expect(SlurmBatch.ranges([0]) == "0")
    }
}
