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

    @Test func `a run that adopts none ends all tasks`() {
        #expect(SlurmLeft.divide([task("a", "1-x")], names: []) { _, _ in false }.others.count == 1)
    }

    @Test func `live jobs are cancelled, and without an answer of Slurm none counts as ended`() {
        final class Calls: @unchecked Sendable { var words: [[String]] = [] }
        let calls = Calls()
        let tools = SlurmTools { words in
            defer { calls.words.append(words) }
            let isLive = !calls.words.contains { $0.first == "scancel" }
            let text = isLive ? "opq:1-x|N/A|7|RUNNING|None\nopq:1-y|N/A|8|RUNNING|None\n" : ""
            return SlurmTools.Output(end: .exit(0), text: words[0] == "squeue" ? text : "")
        }
        var notes: [String] = []
        #expect(SlurmLeft.end([task("a", "1-x")], tools) { notes.append($0) })
        #expect(calls.words.contains(["scancel", "7"]))
        #expect(notes == ["ends 1 job on Slurm, which an opq that was killed had left behind"])
        let silent = SlurmTools { _ in SlurmTools.Output(end: .exit(1), text: "slurm_load_jobs error") }
        #expect(!SlurmLeft.end([task("a", "1-x")], silent) { _ in })
    }
}
