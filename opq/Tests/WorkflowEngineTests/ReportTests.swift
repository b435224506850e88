import Operations
import TestSupport
import Testing

@testable import WorkflowEngine

struct ReportTests {
    @Test(arguments: [
        (Outcome.succeeded, "✓ a  0.42s"), (.failed(.exit(3)), "✗ a  exit 3"),
        (.failed(.signal(9)), "✗ a  signal 9 (SIGKILL)"), (.failed(.unstartable("no x")), "✗ a  cannot start: no x"),
        (.skipped("dependency b failed"), "– a  skipped: dependency b failed"), (.cancelled, "– a  cancelled"),
    ])
    func `the report has a line for each kind of outcome`(outcome: Outcome, line: String) {
        let conclusion = Conclusion(name: "a", outcome: outcome, duration: .milliseconds(415))
        #expect(RunReport().line(for: conclusion) == line)
    }

    @Test func `the status line shows the ended count and the running operations`() {
        var status = RunStatus(total: 12)
        #expect(status.line(columns: 80) == "[ 0/12]")
        status.ended = 3
        status.running = ["fetch", "compress"]
        #expect(status.line(columns: 80) == "[ 3/12] fetch, compress")
        #expect(status.line(columns: 12) == "[ 3/12] fet…")
        #expect(status.line(columns: 1) == "…")
    }

    @Test func `the status line is limited by columns, not by characters`() {
        var status = RunStatus(total: 1)
        status.running = ["日本語のファイル", "e\u{301}\u{200B}x"]
        #expect(status.line(columns: 80) == "[0/1] 日本語のファイル, e\u{301}\u{200B}x")
        #expect(status.line(columns: 12) == "[0/1] 日本…")
        #expect(status.line(columns: 11) == "[0/1] 日本…")
        #expect(status.line(columns: 10) == "[0/1] 日…")
        status.running = ["a\u{1B}[2J\nb"]
        #expect(status.line(columns: 80) == #"[0/1] a\u{1B}[2J\nb"#)
    }

    @Test func `control characters in names are shown as escapes`() {
        let name = "a\n✓ forged\u{1B}[31m"
        #expect(RunReport().line(for: Conclusion(name: name, outcome: .succeeded)) == #"✓ a\n✓ forged\u{1B}[31m"#)
        #expect(
            RunReport().line(for: Conclusion(name: "b", outcome: .skipped("dependency \(name) failed")))
                == #"– b  skipped: dependency a\n✓ forged\u{1B}[31m failed"#)
    }

    @Test func `the summary has the name of the workflow`() {
        #expect(RunReport(name: "pack").summary(of: result([.succeeded]))?.hasPrefix("pack: 1 succeeded in ") == true)
    }

    @Test func `the line of lost output names the directory`() {
        let outcome = Outcome.failed(.outputLost(.exit(0), directory: "/full"))
        #expect(
            RunReport().line(for: Conclusion(name: "a", outcome: outcome))
                == "✗ a  exit 0, but output may be lost: no space was left in '/full'")
    }

    @Test func `the status follows from observing the operations`() {
        let operations = ["a", "b"].map { name in
            let operation = Operation()
            operation.name = name
            return operation
        }
        let log = Journal<RunStatus>()
        let progress = RunProgress(of: operations) { log.append($0.status) }
        operations[0].start()
        operations[1].cancel()
        operations[1].start()
        #expect(
            log.entries == [
                RunStatus(total: 2, ended: 0, running: ["a"]), RunStatus(total: 2, ended: 1, running: []),
                RunStatus(total: 2, ended: 2, running: []),
            ])
        withExtendedLifetime(progress) {}
    }

    @Test func `only the mark of a line has a color`() {
        let report = RunReport(isColoured: true)
        #expect(report.line(for: Conclusion(name: "a", outcome: .succeeded)) == "\u{1B}[32m✓\u{1B}[0m a")
    }

    @Test func `a quiet report contains failures only`() {
        let report = RunReport(detail: .quiet)
        #expect(report.line(for: Conclusion(name: "a", outcome: .succeeded)) == nil)
        #expect(report.line(for: Conclusion(name: "a", outcome: .failed(.exit(1)))) == "✗ a  exit 1")
        #expect(report.summary(of: result([.succeeded])) == nil)
        #expect(report.summary(of: result([.succeeded, .cancelled])) != nil)
    }

    @Test func `only a verbose report contains operations cancelled before their start`() {
        let conclusion = Conclusion(name: "a", outcome: .cancelled)
        #expect(RunReport().line(for: conclusion) == nil)
        #expect(RunReport(detail: .verbose).line(for: conclusion) == "– a  cancelled")
    }

    @Test func `the summary counts every kind of outcome`() {
        #expect(
            RunReport().summary(of: result([.succeeded, .failed(.exit(1)), .skipped("x"), .cancelled, .succeeded]))
                == "2 succeeded, 1 failed, 1 skipped, 1 cancelled in 1.50s (3.00s of processor time)")
    }

    private func result(_ outcomes: [Outcome]) -> RunResult {
        RunResult(
            conclusions: outcomes.map { Conclusion(name: "x", outcome: $0) }, recordFailure: nil,
            wallTime: .milliseconds(1500),
            processorTime: .seconds(3))
    }
}
