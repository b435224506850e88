import Testing

@testable import WorkflowEngine

struct PastRunTests {
    private func end(
        _ name: String, _ kind: OperationEnd.Kind = .succeeded, text: String = "", log: OperationEnd.Log = .empty,
        seconds: Int64? = 1
    ) -> JournalEntry {
        .operationEnded(
            OperationEnd(name: name, kind: kind, text: text, duration: seconds.map { $0 * 1_000_000_000 }, log: log))
    }

    private var records: RunRecords {
        let file = Digest(of: [])
        return RunRecords(
            of: "w.yml",
            RunHistory([
                .runBegan(number: 1, time: 0, file: file), .operationBegan(name: "a"), end("a", log: .inFile),
                end("b", .failed, text: "exit status 1", log: .inFile),
                .runEnded(time: 3_000_000_000, isInterrupted: false),
                .runBegan(number: 2, time: 5_000_000_000, file: file), end("a", .upToDate, seconds: nil),
                .operationBegan(name: "b"),
            ]))
    }

    @Test func `the last runs have their operations, and only the last run of a command has its log`() throws {
        let runs = try records.pastRuns(run: nil, names: [])
        #expect(runs.map(\.title.count) == [26, 26] && runs.map(\.took) == [nil, .seconds(3)])
        #expect(
            runs[1].rows == [
                .init(name: "a", state: .done, note: "", ran: .seconds(1), hasLog: true),
                .init(name: "b", state: .failed, note: "exit status 1", ran: .seconds(1), hasLog: true),
            ])
        #expect(
            runs[0].rows == [
                .init(name: "a", state: .done, note: "up to date", ran: nil, hasLog: false),
                .init(name: "b", state: .cancelled, note: "did not end", ran: nil, hasLog: false),
            ])
    }

    @Test func `a number and names choose a run and its operations, and a wrong one is an error`() throws {
        #expect(try records.pastRuns(run: 1, names: ["b"]).map(\.rows.count) == [1])
        #expect(throws: RunRecords.Failure.self) { try records.pastRuns(run: 7, names: []) }
        #expect(throws: RunRecords.Failure.self) { try records.pastRuns(run: nil, names: ["c"]) }
    }
}
