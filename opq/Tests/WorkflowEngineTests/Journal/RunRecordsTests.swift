import Testing

@testable import WorkflowEngine

struct RunRecordsTests {
    private func records(isRunning: Bool) -> RunRecords {
        let file = Digest(of: [])
        let end = OperationEnd(name: "a", kind: .succeeded, text: "", duration: 1_000_000_000, log: .empty)
        return RunRecords(
            of: "w.yml",
            RunHistory([
                .runBegan(number: 1, time: 0, file: file), .operationBegan(name: "c"),
                .runBegan(number: 2, time: 0, file: file), .operationBegan(name: "a"), .operationBegan(name: "b"),
                .operationEnded(end), .processBegan(name: "d", ProcessMark(identifier: 1, earliest: 0, latest: 0)),
            ]), isRunning: isRunning)
    }

    @Test func `the last run and its commands still run while a process has the lock`() throws {
        let (running, killed) = (records(isRunning: true), records(isRunning: false))
        #expect(running.history.map { $0.contains("still runs") } == [false, true])
        #expect(killed.history.map { $0.contains("did not end") } == [true, true])
        #expect(try killed.show(run: nil, names: []) == ["succeeded  a  1.00s", "did not end  b", "did not end  d"])
        #expect(try running.show(run: nil, names: ["b"]) == ["still runs  b"])
        #expect(try running.show(run: nil, names: ["d"]).first?.hasPrefix("still runs  d  ") == true)
        #expect(try killed.show(run: nil, names: ["b"]) == ["did not end  b"])
        #expect(try running.show(run: 1, names: []) == ["did not end  c"])
        #expect(throws: RunRecords.Failure.self) { try running.show(run: nil, names: ["c"]) }
    }
}
