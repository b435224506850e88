import Operations
import WorkflowTestSupport
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

    @Test func `marks are ASCII if the report is for such a terminal`() {
        let report = RunReport(detail: .verbose, isASCII: true)
        let outcomes: [Outcome] = [.succeeded, .upToDate, .failed(.exit(1)), .skipped("x"), .cancelled]
        for outcome in outcomes {
            let line = report.line(for: Conclusion(name: "a", outcome: outcome, duration: .zero)) ?? "é"
            #expect(line.utf8.allSatisfy { $0 < 0x80 }, "\(line)")
        }
        #expect(report.line(forFamily: "f", successes: 3, time: .seconds(1)) == "ok f (3)  1.00s")
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

    @Test func `the summary counts failures that mayFail permits apart`() {
        let conclusion = Conclusion(name: "x", outcome: .failed(.exit(1)), isTolerated: true)
        let ended = RunResult(
            conclusions: [conclusion, conclusion], recordFailure: nil, wallTime: .zero, processorTime: .zero)
        let summary = RunReport().summary(of: ended)
        #expect(summary?.hasPrefix("0 succeeded, 2 failed, as mayFail permits in ") == true)
    }

    private func result(_ outcomes: [Outcome]) -> RunResult {
        RunResult(
            conclusions: outcomes.map { Conclusion(name: "x", outcome: $0) }, recordFailure: nil,
            wallTime: .milliseconds(1500),
            processorTime: .seconds(3))
    }
}
