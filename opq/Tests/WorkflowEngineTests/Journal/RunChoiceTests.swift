import Testing

@testable import WorkflowEngine

struct RunChoiceTests {
    private let fingerprint = Fingerprint(
        command: Digest(1, 0), shell: Digest(0, 0), directory: ".", environment: [])

    private func run(_ number: Int, resumes: Bool, _ entries: [JournalEntry]) -> [JournalEntry] {
        var choice = RunChoice()
        choice.resumes = resumes
        return [.runBegan(number: number, time: 0, file: Digest(0, 0)), .chosen(choice)] + entries
    }

    private func end(_ name: String, _ kind: OperationEnd.Kind, ran: Bool = true) -> JournalEntry {
        let record = OperationRecord(name: name, fingerprint: fingerprint, end: .succeeded)
        return .operationEnded(
            OperationEnd(name: name, kind: kind, duration: ran ? 1 : nil, record: kind == .succeeded ? record : nil))
    }

    private func resumption(_ entries: [JournalEntry]) -> Resumption { Resumption(RunHistory(entries).runs) }

    @Test func `a resumed run that was stopped keeps the successes of the run before it`() {
        let first = run(1, resumes: false, [end("a", .succeeded), end("b", .failed), end("c", .succeeded)])
        let stopped = run(2, resumes: true, [end("b", .cancelled), end("c", .cancelled, ran: false)])
        #expect(Set(resumption(first + stopped).done.keys.map(\.text)) == ["a", "c"])
        #expect(Set(resumption(first + run(2, resumes: true, [])).done.keys.map(\.text)) == ["a", "c"])
        #expect(resumption(first + run(2, resumes: false, [])).done.isEmpty)
    }

    @Test func `a command that began again and did not end is not done`() {
        let first = run(1, resumes: false, [end("a", .succeeded), end("b", .succeeded)])
        let killed = run(2, resumes: true, [.operationBegan(name: "b")])
        #expect(Set(resumption(first + killed).done.keys.map(\.text)) == ["a"])
    }

    @Test func `the order of the last runs shows a success that is older than one before it`() throws {
        let first = run(1, resumes: false, [end("a", .succeeded), end("b", .succeeded)])
        let second = run(2, resumes: true, [.operationBegan(name: "a"), end("a", .succeeded)])
        let times = resumption(first + second).lastRuns
        #expect(try #require(times[ByteKey("a")]) > (try #require(times[ByteKey("b")])))
    }

    @Test func `the choice is text for the user`() {
        var choice = RunChoice()
        choice.targets = ["b"]
        choice.until = ["c"]
        choice.variables = ["mode": "release"]
        #expect(choice.arguments == ["b", "--until", "c", "--set", "mode=release"])
        choice.place = .slurm
        #expect(choice.arguments.suffix(2) == ["--on", "slurm"])
    }
}
