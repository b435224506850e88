import Testing

@testable import WorkflowEngine

struct RunHistoryTests {
    private func end(_ name: String, _ number: UInt64) -> JournalEntry {
        let fingerprint = Fingerprint(
            command: Digest(number, 0), shell: Digest(0, 0), directory: ".", environment: [])
        let record = OperationRecord(name: name, fingerprint: fingerprint, end: .succeeded)
        return .operationEnded(OperationEnd(name: name, kind: .succeeded, record: record))
    }

    private func run(_ number: Int, _ entries: [JournalEntry]) -> [JournalEntry] {
        [.runBegan(number: number, time: 0, file: Digest(0, 0))] + entries + [.runEnded(time: 1, isInterrupted: false)]
    }

    @Test func `a shorter journal has the last runs and the last record of each operation`() {
        let entries = run(1, [end("a", 1), end("b", 1)]) + run(2, [end("a", 2)]) + run(3, [end("a", 3)])
        let short = RunHistory.compacted(entries, keepingRuns: 2)
        let history = RunHistory(short)
        #expect(history.runs.map(\.number) == [2, 3])
        #expect(history.runs.map(\.ends.count) == [1, 1])
        let fingerprint = Fingerprint(command: Digest(9, 9), shell: Digest(0, 0), directory: ".", environment: [])
        #expect(history.record(of: "a", fingerprint) { _ in true }?.fingerprint.command == Digest(3, 0))
        #expect(history.record(of: "b", fingerprint) { _ in true }?.fingerprint.command == Digest(1, 0))
        #expect(RunHistory.compacted(entries, keepingRuns: 3) == entries)
    }

    @Test func `a shorter journal has the lists of names to which its runs refer, and no others`() {
        let (list, other) = (JournalEntry.names(Digest(1, 1), ["a", "b"]), JournalEntry.names(Digest(2, 2), ["c"]))
        let entries =
            run(1, [list, other, .endedTogether(.upToDate, text: "", names: Digest(2, 2))])
            + run(2, [.endedTogether(.skipped, text: "x failed", names: Digest(1, 1))])
        let short = RunHistory.compacted(entries, keepingRuns: 1)
        #expect(short.contains(list) && !short.contains(other))
        let run = RunHistory(short).runs.last
        #expect(run?.ends.map(\.name) == ["a", "b"])
        #expect(run?.ends.allSatisfy { $0.kind == .skipped && $0.text == "x failed" } == true)
        #expect(RunHistory(entries).runs.first?.ends.map(\.name) == ["c"])
    }

    @Test func `a shorter journal gives no success back to a command that did not end`() {
        let entries =
            run(1, [end("a", 1)]) + run(2, [.operationBegan(name: "a")]) + run(3, [end("b", 1)]) + run(4, [end("b", 1)])
        let fingerprint = Fingerprint(command: Digest(1, 0), shell: Digest(0, 0), directory: ".", environment: [])
        for history in [RunHistory(entries), RunHistory(RunHistory.compacted(entries, keepingRuns: 1))] {
            #expect(history.record(of: "a", fingerprint) { _ in true }?.end == .unknown)
        }
    }

    @Test func `a history keeps a number of runs, and those that a kept run continues`() {
        func starts(_ resumes: [Bool]) -> [JournalEntry] {
            resumes.enumerated().flatMap { index, resumes in
                var choice = RunChoice()
                choice.resumes = resumes
                return [.runBegan(number: index + 1, time: 0, file: Digest(0, 0)), .chosen(choice)] as [JournalEntry]
            }
        }
        #expect(RunHistory(starts([false, false, false]) + [.keeps(runs: 2)]).runs.map(\.number) == [2, 3])
        #expect(RunHistory(starts([false, false, true, true]) + [.keeps(runs: 1)]).runs.map(\.number) == [2, 3, 4])
        let short = RunHistory.compacted(starts([false, false, true, true]), keepingRuns: 1)
        #expect(RunHistory(short).runs.map(\.number) == [2, 3, 4])
    }

    @Test func `a command is left behind if neither the command nor its run has ended`() {
        let mark = ProcessMark(identifier: 5, earliest: 1, latest: 2)
        let begun = [JournalEntry.runBegan(number: 1, time: 0, file: Digest(0, 0)), .processBegan(name: "a", mark)]
        #expect(RunHistory(begun).leftCommands.map(\.name) == ["a"])
        #expect(RunHistory(begun + [end("a", 1)]).leftCommands.isEmpty)
        #expect(RunHistory(begun + [.runEnded(time: 1, isInterrupted: true)]).leftCommands.isEmpty)
        #expect(RunHistory(begun + [.runBegan(number: 2, time: 0, file: Digest(0, 0))]).leftCommands.isEmpty)
    }

    @Test func `a run without an end has no time of its end`() {
        let history = RunHistory([.runBegan(number: 1, time: 5, file: Digest(0, 0)), end("a", 1)])
        #expect(history.runs.map(\.endTime) == [nil])
    }
}
