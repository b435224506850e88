import Testing

@testable import WorkflowEngine

struct SlurmLeftTests {
    private func task(_ name: String, _ batch: String, state: String = "s") -> SlurmFolder.Left {
        SlurmFolder.Left(place: SlurmPlace(batch: batch, index: 0), name: name, state: state)
    }

    @Test func `the last task of an operation without an end may be adopted, and all others end`() {
        let tasks = [task("a", "1-x"), task("b", "1-y"), task("a", "2-z"), task("gone", "2-w"), task("c", "3-v")]
        let names = Set(["a", "b", "c"].map { ByteKey($0) })
        let (adoptable, others) = SlurmLeft.divide(tasks, names: names) { name, run in name.text == "b" && run <= 1 }
        #expect(adoptable == [ByteKey("a"): tasks[2], ByteKey("c"): tasks[4]])
        #expect(others == [tasks[0], tasks[1], tasks[3]] || others == [tasks[1], tasks[0], tasks[3]])
    }

    @Test func `a task that opq withdrew before it was killed is not adopted, because its command never runs`() {
        var withdrawn = task("a", "1-x")
        withdrawn.isWithdrawn = true
        let (adoptable, others) = SlurmLeft.divide([withdrawn], names: [ByteKey("a")]) { _, _ in false }
        #expect(adoptable.isEmpty && others == [withdrawn])
    }

    @Test func `a run that adopts none ends all tasks`() {
        #expect(SlurmLeft.divide([task("a", "1-x")], names: []) { _, _ in false }.others.count == 1)
    }

    @Test func `live jobs are cancelled, and without an answer of Slurm none counts as ended`() throws {
        let directory = try TemporaryDirectory(files: ["w.yml"])
        let store = try RunStore(of: directory.path + "/w.yml")
        let folder = try SlurmFolder(in: store)
        final class Calls: @unchecked Sendable { var words: [[String]] = [] }
        let calls = Calls()
        let tools = SlurmTools { words in
            defer { calls.words.append(words) }
            let isLive = !calls.words.contains { $0.first == "scancel" }
            let text = isLive ? "opq:1-x|N/A|7|RUNNING|None\nopq:1-y|N/A|8|RUNNING|None\n" : ""
            return SlurmTools.Output(end: .exit(0), text: words[0] == "squeue" ? text : "")
        }
        var notes: [String] = []
        #expect(SlurmLeft.end([task("a", "1-x")], in: folder, tools) { notes.append($0) })
        #expect(calls.words.contains(["scancel", "7"]))
        #expect(notes == ["ends 1 job on Slurm, which an opq that was killed had left behind"])
        let silent = SlurmTools { _ in SlurmTools.Output(end: .exit(1), text: "slurm_load_jobs error") }
        #expect(!SlurmLeft.end([task("a", "1-x")], in: folder, silent) { _ in })
    }

    @Test func `tasks of a job that is kept end alone: those that have not started never start`() throws {
        let directory = try TemporaryDirectory(files: ["w.yml"])
        let store = try RunStore(of: directory.path + "/w.yml")
        let folder = try SlurmFolder(in: store)
        let batch = try folder.makeBatch(run: 1, share: 4)
        let plan = try plan(of: "operations: {a: {run: x, each: [1, 2, 3]}}", base: directory.path)
        let places = (0..<3).map { SlurmPlace(batch: batch, index: $0) }
        for (place, operation) in zip(places, plan.operations) {
            try folder.write(
                ExecutedCommand(
                    operation: operation, token: ProcessWatch.Token(number: 1), spool: SpoolDirectory().makeSpool(),
                    started: { _ in }, ended: { _, _ in }), at: place)
        }
        @Sendable func path(_ index: Int, _ name: String) -> String { "\(folder.path)/\(batch)/\(index)/\(name)" }
        // The job runs the first command, and ends it when it sees the file.
        _ = try ShellOutput.run("mkdir '\(path(0, "claim"))'", limit: 100).get()
        let tools = SlurmTools { words in
            if words[0] == "squeue" {
                let text = "[ ! -e '\(path(0, "stop"))' ] || echo 'end 143 1 2' > '\(path(0, "result"))'"
                _ = ShellOutput.run(text, limit: 100)
                return SlurmTools.Output(end: .exit(0), text: "opq:\(batch)|N/A|7|RUNNING|None\n")
            }
            Issue.record("\(words)")
            return SlurmTools.Output(end: .exit(0), text: "")
        }
        let left = folder.left.sorted { $0.place.index < $1.place.index }
        #expect(SlurmLeft.end([left[0], left[1]], keeping: [places[2].job], in: folder, tools) { _ in })
        #expect(folder.left.filter(\.isWithdrawn).map(\.place.index) == [1])
        #expect(!folder.files(of: places[2]).isClaimed)
    }
}
